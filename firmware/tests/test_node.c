/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The node's parts, and the whole node, on this machine: firmware/hal/host is the hardware, a fake
 * CC2500 and a fake gateway are the air. Exit status 0 if every check agrees.
 */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "phy.h"
#include "config.h"
#include "counter.h"
#include "crc16.h"
#include "entropy.h"
#include "gate.h"
#include "host.h"
#include "key.h"
#include "link.h"
#include "log.h"
#include "radio.h"
#include "suite.h"
#include "sunseal/sha.h"

int node_main(void); /* main.c, renamed by the Makefile */

static unsigned passed, failures;

static void check(bool good, const char *what) {
    if (good) {
        passed++;
        return;
    }
    failures++;
    if (failures < 20)
        fprintf(stderr, "test_node: %s\n", what);
}

/* Runs until its end, or until the power goes or the node stops; whether it ended. */
static bool runs_through(void (*work)(void *), void *with) {
    if (setjmp(host_power_lost) != 0)
        return false;
    work(with);
    return true;
}

/* Counter */

struct history {
    uint32_t last_used; /* the last number that the program got before a cut */
    uint32_t starts;    /* since then */
    int burns;          /* wanted in this life */
};

static void count(void *with) {
    struct history *h = with;
    if (!counter_open()) {
        check(counter_unused(), "counter: the log is lost");
        counter_create();
    }
    for (int i = 0; i < h->burns; i++) {
        uint32_t number = counter_burn();
        check(number > h->last_used, "counter: a number was given twice");
        /* Each start wastes one number, each cut at most one more. */
        check(number - h->last_used <= 1 + 2 * h->starts, "counter: numbers were lost");
        check(number == counter_now(), "counter: counter_now is not the last number");
        h->last_used = number;
        h->starts = 0;
    }
}

/* One life: opens the log, burns `burns` numbers. False if it was cut. */
static bool count_for_a_life(struct history *h, int burns) {
    host_power_on();
    h->starts++;
    h->burns = burns;
    bool whole = runs_through(count, h);
    host_cut_at = UINT32_MAX;
    return whole;
}

/* Cuts at every operation of a life that crosses from segment to segment, in every way, and again
 * in the life after it. */
static void counter_survives_every_cut(void) {
    for (int before = 0; before < 124; before += before % 60 < 50 ? 10 : 1) {
        for (int how = 0; how < HOST_CUTS * HOST_CUTS; how++) {
            for (uint32_t at = 0; at < 24; at++) {
                struct history h = {0, 0, 0};
                host_seed = at * 977 + (uint32_t)how * 31 + (uint32_t)before + 1;
                host_flash_new();
                count_for_a_life(&h, before);
                host_cut_at = at;
                host_cut_how = (enum host_cut)(how % HOST_CUTS);
                count_for_a_life(&h, 16);
                host_cut_how = (enum host_cut)(how / HOST_CUTS);
                host_cut_at = host_cut_how == HOST_CUT_AFTER ? UINT32_MAX : at % 8;
                count_for_a_life(&h, 16);
                for (int life = 0; life < 4; life++)
                    check(count_for_a_life(&h, 1), "counter: a life without a cut ended early");
            }
        }
    }
}

static void counter_survives_a_long_rough_life(void) {
    struct history h = {0, 0, 0};
    host_flash_new();
    host_seed = 4711;
    for (int life = 0; life < 20000; life++) {
        host_cut_at = host_random() % 40;
        host_cut_how = (enum host_cut)(host_random() % HOST_CUTS);
        count_for_a_life(&h, (int)(host_random() % 40));
    }
    check(h.last_used > 100000, "counter: it stands still");
}

static void count_to_the_end(void *with) {
    (void)with;
    uint32_t base = COUNTER_MAX - 3;
    hal_flash_write(HAL_SEGMENT_D, 0, (uint16_t)base);
    hal_flash_write(HAL_SEGMENT_D, 1, (uint16_t)(base >> 16));
    hal_flash_write(HAL_SEGMENT_D, 2, (uint16_t)~base);
    hal_flash_write(HAL_SEGMENT_D, 3, (uint16_t)(~base >> 16));
    check(counter_open(), "counter: it does not open near its end");
    check(counter_burn() == COUNTER_MAX - 1, "counter: last but one");
    check(counter_burn() == COUNTER_MAX, "counter: the last number");
    check(counter_burn() == 0 && counter_burn() == 0, "counter: it goes on after its end");
}

/* With the heads gone, the slots still tell that numbers were given. */
static void a_counter_whose_heads_are_lost_is_not_begun_again(void) {
    for (int burns = 1; burns < 130; burns += 32) {
        struct history h = {0, 0, 0};
        host_flash_new();
        count_for_a_life(&h, burns);
        host_flash->word[HAL_SEGMENT_D][2] ^= 1;
        if (burns > 64)
            host_flash->word[HAL_SEGMENT_C][3] ^= 0x8000; /* before, it is erased */
        check(!counter_open(), "counter: it opens without a head");
        check(!counter_unused(), "counter: used flash passes for a new device's");
    }
}

static void counter_ends_in_silence(void) {
    host_flash_new();
    host_power_on();
    check(runs_through(count_to_the_end, NULL), "counter: cut without a cut");
}

/* Words that stay erased, and a base that does not hold: numbers are passed over, or there are
 * none, but none comes twice. */
static void counter_gives_no_number_that_worn_flash_forgets(void) {
    struct history h = {0, 0, 0};
    host_flash_new();
    for (int i = 10; i < 14; i++)
        host_flash->worn[HAL_SEGMENT_D][i] = 0xFFFF;
    for (int life = 0; life < 20; life++) {
        h.starts = 8; /* numbers are lost, as they may be */
        check(count_for_a_life(&h, 1), "counter: a worn word ends a life");
    }
    host_flash_new();
    h = (struct history){0, 0, 0};
    host_flash->worn[HAL_SEGMENT_C][0] = 0xFFFF;
    count_for_a_life(&h, 58);
    check(h.last_used == 60 - 1, "counter: the first segment is not used up");
    for (int life = 0; life < 3; life++) {
        host_power_on();
        check(counter_open() && counter_burn() == 0, "counter: a number out of a lost segment");
    }
    host_flash_new();
    memset(host_flash->worn[HAL_SEGMENT_C] + 4, 0xFF, 120);
    memset(host_flash->worn[HAL_SEGMENT_D] + 4, 0xFF, 120);
    counter_create();
    check(counter_burn() == 0, "counter: a number out of worn flash");
}

/* Configuration */

/* The block as a programmer writes over it. */
static uint8_t *own_block(void) {
    uint8_t *block = (uint8_t *)(uintptr_t)&node_config;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)block & ~(page - 1);
    check(mprotect((void *)start, (uintptr_t)block + sizeof node_config - start,
                   PROT_READ | PROT_WRITE) == 0,
          "config: the block cannot be changed");
    return block;
}

/* The block with some bytes of it changed: what config_load says. */
static const char *told_of(size_t offset, uint32_t value) {
    struct node_config config;
    uint32_t before;
    uint8_t *block = own_block();
    memcpy(&before, block + offset, sizeof before);
    memcpy(block + offset, &value, sizeof value);
    const char *told = config_load(&config);
    memcpy(block + offset, &before, sizeof before);
    return told;
}

static void a_configuration_that_would_overflow_is_refused(void) {
    static const struct {
        size_t offset;
        uint32_t most;
        const char *told;
    } limits[] = {
        {24, NODE_PERIOD_S_MAX, "period_s is out of range"},
        {40, NODE_ENERGY_UJ_MAX, "keygen_uj is out of range"},
        {44, NODE_ENERGY_UJ_MAX, "sign_uj is out of range"},
        {48, NODE_ENERGY_UJ_MAX, "radio_uj is out of range"},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        check(told_of(limits[i].offset, limits[i].most) == NULL, "config: the most is refused");
        const char *over = told_of(limits[i].offset, limits[i].most + 1);
        check(over != NULL && strcmp(over, limits[i].told) == 0, limits[i].told);
    }
    /* listen_ms, and wakes_max behind it. */
    check(told_of(64, 50 | 4u << 16) == NULL && told_of(64, 60000 | 4u << 16) == NULL &&
              told_of(64, 4u << 16) == NULL,
          "config: a listening interval is refused");
    const char *seldom = told_of(64, 60001), *often = told_of(64, 49);
    check(seldom != NULL && often != NULL && strcmp(seldom, "listen_ms is out of range") == 0,
          "config: a listening interval beyond the radio");
    /* What become_enrolled asks of the gate at most. */
    check((uint64_t)NODE_ENERGY_UJ_MAX + 255 * (uint64_t)NODE_ENERGY_UJ_MAX <= UINT32_MAX,
          "config: the limits do not keep the sum in 32 bits");
}

/* Key */

static void make_a_key_if_none(void *with) {
    (void)with;
    if (key_open() == KEY_NONE)
        key_generate();
}

/* Two lives that are cut, then twenty that look only. */
static void a_key_is_whole_or_not_there(void) {
    static const uint32_t again[] = {0, 1, 2, 30, 52, 53, UINT32_MAX};
    for (uint32_t at = 0; at < 60 * HOST_CUTS; at++) {
        for (uint32_t second = 0; second < 7 * HOST_CUTS; second++) {
            host_flash_new();
            host_seed = at * 7919 + second + 1;
            host_power_on();
            host_cut_at = at / HOST_CUTS;
            host_cut_how = (enum host_cut)(at % HOST_CUTS);
            runs_through(make_a_key_if_none, NULL);
            host_power_on();
            host_cut_at = again[second / HOST_CUTS];
            host_cut_how = (enum host_cut)(second % HOST_CUTS);
            runs_through(make_a_key_if_none, NULL);
            host_cut_at = UINT32_MAX;
            uint8_t d[SUITE_PRIVATE_BYTES] = {0};
            bool there = false;
            for (int life = 0; life < 20; life++) {
                host_power_on();
                enum key_state state = key_open();
                check(state != KEY_DAMAGED, "key: a cut left half a key");
                check(!key_enrolled(), "key: enrolled without enrolment");
                check(state == KEY_READY || !there, "key: it was there and is gone");
                check(!there || memcmp(d, key_private(), sizeof d) == 0, "key: it has changed");
                there = state == KEY_READY;
                memcpy(d, key_private(), sizeof d);
            }
        }
    }
}

/* Gate */

static void gate_agrees_with_the_formula(void) {
    host_seed = 5;
    for (int i = 0; i < 100000; i++) {
        uint32_t uf = host_random() >> host_random() % 32;
        uint16_t v = (uint16_t)host_random(), cut = (uint16_t)host_random();
        double joules = 0.5 * uf * ((double)v * v - (double)cut * cut) * 1e-6;
        uint32_t stored = gate_stored_uj(uf, v, cut);
        double expect = v <= cut ? 0 : joules > UINT32_MAX ? UINT32_MAX : joules;
        check(fabs(stored - expect) <= 1.0, "gate: 1/2 C (V^2 - Vcut^2)");
        uint32_t energy = host_random() >> host_random() % 32, overhead = host_random() >> 8;
        uint16_t margin = (uint16_t)host_random();
        double wanted = (double)energy * margin / 100 + overhead;
        wanted = wanted > UINT32_MAX ? UINT32_MAX : wanted;
        check(fabs(gate_wanted_uj(energy, margin, overhead) - wanted) <= 1.0, "gate: wanted");
    }
    /* Mane 2014, equation 6.1: V = sqrt(2 (125 + 2 E) / C) in mJ and mF, here with Vcut = 0. */
    uint32_t wanted = gate_wanted_uj(2000, 200, 125000);
    check(wanted == 129000, "gate: equation 6.1");
    check(gate_stored_uj(100000, 1606, 0) < wanted, "gate: below 1.607 V");
    check(gate_stored_uj(100000, 1607, 0) >= wanted, "gate: at 1.607 V");
}

/* Entropy */

/* P(X >= least) for X of binomial(n, p). */
static double binomial_tail(int n, double p, int least) {
    double sum = 0;
    for (int k = least; k <= n; k++)
        sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
                   (n - k) * log(1 - p));
    return sum;
}

static int samples_until_failure(uint8_t (*sample)(int), int limit) {
    struct entropy_health health;
    entropy_health_start(&health);
    for (int i = 0; i < limit; i++) {
        if (!entropy_health_sample(&health, sample(i)))
            return i + 1;
    }
    return 0;
}

static uint8_t stuck(int i) {
    (void)i;
    return 0;
}
static uint8_t forty(int i) {
    return (uint8_t)(i / 40);
}
static uint8_t biased(int i) { /* 4 of 5 alike, never 41 in a row */
    return (uint8_t)(i % 5 == 4);
}
static uint8_t fair(int i) {
    (void)i;
    return (uint8_t)(host_random() >> 9);
}
/* 409 of the first 512 alike, then anything. */
static uint8_t just_healthy(int i) {
    return i < 512 && (i % 5 != 4 && i < 511) ? 7 : (uint8_t)(100 + i % 50);
}

static void dead_source(uint8_t *samples, uint16_t count) {
    memset(samples, 0x55, count);
}

static void entropy_tests_itself(void) {
    /* SP 800-90B 4.4.1 and 4.4.2 with H = 1/2 and alpha = 2^-20. */
    double p = pow(2, -0.5), alpha = pow(2, -20);
    check(1 + ceil(20 / 0.5) == 41, "entropy: repetition cut-off");
    check(binomial_tail(512, p, 410) <= alpha, "entropy: proportion cut-off too low");
    check(binomial_tail(512, p, 409) > alpha, "entropy: proportion cut-off too high");
    check(samples_until_failure(stuck, 1000) == 41, "entropy: 41 alike");
    check(samples_until_failure(forty, 500) == 0, "entropy: 40 alike are let pass");
    int at = samples_until_failure(biased, 2000);
    check(at == 512, "entropy: 410 of 512 alike");
    check(samples_until_failure(just_healthy, 512) == 0, "entropy: 409 of 512 alike");
    host_seed = 99;
    check(samples_until_failure(fair, 1000000) == 0, "entropy: a fair source fails");
    uint8_t out[ENTROPY_BYTES], zero[ENTROPY_BYTES] = {0}, again[ENTROPY_BYTES];
    host_samples = dead_source;
    memset(out, 1, sizeof out);
    check(!entropy_take(out, 128) && memcmp(out, zero, sizeof out) == 0,
          "entropy: a dead source gives something");
    host_samples = NULL;
    check(entropy_take(out, 128) && entropy_take(again, 128), "entropy: a fair source is refused");
    check(memcmp(out, again, sizeof out) != 0, "entropy: twice the same");
}

static void a_key_that_worn_flash_does_not_hold_is_refused(void) {
    host_flash_new();
    host_power_on();
    for (size_t word = 0; word <= offsetof(struct node_key, crc) / 2; word += 10) {
        host_flash->worn[HAL_SEGMENT_B][word] = 0xFFFF;
        check(!key_generate(), "key: worn flash is not noticed");
        host_flash->worn[HAL_SEGMENT_B][word] = 0;
    }
    check(key_generate() && key_open() == KEY_READY, "key: sound flash is refused");
}

static void a_key_of_an_unhealthy_source_is_refused(void) {
    host_flash_new();
    host_power_on();
    host_samples = dead_source;
    runs_through(make_a_key_if_none, NULL);
    check(key_open() == KEY_NONE, "key: made without entropy");
    host_samples = NULL;
}

/* A CC2500 as far as the driver uses it */

enum chip_state { CHIP_SLEEP, CHIP_IDLE, CHIP_RX, CHIP_TX, CHIP_WOR };
static struct chip {
    bool dead, stuck, glitch;
    enum chip_state state;
    uint8_t reg[0x40], at_swor[0x40];
    uint8_t patable;
    uint8_t header;
    bool selected, first, wor_asked;
    uint8_t at;
    uint8_t tx[64], rx[80];
    uint8_t tx_bytes, rx_bytes, rx_taken;
    bool overflow;
    unsigned selects, bytes, resets;
} chip;

/* What is on the air: the test's own. Bytes of the next packet for the node, with its status bytes.
 */
static uint8_t (*air_next)(uint8_t packet[80]);
static void (*air_sent)(const uint8_t *packet, uint8_t bytes);
/* The same for a node that listens by wake-on-radio; *wakes: something comes, good or not. */
static uint8_t (*air_calls)(uint8_t packet[80], uint16_t timeout_ms, bool *wakes);

static bool chip_select(void) {
    chip.selects++;
    if (chip.dead)
        return false;
    chip.selected = chip.first = true;
    if (chip.state == CHIP_SLEEP || chip.state == CHIP_WOR)
        chip.state = CHIP_IDLE;
    return true;
}

static void chip_deselect(void) {
    chip.selected = false;
    if (chip.wor_asked)
        chip.state = CHIP_WOR;
    chip.wor_asked = false;
}

static void chip_strobe(uint8_t command) {
    switch (command) {
    case 0x30:
        memset(chip.reg, 0, sizeof chip.reg);
        chip.resets++;
        chip.state = CHIP_IDLE;
        break;
    case 0x34:
        check(chip.rx_bytes == chip.rx_taken, "cc2500: RX with bytes in the FIFO");
        chip.state = CHIP_RX;
        break;
    case 0x35:
        chip.state = CHIP_TX;
        break;
    case 0x36:
        chip.state = CHIP_IDLE;
        break;
    case 0x38:
        check(chip.state == CHIP_IDLE && (chip.reg[0x20] & 0x80) == 0, "cc2500: SWOR");
        check(chip.rx_bytes == chip.rx_taken, "cc2500: SWOR with bytes in the FIFO");
        memcpy(chip.at_swor, chip.reg, sizeof chip.reg);
        chip.wor_asked = true;
        break;
    case 0x39:
        check(chip.state == CHIP_IDLE, "cc2500: SPWD outside IDLE");
        chip.state = CHIP_SLEEP;
        break;
    case 0x3A:
        check(chip.state == CHIP_IDLE, "cc2500: SFRX outside IDLE");
        chip.rx_bytes = chip.rx_taken = 0;
        chip.overflow = false;
        break;
    case 0x3B:
        check(chip.state == CHIP_IDLE, "cc2500: SFTX outside IDLE");
        chip.tx_bytes = 0;
        break;
    default:
        check(command == 0x3D, "cc2500: a strobe that the driver should not know");
    }
}

static uint8_t chip_byte(uint8_t out) {
    check(chip.selected, "cc2500: a byte without chip select");
    chip.bytes++;
    static const uint8_t states[] = {0x00, 0x00, 0x10, 0x20, 0x00};
    uint8_t status = states[chip.state];
    uint8_t address = chip.header & 0x3F;
    if (chip.first) {
        chip.first = false;
        chip.header = out;
        address = out & 0x3F;
        chip.at = address;
        if (address >= 0x30 && address <= 0x3D && (out & 0x40) == 0)
            chip_strobe(address);
        return status;
    }
    if (address == 0x3F) {
        if (chip.header & 0x80)
            return chip.rx_taken < chip.rx_bytes ? chip.rx[chip.rx_taken++] : 0;
        check(chip.tx_bytes < 64, "cc2500: the TX FIFO overflows");
        if (chip.tx_bytes < 64)
            chip.tx[chip.tx_bytes++] = out;
        return status;
    }
    if (address == 0x3E) {
        chip.patable = out;
        return status;
    }
    if (address >= 0x30) { /* status register */
        check(chip.header == (0xC0 | 0x3B), "cc2500: an unknown status register");
        uint8_t waiting = (uint8_t)((chip.rx_bytes - chip.rx_taken) | (chip.overflow ? 0x80 : 0));
        if (chip.glitch) {
            chip.glitch = false;
            return waiting ^ 0x05;
        }
        return waiting;
    }
    check((chip.header & 0x80) == 0 && chip.at < 0x2F, "cc2500: an unknown register");
    if (chip.at < 0x2F)
        chip.reg[chip.at++] = out;
    return status;
}

static bool chip_wait(uint16_t timeout_ms) {
    if (chip.stuck)
        return false;
    if (chip.state == CHIP_TX) {
        check(chip.tx_bytes == chip.tx[0] + 1, "cc2500: length byte and FIFO disagree");
        if (air_sent != NULL)
            air_sent(chip.tx, chip.tx_bytes);
        chip.tx_bytes = 0;
        chip.state = (chip.reg[0x17] & 3) == 3 ? CHIP_RX : CHIP_IDLE;
        return true;
    }
    bool listens = chip.state == CHIP_WOR, wakes = false;
    check(listens || chip.state == CHIP_RX, "cc2500: waits for a packet without listening");
    uint8_t bytes = 0;
    if (listens)
        bytes = air_calls == NULL ? 0 : air_calls(chip.rx, timeout_ms, &wakes);
    else if (air_next != NULL)
        bytes = air_next(chip.rx);
    if (bytes == 0 && !wakes)
        return false;
    chip.rx_bytes = bytes;
    chip.rx_taken = 0;
    chip.state = CHIP_IDLE;
    return true;
}

static void chip_new(void) {
    memset(&chip, 0, sizeof chip);
    chip.state = CHIP_IDLE;
    host_chip = (struct host_chip){chip_select, chip_byte, chip_deselect, chip_wait};
    air_next = NULL;
    air_calls = NULL;
    air_sent = NULL;
    host_power_on();
}

/* Packets for the driver, one after the other: what is wrong with each. */
enum packet { GOOD, BAD_CRC, TOO_LONG, TWO_AT_ONCE, OVERFLOWN, GLITCHED, NONE };
static enum packet script[8];
static int script_at;
static uint8_t script_body;

static uint8_t scripted(uint8_t packet[80]) {
    enum packet what = script[script_at++];
    uint8_t length = what == TOO_LONG ? 62 : 13;
    packet[0] = length;
    memset(packet + 1, ++script_body, length);
    packet[1 + length] = 0x20;
    packet[2 + length] = what == BAD_CRC ? 0x30 : 0xB0;
    chip.overflow = what == OVERFLOWN;
    chip.glitch = what == GLITCHED;
    if (what == NONE)
        return 0;
    return (uint8_t)(length + 3 + (what == TWO_AT_ONCE ? 4 : 0));
}

static uint8_t sent[8][64];
static int sent_count;
static void note_sent(const uint8_t *packet, uint8_t bytes) {
    memcpy(sent[sent_count++ % 8], packet, bytes);
}

static uint8_t receive_from(const enum packet *packets, int count, uint8_t *frame) {
    static const uint8_t hello[] = {6, 1, 0x10, 1, 0, 0, 9};
    for (int i = 0; i < 8; i++)
        script[i] = i < count ? packets[i] : NONE;
    script_at = 0;
    script_body = 0;
    air_next = scripted;
    check(phy_wake() && phy_send(hello, sizeof hello, true), "cc2500: it does not send");
    return phy_receive(frame, LINK_FRAME_BYTES, 10);
}

static void radio_driver_keeps_to_the_datasheet(void) {
    uint8_t frame[LINK_FRAME_BYTES], packet[LINK_PACKET_BYTES];
    chip_new();
    check(phy_start(7, 0xFE) && chip.state == CHIP_SLEEP && chip.resets == 1, "cc2500: start");
    /* SWRS040: PKTLEN, CRC and variable length, CHANNR, and what GDO0 tells. */
    check(chip.reg[0x06] == LINK_FRAME_BYTES && (chip.reg[0x08] & 0x07) == 0x05 &&
              chip.reg[0x0A] == 7 && chip.reg[0x02] == 0x06 && chip.patable == 0xFE,
          "cc2500: configuration");
    /* Data rate (256 + DRATE_M) 2^DRATE_E / 2^28 x 26 MHz within 0.1 % of 250 kBd. */
    double rate = (256 + chip.reg[0x11]) * pow(2, chip.reg[0x10] & 15) / pow(2, 28) * 26e6;
    check(fabs(rate / 250e3 - 1) < 1e-3, "cc2500: data rate");
    double carrier = (chip.reg[0x0D] << 16 | chip.reg[0x0E] << 8 | chip.reg[0x0F]) * 26e6 / 65536;
    check(carrier > 2400e6 && carrier < 2483.5e6, "cc2500: carrier outside the band");

    air_sent = note_sent;
    sent_count = 0;
    for (uint8_t i = 0; i < sizeof packet; i++)
        packet[i] = (uint8_t)(LINK_FRAME_BYTES + i);
    check(phy_wake() && phy_send(packet, sizeof packet, false), "cc2500: send");
    check(chip.state == CHIP_IDLE && sent_count == 1 && memcmp(sent[0], packet, 62) == 0,
          "cc2500: the packet changed on its way");
    check(phy_send(packet, sizeof packet, true) && chip.state == CHIP_RX, "cc2500: then listen");

    const enum packet good[] = {GOOD}, late[] = {BAD_CRC, TOO_LONG, GOOD}, two[] = {TWO_AT_ONCE};
    const enum packet bad[] = {BAD_CRC, BAD_CRC, BAD_CRC, BAD_CRC, GOOD};
    const enum packet over[] = {OVERFLOWN, GOOD}, glitch[] = {GLITCHED};
    check(receive_from(good, 1, frame) == 13 && frame[0] == 1 && frame[12] == 1, "cc2500: good");
    check(receive_from(late, 3, frame) == 13 && frame[0] == 3, "cc2500: good after two bad");
    check(receive_from(bad, 5, frame) == 0, "cc2500: noise holds it");
    check(receive_from(over, 2, frame) == 13 && frame[0] == 2, "cc2500: good after an overflow");
    check(receive_from(two, 1, frame) == 0, "cc2500: leftovers are taken for a packet");
    check(receive_from(glitch, 1, frame) == 13, "cc2500: RXBYTES read while it changed");
    check(receive_from(NULL, 0, frame) == 0, "cc2500: something out of nothing");
    phy_sleep();
    check(chip.state == CHIP_SLEEP, "cc2500: sleep");

    chip.stuck = true;
    check(phy_wake() && !phy_send(packet, sizeof packet, true) && chip.state == CHIP_IDLE,
          "cc2500: a packet that does not leave");
    chip_new();
    chip.dead = true;
    check(!phy_start(0, 0) && !phy_wake() && chip.selects < 300, "cc2500: a dead chip");
    /* One that dies in the middle: 10 ms of waiting for each try to select it. */
    chip.selects = 0;
    check(!phy_send(packet, sizeof packet, true), "cc2500: a dead chip sends");
    phy_sleep();
    check(chip.selects <= 8, "cc2500: a dead chip is asked for long");
}

/* Frames that wake, one after the other, until the script ends. */
static uint8_t scripted_call(uint8_t packet[80], uint16_t timeout_ms, bool *wakes) {
    (void)timeout_ms;
    *wakes = script[script_at] != NONE;
    return *wakes ? scripted(packet) : 0;
}

/* From look to look, and of each look the length, as the registers have it (SWRS061I, pages 80,
 * 88). */
static void looks(double *every_ms, double *look_ms) {
    double event0 = chip.reg[0x1E] << 8 | chip.reg[0x1F];
    unsigned res = chip.reg[0x20] & 3, rx_time = chip.reg[0x16] & 7;
    static const double factor_us[] = {3.6058, 18.0288};
    check(res < 2 && rx_time < (res == 0 ? 7 : 4), "cc2500: a setting without duty cycle");
    *every_ms = event0 * pow(2, 5 * res) * 750 / 26e3;
    *look_ms = event0 * factor_us[res] / (1 << rx_time) / 1e3;
}

static void the_driver_listens_as_often_as_it_is_told(void) {
    uint8_t frame[LINK_FRAME_BYTES], bytes;
    for (uint32_t every_ms = 50; every_ms <= 60000; every_ms += every_ms / 7) {
        double often_ms, look_ms;
        chip_new();
        air_calls = scripted_call;
        script[0] = NONE;
        script_at = 0;
        check(phy_start(7, 0xFE) && phy_wake(), "cc2500: start");
        chip.stuck = true; /* so that the registers stand as the look has them */
        check(!phy_listen(0x2A, (uint16_t)every_ms, 1000, frame, sizeof frame, &bytes) &&
                  bytes == 0,
              "cc2500: woken by nothing");
        check(chip.reg[0x16] == 0x07 && chip.reg[0x07] == 0x04 && chip.reg[0x20] == 0xF8 &&
                  chip.reg[0x0A] == 7 && chip.patable == 0xFE,
              "cc2500: wake-on-radio leaves something behind");
        chip.dead = false;
        phy_listen(0x2A, (uint16_t)every_ms, 1000, frame, sizeof frame, &bytes);
        memcpy(chip.reg, chip.at_swor, sizeof chip.reg);
        looks(&often_ms, &look_ms);
        check(fabs(often_ms / every_ms - 1) < 1e-3, "cc2500: listens at another interval");
        /* A WAKE and its preamble, and what must be heard of the next one. */
        check(look_ms > 1.536 + 0.160, "cc2500: a look may miss a train");
        check(look_ms < 3.8 || look_ms < 0.005 * every_ms, "cc2500: a look lasts too long");
        check(often_ms - look_ms > 11.2, "cc2500: too little sleep for the RC oscillator");
        check((chip.reg[0x07] & 3) == 2 && chip.reg[0x09] == 0x2A, "cc2500: address check");
    }
    chip_new();
    air_calls = scripted_call;
    const enum packet calls[] = {GOOD, BAD_CRC, TWO_AT_ONCE, OVERFLOWN};
    memcpy(script, calls, sizeof calls);
    script[4] = NONE;
    script_at = script_body = 0;
    check(phy_start(0, 0xFF), "cc2500: start");
    for (int i = 0; i < 5; i++) {
        check(phy_wake(), "cc2500: wake");
        bool woken = phy_listen(0x10, 1000, 1000, frame, sizeof frame, &bytes);
        check(woken == (i < 4) && bytes == (i == 0 ? 13 : 0), "cc2500: what wakes, and brings");
        phy_sleep();
    }
}

static struct node_config test_config(void) {
    struct node_config config;
    check(config_load(&config) == NULL, "config: the built-in block is not sound");
    return config;
}

static uint8_t stranger_then_verdict(uint8_t packet[80]) {
    static const uint8_t id[] = {'S', 'u', 'n', 's', 'e', 'a', 'l', 1};
    uint8_t frame[18] = {0x10, 1, LINK_VERDICT, 5, 0};
    memcpy(frame + 5, id, 8);
    link_put32(frame + 13, 77);
    if (script_at++ == 0)
        frame[12] ^= 1; /* another node */
    packet[0] = sizeof frame;
    memcpy(packet + 1, frame, sizeof frame);
    packet[19] = 0;
    packet[20] = 0x80;
    return 21;
}

static void messages_go_out_in_frames_and_one_answer_is_ours(void) {
    struct node_config config = test_config();
    struct link_message answer;
    uint8_t body[LINK_BODY_BYTES_MAX];
    for (uint8_t i = 0; i < sizeof body; i++)
        body[i] = i;
    chip_new();
    air_sent = note_sent;
    air_next = stranger_then_verdict;
    script_at = sent_count = 0;
    radio_start(&config);
    radio_first_sequence(255);
    check(radio_exchange(LINK_ENROL, body, sizeof body, 1U << LINK_VERDICT, &answer) &&
              answer.reference == 77 && answer.verdict == 0,
          "radio: the verdict");
    check(sent_count == 3 && chip.state == CHIP_SLEEP, "radio: three frames, then sleep");
    for (uint8_t i = 0; i < 3; i++) {
        const uint8_t *p = sent[i];
        check(p[1] == 1 && p[2] == 0x10 && p[3] == LINK_ENROL && p[4] == 0 &&
                  p[5] == (i << 4 | 2) && memcmp(p + 6, body + 56 * i, p[0] - 5U) == 0,
              "radio: a frame");
    }
    script_at = 1;
    check(!radio_exchange(LINK_HELLO, body, 15, 1U << LINK_IDLE, &answer), "radio: wrong kind");
    chip.dead = true;
    check(!radio_exchange(LINK_HELLO, body, 15, 1U << LINK_IDLE, &answer), "radio: dead chip");
    chip.dead = false;
    script_at = 1;
    check(radio_exchange(LINK_HELLO, body, 15, 1U << LINK_VERDICT, &answer) && chip.resets == 2,
          "radio: not configured anew after it came back");
}

/* The whole node */

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
#if defined(NODE_secp160r1)
    struct sunseal_sha1 hash;
    uint8_t digest[SUNSEAL_SHA1_BYTES];
    sunseal_sha1_init(&hash);
    sunseal_sha1_update(&hash, bytes, n);
    sunseal_sha1_final(&hash, digest);
    int status = sunseal_ecdsa_secp160r1_verify(key, signature, digest, sizeof digest);
#else
    struct sunseal_sha256 hash;
    uint8_t digest[SUNSEAL_SHA256_BYTES];
    sunseal_sha256_init(&hash);
    sunseal_sha256_update(&hash, bytes, n);
    sunseal_sha256_final(&hash, digest);
    int status = sunseal_ecdsa_p256_verify(key, signature, digest, sizeof digest);
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

static void the_node_survives_a_cut_at_every_moment(void) {
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

static void the_node_gets_through_a_lossy_air_and_a_rough_supply(void) {
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
static void the_node_signs_no_number_that_worn_flash_does_not_hold(void) {
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

static void a_node_that_listens_answers_when_it_is_called(void) {
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

static void who_wakes_a_node_without_end_costs_it_a_bounded_number_of_signatures(void) {
    live_and_be_called(CALLS_ALWAYS);
    check(calling.asked == 3 * 4 && world->responses <= 3 * 4 + 4, "node: woken to death");
    live_and_be_called(MAKES_NOISE);
    check(calling.windows == 3 * 64 + 1, "node: noise costs more than its share");
}

static void a_crc_is_what_python_computes(void) {
    /* binascii.crc_hqx(b"123456789", 0xFFFF) */
    check(crc16((const uint8_t *)"123456789", 9) == 0x29B1, "crc16: its check value");
    check(crc16((const uint8_t *)"", 0) == 0xFFFF, "crc16: nothing");
}

static void the_log_writes_numbers(void) {
    host_log[0] = '\0';
    log_word("x");
    log_value("a", 0);
    log_value("b", 4294967295u);
    log_end();
    check(strcmp(host_log, "x a=0 b=4294967295\n") == 0, "log");
}

int main(void) {
    counter_survives_every_cut();
    counter_survives_a_long_rough_life();
    counter_ends_in_silence();
    a_counter_whose_heads_are_lost_is_not_begun_again();
    counter_gives_no_number_that_worn_flash_forgets();
    a_configuration_that_would_overflow_is_refused();
    a_key_is_whole_or_not_there();
    a_key_of_an_unhealthy_source_is_refused();
    a_key_that_worn_flash_does_not_hold_is_refused();
    gate_agrees_with_the_formula();
    entropy_tests_itself();
    radio_driver_keeps_to_the_datasheet();
    the_driver_listens_as_often_as_it_is_told();
    messages_go_out_in_frames_and_one_answer_is_ours();
    the_node_survives_a_cut_at_every_moment();
    the_node_gets_through_a_lossy_air_and_a_rough_supply();
    a_node_that_listens_answers_when_it_is_called();
    who_wakes_a_node_without_end_costs_it_a_bounded_number_of_signatures();
    the_node_signs_no_number_that_worn_flash_does_not_hold();
    a_crc_is_what_python_computes();
    the_log_writes_numbers();
    printf("test_node: %u checks agree, %u differ\n", passed, failures);
    return failures != 0;
}
