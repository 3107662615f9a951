/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The node's parts that keep or decide something: counter, configuration, key, gate, entropy.
 */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config.h"
#include "counter.h"
#include "entropy.h"
#include "gate.h"
#include "host.h"
#include "key.h"
#include "test_node.h"

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
void counter_survives_every_cut(void) {
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

void counter_survives_a_long_rough_life(void) {
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
void a_counter_whose_heads_are_lost_is_not_begun_again(void) {
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

void counter_ends_in_silence(void) {
    host_flash_new();
    host_power_on();
    check(runs_through(count_to_the_end, NULL), "counter: cut without a cut");
}

/* Words that stay erased, and a base that does not hold: numbers are passed over, or there are
 * none, but none comes twice. */
void counter_gives_no_number_that_worn_flash_forgets(void) {
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

uint8_t *own_block(void) {
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

void a_configuration_that_would_overflow_is_refused(void) {
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
void a_key_is_whole_or_not_there(void) {
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

void gate_agrees_with_the_formula(void) {
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

void entropy_tests_itself(void) {
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

void a_key_that_worn_flash_does_not_hold_is_refused(void) {
    host_flash_new();
    host_power_on();
    for (size_t word = 0; word <= offsetof(struct node_key, crc) / 2; word += 10) {
        host_flash->worn[HAL_SEGMENT_B][word] = 0xFFFF;
        check(!key_generate(), "key: worn flash is not noticed");
        host_flash->worn[HAL_SEGMENT_B][word] = 0;
    }
    check(key_generate() && key_open() == KEY_READY, "key: sound flash is refused");
}

void a_key_of_an_unhealthy_source_is_refused(void) {
    host_flash_new();
    host_power_on();
    host_samples = dead_source;
    runs_through(make_a_key_if_none, NULL);
    check(key_open() == KEY_NONE, "key: made without entropy");
    host_samples = NULL;
}
