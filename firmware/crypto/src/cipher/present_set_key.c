/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "present.h"
#include "sunseal/wipe.h"

/* Changes places: bits of \a that mask << shift names, and bits of \b that mask names. */
static void swap(uint16_t *a, uint16_t *b, uint8_t shift, uint16_t mask) {
    uint16_t t = (uint16_t)(*a >> shift ^ *b) & mask;
    *b ^= t;
    *a ^= (uint16_t)(t << shift);
}

static void set_key(struct sunseal_present *present, const uint8_t *key, uint8_t key_bytes) {
    uint8_t(*bytes)[8] = (uint8_t(*)[8])present->round_keys;
    /* In place, from the last on: a slice is never smaller than the bytes it comes from. */
    sunseal_present_expand(bytes, key, key_bytes);
    for (uint8_t round = 32; round-- > 0;) {
        uint16_t w[4];
        for (uint8_t i = 0; i < 4; i++) {
            w[i] = (uint16_t)(bytes[round][6 - 2 * i] << 8 | bytes[round][7 - 2 * i]);
        }
        if (round < 31) {
            /* Words h of bits 4l + b: to words b of bits 4l + h, or of 4h + l. */
            swap(&w[0], &w[1], 1, 0x5555);
            swap(&w[2], &w[3], 1, 0x5555);
            swap(&w[0], &w[2], 2, 0x3333);
            swap(&w[1], &w[3], 2, 0x3333);
            if ((round & 1) != 0) {
                for (uint8_t i = 0; i < 4; i++) {
                    swap(&w[i], &w[i], 3, 0x0a0a);
                    swap(&w[i], &w[i], 6, 0x00cc);
                }
            }
        }
        for (uint8_t i = 0; i < 4; i++) {
            sunseal_present_slice slice = w[i];
#if !defined(__AVR__) && !defined(__MSP430__)
            slice |= slice << 16;
#endif
            present->round_keys[round][i] = slice;
        }
        sunseal_wipe(w, sizeof w);
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
