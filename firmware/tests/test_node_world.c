/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The whole node before a gateway that judges it, through cuts, losses and calls.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "phy.h"
#include "config.h"
#include "host.h"
#include "link.h"
#include "log.h"
#include "suite.h"
#include "sunseal/sha.h"
#include "test_node.h"

int node_main(void); /* main.c, renamed by the Makefile */

#define SEEN_MAX 512
static struct world {
    bool enrolled;
    uint8_t key[SUITE_PUBLIC_BYTES];
    uint32_t last_counter;
    uint32_t challenge_id;
    bool answered;
    unsigned responses, reports, hellos, enrols, lots;
    uint8_t seen[SEEN_MAX][SUITE_SIGNATURE_BYTES / 2];
    unsigned seen_count;
    unsigned wanted; /* accepted messages after which the life ends */
    unsigned loss;   /* of 16 packets */
    bool done, halted;
    char error[128];
} *world;

static uint8_t gathered[256], gathered_bytes, reply[80], reply_bytes;

static void wrong(const char *what) {
    if (world->error[0] == '\0')
        snprintf(world->error, sizeof world->error, "%s", what);
}

static bool lost(void) {
    world->lots = world->lots * 1103515245u + 12345u;
    return (world->lots >> 16) % 16 < world->loss;
}

static void answer_with(enum link_kind kind, const uint8_t *rest, uint8_t bytes) {
    reply[0] = (uint8_t)(13 + bytes);
    reply[1] = 0x10;
    reply[2] = LINK_GATEWAY;
    reply[3] = (uint8_t)kind;
    reply[4] = reply[5] = 0;
    memcpy(reply + 6, gathered, 8);
    memcpy(reply + 14, rest, bytes);
    reply[14 + bytes] = 0;
    reply[15 + bytes] = 0x80;
    reply_bytes = (uint8_t)(16 + bytes);
}

static void judge(uint32_t reference, uint8_t code) {
    uint8_t rest[5];
    link_put32(rest, reference);
    rest[4] = code;
    answer_with(LINK_VERDICT, rest, sizeof rest);
}

static void challenge(uint8_t rest[20]) {
    link_put32(rest, world->challenge_id);
    memset(rest + 4, (int)world->challenge_id, 16);
}

/* The suite's hash over the signed bytes. */
static bool genuine(const uint8_t *key, const uint8_t *signature, const uint8_t *bytes, size_t n) {
#define VERIFIED(sha, digest_bytes, curve)                                                         \
    struct sunseal_##sha hash;                                                                     \
    uint8_t digest[digest_bytes];                                                                  \
    sunseal_##sha##_init(&hash);                                                                   \
    sunseal_##sha##_update(&hash, bytes, n);                                                       \
    sunseal_##sha##_final(&hash, digest);                                                          \
    int status = sunseal_ecdsa_##curve##_verify(key, signature, digest, sizeof digest)
#if defined(NODE_secp160r1)
    VERIFIED(sha1, SUNSEAL_SHA1_BYTES, secp160r1);
#else
    VERIFIED(sha256, SUNSEAL_SHA256_BYTES, p256);
#endif
    if (status != SUNSEAL_OK)
        return false;
    for (unsigned i = 0; i < world->seen_count; i++) {
        if (memcmp(world->seen[i], signature, SUITE_SIGNATURE_BYTES / 2) == 0)
            wrong("a nonce was used twice");
    }
    if (world->seen_count < SEEN_MAX)
        memcpy(world->seen[world->seen_count++], signature, SUITE_SIGNATURE_BYTES / 2);
    return true;
}

/* The highest number that the flash itself has burnt, read as docs/reference/node.md has it and not
 * by the node's own code. */
static uint32_t burnt(void) {
    static const enum hal_segment segments[] = {HAL_SEGMENT_C, HAL_SEGMENT_D};
    uint32_t most = 0;
    for (int s = 0; s < 2; s++) {
        const uint16_t *words = host_flash->word[segments[s]];
        if ((words[0] ^ words[2]) != 0xFFFF || (words[1] ^ words[3]) != 0xFFFF)
            continue;
        uint32_t number = (uint32_t)words[1] << 16 | words[0];
        for (uint32_t i = 4; i < HAL_SEGMENT_BYTES / 2; i++) {
            uint32_t here = ((uint32_t)words[1] << 16 | words[0]) + i - 3;
            if (words[i] != 0xFFFF && here > number)
                number = here;
        }
        if (number > most)
            most = number;
    }
    return most;
}

/* What was burnt when the latest signature began; 0 once it is spent. */
static uint32_t burnt_when_signed;

static void note_signature(bool high) {
    if (high)
        burnt_when_signed = burnt();
}

static void counted(uint32_t counter) {
    if (!world->enrolled)
        wrong("a signed message before enrolment");
    if (counter > burnt_when_signed)
        wrong("a number was signed before it was burnt");
    burnt_when_signed = 0;
    if (counter <= world->last_counter)
        wrong("a counter was used twice");
    world->last_counter = counter;
}

static void gateway_hears(enum link_kind kind) {
    uint8_t bytes[LINK_SIGNED_BYTES_MAX], rest[20];
    const uint8_t *id = gathered, *at = gathered + 8;
    uint16_t n;
    switch (kind) {
    case LINK_HELLO:
        world->hellos++;
        if (!world->enrolled) {
            judge(link_get32(at), 1);
        } else if (at[6] != 2) {
            if (world->answered) {
                world->challenge_id++;
                world->answered = false;
            }
            challenge(rest);
            answer_with(LINK_CHALLENGE, rest, sizeof rest);
        } else {
            answer_with(LINK_IDLE, rest, 0);
        }
        break;
    case LINK_ENROL:
        world->enrols++;
        if (world->enrolled && memcmp(world->key, at + 1, SUITE_PUBLIC_BYTES) != 0)
            wrong("the node changed its key after it had enrolled");
        n = link_signed_enrol(bytes, id, at[0], at + 1, SUITE_PUBLIC_BYTES);
        if (world->loss == 0 && !genuine(at + 1, at + 1 + SUITE_PUBLIC_BYTES, bytes, n))
            wrong("ENROL is not genuine");
        world->enrolled = true;
        memcpy(world->key, at + 1, SUITE_PUBLIC_BYTES);
        judge(0, 0);
        break;
    case LINK_RESPONSE:
        counted(link_get32(at + 4));
        challenge(rest);
        n = link_signed_auth(bytes, id, link_get32(at), rest + 4, link_get32(at + 4));
        if (link_get32(at) != world->challenge_id || !genuine(world->key, at + 9, bytes, n))
            wrong("RESPONSE is not genuine");
        world->answered = true;
        world->responses++;
        judge(link_get32(at + 4), 0);
        break;
    case LINK_REPORT:
        counted(link_get32(at));
        n = link_signed_report(bytes, id, link_get32(at), at + 6, at[5]);
        if (!genuine(world->key, at + 6 + at[5], bytes, n))
            wrong("REPORT is not genuine");
        world->reports++;
        judge(link_get32(at), 0);
        break;
    default:
        wrong("the node sent a kind that only the gateway sends");
    }
}

static void world_hears(const uint8_t *packet, uint8_t bytes) {
    static bool whole;
    uint8_t index = packet[5] >> 4, last = packet[5] & 15;
    if (index == 0) {
        gathered_bytes = reply_bytes = 0;
        whole = true;
    }
    whole &= !lost();
    memcpy(gathered + gathered_bytes, packet + 6, bytes - 6U);
    gathered_bytes = (uint8_t)(gathered_bytes + bytes - 6);
    if (index == last && whole)
        gateway_hears((enum link_kind)packet[3]);
}

static uint8_t world_answers(uint8_t packet[80]) {
    uint8_t bytes = lost() ? 0 : reply_bytes;
    memcpy(packet, reply, reply_bytes);
    reply_bytes = 0;
    if (world->responses + world->reports >= world->wanted && world->reports != 0) {
        world->done = true;
        longjmp(host_power_lost, 1);
    }
    return bytes;
}

static void be_a_node(void *with) {
    (void)with;
    node_main();
}

/* A life in a process of its own, whose RAM is gone afterwards; the flash and the world stay. */
static void live(uint32_t cut_at, enum host_cut how) {
    fflush(NULL);
    unsigned before = failures;
    pid_t child = fork();
    if (child == 0) {
        chip_new();
        air_sent = world_hears;
        air_next = world_answers;
        host_marked = note_signature;
        host_cut_at = cut_at;
        host_cut_how = how;
        host_halted = false;
        runs_through(be_a_node, NULL);
        world->halted = host_halted;
        if (host_halted)
            wrong(host_log);
        if (failures != before)
            wrong("the radio's driver broke a rule");
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        wrong("the node crashed");
}

static void new_world(uint32_t seed) {
    if (world == NULL)
        world =
            mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(world, 0, sizeof *world);
    world->wanted = 4;
    host_seed = seed * 2654435761u + 1;
    host_flash_new();
}

void the_node_survives_a_cut_at_every_moment(void) {
    unsigned moments = 0;
    for (uint32_t at = 0;; at += moments % HOST_CUTS == 0) {
        new_world(moments);
        live(at, (enum host_cut)(moments % HOST_CUTS));
        bool was_cut = !world->done;
        for (int lives = 0; lives < 3 && !world->done; lives++) {
            world->wanted = world->responses + world->reports + 3;
            host_seed += 12345;
            live(UINT32_MAX, HOST_CUT_AFTER);
        }
        if (!world->done)
            wrong("the node did not come back");
        check(world->error[0] == '\0', world->error);
        moments++;
        if (!was_cut || failures != 0)
            break;
    }
    check(moments > 90 * HOST_CUTS, "node: the life without a cut has too few moments");
    printf("test_node: power cut in %u ways at each of %u moments of a node's first life\n",
           HOST_CUTS, moments / HOST_CUTS);
}

void the_node_gets_through_a_lossy_air_and_a_rough_supply(void) {
    new_world(8);
    world->loss = 4;
    for (int life = 0; life < 60 && world->error[0] == '\0'; life++) {
        world->wanted = world->responses + world->reports + 4;
        host_seed += 77777;
        live(host_random() % 150, (enum host_cut)(life % HOST_CUTS));
    }
    check(world->error[0] == '\0', world->error);
    check(world->responses > 5 && world->reports > 5, "node: hardly a message got through");
}

/* Slots that stay erased are passed over, by the whole node as by its counter; without any slot
 * that holds, it stops before it signs. */
void the_node_signs_no_number_that_worn_flash_does_not_hold(void) {
    for (int first = 4; first < 30; first++) {
        new_world((uint32_t)first);
        for (int i = 0; i < 3; i++)
            host_flash->worn[HAL_SEGMENT_D][first + 2 * i] = 0xFFFF;
        for (int life = 0; life < 3; life++) {
            world->done = false;
            world->wanted = world->responses + world->reports + 4;
            host_seed += 999;
            live(UINT32_MAX, HOST_CUT_AFTER);
            check(world->done && world->error[0] == '\0', world->error);
        }
        check(world->responses > 0 && world->reports > 0,
              "node: silent on flash that is half worn");
    }
    new_world(30);
    memset(host_flash->worn[HAL_SEGMENT_C] + 4, 0xFF, 120);
    memset(host_flash->worn[HAL_SEGMENT_D] + 4, 0xFF, 120);
    live(UINT32_MAX, HOST_CUT_AFTER);
    check(world->halted, "node: it goes on without a counter");
    check(world->responses + world->reports == 0, "node: a number out of worn flash was signed");
}

/* Wake-on-radio: a gateway, or somebody else, who calls. */
enum caller { CALLS_ONCE, CALLS_ALWAYS, MAKES_NOISE, CALLS_THE_POOR };
static struct {
    enum caller who;
    unsigned calls, windows, hellos, asked, lows;
} calling;

static uint8_t somebody_calls(uint8_t packet[80], uint16_t timeout_ms, bool *wakes) {
    if (calling.hellos != world->hellos) {
        calling.hellos = world->hellos;
        calling.calls = 0;
    }
    calling.windows++;
    if (world->hellos >= 4 || calling.windows > 5000) { /* periods enough */
        world->done = true;
        longjmp(host_power_lost, 1);
    }
    if (calling.who == MAKES_NOISE) {
        *wakes = true;
        calling.calls++;
        if (calling.calls > 4 * 16)
            wrong("noise wakes the node without end");
        return 0;
    }
    if (calling.who == CALLS_ONCE && calling.calls != 0) {
        host_time_s += timeout_ms / 1000u;
        return 0;
    }
    *wakes = true;
    calling.calls++;
    calling.asked++;
    world->answered = false;
    uint8_t rest[22];
    world->challenge_id++;
    challenge(rest);
    rest[20] = 0;
    rest[21] = 250;
    answer_with(LINK_WAKE, rest, sizeof rest);
    memcpy(packet, reply, reply_bytes);
    uint8_t bytes = reply_bytes;
    reply_bytes = 0;
    if (calling.who == CALLS_THE_POOR)
        host_storage_mv = 1930; /* a message, and no signature */
    return bytes;
}

/* The store fills again once the node has said that it is low, which it does without listening. */
static void world_hears_the_poor(const uint8_t *packet, uint8_t bytes) {
    world_hears(packet, bytes);
    if (packet[3] != LINK_HELLO)
        return;
    uint8_t reason = packet[20];
    if (packet[0] != (reason == 2 ? 20 : 22) || (reason & 0x80) != (reason == 2 ? 0 : 0x80))
        wrong("HELLO tells otherwise how the node listens");
    if (reason == 2) {
        calling.lows++;
        host_storage_mv = 4000;
    }
}

/* A life of four periods, enrolled from the first; `who` calls. */
static void live_and_be_called(enum caller who) {
    uint8_t *block = own_block();
    new_world(99);
    memset(&calling, 0, sizeof calling);
    calling.who = who;
    world->wanted = UINT32_MAX;
    block[17] = NODE_ASYNCHRONOUS;
    block[64] = 1000 & 0xFF;
    block[65] = 1000 >> 8;
    chip_new();
    air_sent = world_hears_the_poor;
    air_next = world_answers;
    air_calls = somebody_calls;
    host_marked = note_signature;
    host_halted = false;
    uint16_t full_mv = host_storage_mv;
    runs_through(be_a_node, NULL);
    host_storage_mv = full_mv;
    host_marked = NULL;
    block[17] = NODE_BOTH;
    block[64] = block[65] = 0;
    check(world->error[0] == '\0', world->error);
    check(world->done && !host_halted, "node: it does not come to its fourth HELLO");
}

void a_node_that_listens_answers_when_it_is_called(void) {
    live_and_be_called(CALLS_ONCE);
    /* The node answers each of four HELLOs' challenges, and a call behind each of the first three.
     */
    check(calling.asked == 3 && world->responses == 4 + 3, "node: a call is not answered");
    live_and_be_called(CALLS_THE_POOR);
    /* Called each time it listens, it answers none, says so, and goes on when it can. */
    check(calling.asked >= 2 && calling.lows == calling.asked &&
              world->responses + calling.lows == world->hellos,
          "node: it answers below its gate");
}

void who_wakes_a_node_without_end_costs_it_a_bounded_number_of_signatures(void) {
    live_and_be_called(CALLS_ALWAYS);
    check(calling.asked == 3 * 4 && world->responses <= 3 * 4 + 4, "node: woken to death");
    live_and_be_called(MAKES_NOISE);
    check(calling.windows == 3 * 64 + 1, "node: noise costs more than its share");
}
