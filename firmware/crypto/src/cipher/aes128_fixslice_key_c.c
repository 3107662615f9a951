/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "aes.h"
#include "fixslice.h"
#include "sunseal/wipe.h"

void sunseal_aes_fixslice_substitute(uint32_t q[8]);

/* The S-box's constant: slices that it complements. */
#define CONSTANT 0x63

/* Words of the next round key from those of this one, FIPS 197, section 5.2, all in slices. */
static void next(uint32_t q[8], uint8_t rcon) {
    uint32_t s[8];
    for (uint8_t i = 0; i < 8; i++) {
        s[i] = q[i];
    }
    sunseal_aes_fixslice_substitute(s);
    for (uint8_t i = 0; i < 8; i++) {
        /* Column 3, a row up, to column 0; then each column to all behind it. */
        uint32_t x = q[i] ^ ((s[i] >> 14 | s[i] << 18) & 0x03030303);
        x ^= x << 2 & 0xfcfcfcfc;
        x ^= x << 4 & 0xf0f0f0f0;
        q[i] = (CONSTANT >> i & 1) != 0 ? ~x : x;
    }
    for (uint32_t *slice = q; rcon != 0; rcon >>= 1, slice++) {
        *slice ^= (rcon & 1) != 0 ? 0xff : 0;
    }
    sunseal_wipe(s, sizeof s);
}

/* Row r of slice x to the left by rk columns: by two where bit 1 of rk says so, then by one where
 * bit 0 does. */
static uint32_t shift_rows(uint32_t x, uint8_t k) {
    if (k == 0) {
        return x;
    }
    uint32_t two = k == 1 ? 0x0f0f0000 : k == 2 ? 0x0f000f00 : 0x000f0f00;
    uint32_t t = (x ^ x >> 4) & two;
    x ^= t ^ t << 4;
    if (k != 2) {
        uint32_t one = x & 0xff00ff00;
        x ^= one ^ (one << 2 & 0xfc00fc00) ^ (one >> 6 & 0x03000300);
    }
    return x;
}

int sunseal_aes128_fixslice_set_key(void *schedule, const uint8_t *key) {
    struct sunseal_aes128_fixslice *aes = schedule;
    uint32_t w[8], *q = aes->round_keys;
    uint8_t rcon = 1;
    for (uint8_t i = 0; i < 8; i++) {
        memcpy(&w[i], key + 4 * (i >> 1), 4);
    }
    sunseal_fixslice_turn(w);
    for (uint8_t i = 0; i < 8; i++) {
        q[i] = w[i];
    }
    for (uint8_t round = 1; round < 11; round++) {
        q += 8;
        next(w, rcon);
        for (uint8_t i = 0; i < 8; i++) {
            uint32_t x = shift_rows(w[i], round < 10 ? round & 3 : 0);
            q[i] = (CONSTANT >> i & 1) != 0 ? ~x : x;
        }
        rcon = (uint8_t)(rcon << 1 ^ (rcon >> 7) * 0x1b);
    }
    sunseal_wipe(w, sizeof w);
    return SUNSEAL_OK;
}
