/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Generators over sources that work, stick, stand still in one of their clocks or run dry, alone
 * and as the source of a coupon: one that fails leaves zeros, a status of its own and no coupon.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sunseal/aes.h"
#include "../coupon/src/coupon.h"
#include "sunseal/coupon_kinds.h"
#include "sunseal/nvm.h"
#include "sunseal/random.h"

static unsigned passed, failures;

static void check(const char *generator, const char *what, bool holds) {
    if (holds) {
        passed++;
    } else {
        failures++;
        printf("test_generator: %s: %s\n", generator, what);
    }
}

/* The top bytes of a linear congruence; where it is stuck, 16 of every 16 times `turns` samples are
 * the same for ever. */
static struct {
    uint32_t state, reads, rests, left; /* left: samples until it runs dry, 0 never */
    uint8_t turns, stuck;
} noise;

static int read_noise(void *context, uint8_t *samples, size_t count) {
    (void)context;
    if (count == 0) {
        noise.rests++;
        return SUNSEAL_OK;
    }
    for (size_t i = 0; i < count; i++) {
        noise.state = noise.state * 1664525 + 1013904223;
        bool sticks = noise.stuck && noise.reads / 16 % noise.turns == 0;
        samples[i] = sticks ? 0x5A : (uint8_t)(noise.state >> 24);
        noise.reads++;
        if (noise.left > 0 && --noise.left == 0) {
            return SUNSEAL_ERR_ENTROPY;
        }
    }
    return SUNSEAL_OK;
}

static void fresh(uint8_t turns, bool stuck) {
    memset(&noise, 0, sizeof noise);
    noise.state = 1;
    noise.turns = turns;
    noise.stuck = stuck;
}

static int (*function)(void *generator, uint8_t entropy[32]);
static struct sunseal_generator generator;

/* ---- words of a store whose power is never cut: test_coupon.c cuts it ------------------------ */

void sunseal_nvm_commit(volatile uint16_t *word, uint16_t value) {
    *word = value;
}

static uint16_t sum(uint16_t crc, uint16_t word) {
    return (uint16_t)((crc << 1 | crc >> 15) + word);
}

uint16_t sunseal_nvm_check(const void *from, uint16_t words, uint16_t seed) {
    for (const uint16_t *at = from; words > 0; words--) {
        seed = sum(seed, *at++);
    }
    return seed;
}

uint16_t sunseal_nvm_copy(void *to, const void *from, uint16_t words, uint16_t seed) {
    memcpy(to, from, 2u * words);
    return sunseal_nvm_check(from, words, seed);
}

static uint16_t running;

void sunseal_coupon_begin(uint16_t low, uint16_t high, uint16_t seed) {
    running = sum(sum(seed, low), high);
}

uint16_t sunseal_coupon_move(uint16_t *out, uint16_t *from, uint16_t words) {
    running = sunseal_nvm_copy(out, from, words, running);
    memset(from, 0, 2u * words);
    return running;
}

uint16_t sunseal_coupon_move_xor(uint16_t *out, const uint16_t *in, uint16_t *from,
                                 uint16_t words) {
    (void)out, (void)in, (void)from, (void)words;
    abort(); /* no random value is XORed */
}

void sunseal_coupon_zero(uint16_t *words, uint16_t count) {
    memset(words, 0, 2u * count);
}

/* ---- as the source of a coupon --------------------------------------------------------------- */

static uint16_t memory[SUNSEAL_COUPON_FRAM_WORDS(32, 2)];
static const struct sunseal_coupon_fram_place place = {memory, 2};
static uint32_t work[8];

static void as_coupon(const char *name, bool healthy) {
    static const uint8_t zeros[32];
    struct sunseal_coupon_entropy source = {function, &generator};
    struct sunseal_coupon_kind kind = {1, 32, 1, 1, 2, sunseal_coupon_random_make, &source};
    struct sunseal_coupon_pool pool = {
        .kind = &kind, .medium = &sunseal_coupon_fram, .place = &place};
    struct sunseal_coupon_store store = {.pools = &pool,
                                         .count = 1,
                                         .epoch = 1,
                                         .version = 1,
                                         .work = (uint16_t *)(void *)work,
                                         .work_bytes = sizeof work};
    uint8_t out[32];
    memset(memory, 0, sizeof memory);
    check(name, "the store is new",
          sunseal_coupon_open(&store) == SUNSEAL_ERR_STORE &&
              sunseal_coupon_format(&store, 0, 0) == SUNSEAL_OK);
    int made = sunseal_coupon_produce(&store);
    if (healthy) {
        check(name, "a coupon is made", made == SUNSEAL_OK && sunseal_coupon_ready(&store, 0) == 1);
        check(name, "and used",
              sunseal_coupon_random(&store, 0, out) == SUNSEAL_OK && memcmp(out, zeros, 32) != 0);
        check(name, "where there is none the generator is asked",
              sunseal_coupon_random(&store, 0, out) == SUNSEAL_COUPON_MONOLITHIC);
    } else {
        check(name, "no coupon is made of a failed source, and it says why",
              made == SUNSEAL_ERR_HEALTH && sunseal_coupon_ready(&store, 0) == 0);
        check(name, "nor a value in its place",
              sunseal_coupon_random(&store, 0, out) == SUNSEAL_ERR_HEALTH &&
                  memcmp(out, zeros, 32) == 0);
    }
}

static void whole(const char *name, int (*how)(void *, uint8_t[32]), struct sunseal_generator of) {
    static const uint8_t zeros[32];
    uint8_t first[32], second[32], third[32];
    function = how;
    of.source = (struct sunseal_source){read_noise, NULL, SUNSEAL_HEALTH_4_EIGHTHS, 1024, 4};

    fresh(1, false);
    generator = of;
    check(name, "gives", how(&generator, first) == SUNSEAL_OK && noise.rests == 1);
    check(name, "gives again", how(&generator, second) == SUNSEAL_OK);
    check(name, "something else", memcmp(first, second, 32) != 0);
    as_coupon(name, true);

    fresh(1, false);
    for (int i = 0; i < 1024; i++) {
        read_noise(NULL, third, 1);
    }
    generator = of;
    generator.source.startup = 0;
    check(name, "throws its start-up samples away, once",
          how(&generator, third) == SUNSEAL_OK && memcmp(first, third, 32) == 0 &&
              how(&generator, third) == SUNSEAL_OK && memcmp(second, third, 32) == 0);

    fresh(1, true);
    generator = of;
    check(name, "a source that sticks is found out",
          how(&generator, first) == SUNSEAL_ERR_HEALTH && memcmp(first, zeros, 32) == 0);
    uint32_t reads = noise.reads;
    noise.stuck = 0;
    check(name, "and is not believed again, nor read",
          how(&generator, first) == SUNSEAL_ERR_HEALTH && noise.reads == reads);
    fresh(1, true);
    generator = of;
    as_coupon(name, false);

    /* It breaks down in the middle. */
    fresh(1, false);
    generator = of;
    check(name, "gives before it sticks", how(&generator, first) == SUNSEAL_OK);
    noise.stuck = 1;
    as_coupon(name, false);

    fresh(1, false);
    generator = of;
    noise.left = 1100;
    check(name, "a source that runs dry",
          how(&generator, first) == SUNSEAL_ERR_ENTROPY && memcmp(first, zeros, 32) == 0);

    fresh(1, false);
    generator = of;
    generator.source.eighths = 0;
    check(name, "no entropy assumed", how(&generator, first) == SUNSEAL_ERR_PARAMETERS);
    generator = of;
    generator.source.read = NULL;
    check(name, "no source", how(&generator, first) == SUNSEAL_ERR_NULL);
    check(name, "no generator", how(NULL, first) == SUNSEAL_ERR_NULL);
    check(name, "nowhere to put it", how(&generator, NULL) == SUNSEAL_ERR_NULL);
    check(name, "over itself", how(&generator, (uint8_t *)&generator) == SUNSEAL_ERR_OVERLAP);
}

int main(void) {
    uint8_t out[32];
    whole("sha256", sunseal_generate_sha256, (struct sunseal_generator){0});
    whole("cbc_mac", sunseal_generate_cbc_mac,
          (struct sunseal_generator){.cipher = &sunseal_aes128_sbox});
    whole("xor16", sunseal_generate_xor_vartime, (struct sunseal_generator){.fold = 16});
    whole("xor32", sunseal_generate_xor_vartime, (struct sunseal_generator){.fold = 32});
    struct sunseal_generator low = {.fold = 32, .low_bit = 1, .one_by_one = 1};
    whole("low bits", sunseal_generate_xor_vartime, low);
    low.series = 4;
    low.fold = 16;
    whole("low bits of four clocks", sunseal_generate_xor_vartime, low);

    /* One clock of four stands still: three quarters of the samples are as good as ever. */
    low.source = (struct sunseal_source){read_noise, NULL, SUNSEAL_HEALTH_4_EIGHTHS, 1024, 4};
    fresh(4, true);
    generator = low;
    check("series", "one that sticks does not hide behind the others",
          sunseal_generate_xor_vartime(&generator, out) == SUNSEAL_ERR_HEALTH);
    fresh(4, true);
    generator = low;
    generator.series = 1;
    check("series", "as it would in one series",
          sunseal_generate_xor_vartime(&generator, out) == SUNSEAL_OK);

    fresh(1, false);
    generator = low;
    generator.series = 5;
    check("series", "too many",
          sunseal_generate_xor_vartime(&generator, out) == SUNSEAL_ERR_PARAMETERS);
    generator = low;
    generator.fold = 8;
    check("fold", "of 8", sunseal_generate_xor_vartime(&generator, out) == SUNSEAL_ERR_PARAMETERS);
    generator = low;
    check("cipher", "none", sunseal_generate_cbc_mac(&generator, out) == SUNSEAL_ERR_NULL);
    printf("test_generator: %u checks agree, %u differ\n", passed, failures);
    return failures != 0;
}
