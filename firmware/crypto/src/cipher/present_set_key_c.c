/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "present.h"

/* A slice holds the same bits for each of its blocks. */
static void store(sunseal_present_slice *slices, uint16_t a, uint16_t b, uint16_t c, uint16_t d) {
#if defined(__AVR__) || defined(__MSP430__)
    const sunseal_present_slice blocks = 1;
#else
    const sunseal_present_slice blocks = 0x10001;
#endif
    slices[0] = a * blocks;
    slices[1] = b * blocks;
    slices[2] = c * blocks;
    slices[3] = d * blocks;
}

static void set_key(struct sunseal_present *present, const uint8_t *key, uint8_t key_bytes) {
    sunseal_present_word(*words)[4] = (sunseal_present_word(*)[4])present->round_keys;
    /* In place, from the last on: a slice is never smaller than the word it comes from. */
    sunseal_present_expand(words, key, key_bytes);
    for (uint8_t round = 32; round-- > 0;) {
        uint16_t a = words[round][0], b = words[round][1], c = words[round][2], d = words[round][3];
        if (round < 31) {
            /* Words h of bits 4l + b: to words b of bits 4l + h, or first to words l of bits 4h +
             * b, then to words b of bits 4h + l. */
            if ((round & 1) != 0) {
                SUNSEAL_PRESENT_TURN_FOURS(a, b, c, d);
            }
            SUNSEAL_PRESENT_TURN_ONES(a, b, c, d);
        }
        store(present->round_keys[round], a, b, c, d);
    }
}

int sunseal_present80_set_key(void *schedule, const uint8_t *key) {
    set_key(schedule, key, 10);
    return SUNSEAL_OK;
}

int sunseal_present128_set_key(void *schedule, const uint8_t *key) {
    set_key(schedule, key, 16);
    return SUNSEAL_OK;
}
