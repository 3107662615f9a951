/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "aes.h"
#include "fixslice.h"
#include "sunseal/wipe.h"

void sunseal_aes_fixslice_substitute(uint32_t q[8]);

/* The byte of the next row in the same column, k ShiftRows being left out. */
static uint32_t below(uint32_t x, uint8_t k) {
    return sunseal_fixslice_columns(x >> 8 | x << 24, k);
}

static uint32_t two_below(uint32_t x, uint8_t k) {
    return sunseal_fixslice_columns(x >> 16 | x << 16, (k & 1) != 0 ? 2 : 0);
}

/* With t = a + below(a): 2a + 3 below(a) + .. = 2t + below(a) + two_below(t), and the new key. */
static void mix_columns(uint32_t q[8], const uint32_t *key, uint8_t k) {
    uint32_t first = q[7], below_first = below(first, k), top = first ^ below_first, t = top;
    uint32_t fold = top;
    for (uint8_t i = 7; i > 0; i--) {
        uint32_t b = below(q[i - 1], k), next = q[i - 1] ^ b;
        uint32_t sum = next ^ (i == 7 ? below_first : below(q[i], k)) ^ two_below(t, k);
        /* Bits 1, 3 and 4 of 0x1b; bit 0 follows the loop. */
        if (i == 1 || i == 3 || i == 4) {
            sum ^= fold;
        }
        q[i] = sum ^ key[i];
        t = next;
        (void)b;
    }
    q[0] = fold ^ below(q[0], k) ^ two_below(t, k) ^ key[0];
}

static void blocks(const uint32_t *key, uint8_t *out[2], const uint8_t *in[2]) {
    uint32_t q[8];
    for (uint8_t i = 0; i < 8; i++) {
        memcpy(&q[i], in[i & 1] + (i >> 1) * 4, 4);
    }
    sunseal_fixslice_turn(q);
    for (uint8_t i = 0; i < 8; i++) {
        q[i] ^= key[i];
    }
    for (uint8_t round = 1; round < 10; round++) {
        key += 8;
        sunseal_aes_fixslice_substitute(q);
        mix_columns(q, key, round & 3);
    }
    key += 8;
    sunseal_aes_fixslice_substitute(q);
    for (uint8_t i = 0; i < 8; i++) {
        /* Ten ShiftRows are two: rows 1 and 3 by two columns. */
        uint32_t x = q[i];
        q[i] = ((x & 0x00ff00ff) | (sunseal_fixslice_columns(x, 2) & 0xff00ff00)) ^ key[i];
    }
    sunseal_fixslice_turn(q);
    for (uint8_t i = 0; i < 8; i++) {
        memcpy(out[i & 1] + (i >> 1) * 4, &q[i], 4);
    }
    sunseal_wipe(q, sizeof q);
}

int sunseal_aes128_fixslice_encrypt(const void *schedule, uint8_t *out, const uint8_t *in,
                                    size_t count) {
    const struct sunseal_aes128_fixslice *aes = schedule;
    while (count > 0) {
        /* A last single block goes twice. */
        uint8_t step = count > 1 ? 16 : 0;
        const uint8_t *from[2] = {in, in + step};
        uint8_t *to[2] = {out, out + step};
        blocks(aes->round_keys, to, from);
        count -= count > 1 ? 2 : 1;
        in += 16 + step;
        out += 16 + step;
    }
    return SUNSEAL_OK;
}
