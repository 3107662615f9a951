/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../flash.h"
#include "compress.h"
#include "sunseal/wipe.h"

/* Portable twin of the assembly, FIPS 180-4, section 6.2.2. */

#define K(word) word,
static const SUNSEAL_FLASH uint32_t constants[64] = {
#include "sha256_k.inc"
};
#undef K

static uint32_t rotate_right(uint32_t x, unsigned count) {
    return (x >> count) | (x << (32 - count));
}

void sunseal_sha256_compress(uint32_t state[8], const uint8_t block[64]) {
    uint32_t w[16], v[8];
    for (int t = 0; t < 16; t++) {
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    }
    for (int i = 0; i < 8; i++) {
        v[i] = state[i];
    }
    for (int t = 0; t < 64; t++) {
        if (t >= 16) {
            uint32_t x = w[(t - 15) & 15], y = w[(t - 2) & 15];
            w[t & 15] += w[(t - 7) & 15] + (rotate_right(x, 7) ^ rotate_right(x, 18) ^ (x >> 3)) +
                         (rotate_right(y, 17) ^ rotate_right(y, 19) ^ (y >> 10));
        }
        uint32_t a = v[0], e = v[4];
        uint32_t t1 = v[7] + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                      (v[6] ^ (e & (v[5] ^ v[6]))) + constants[t] + w[t & 15];
        uint32_t t2 = (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)) +
                      ((a & v[1]) | (v[2] & (a | v[1])));
        for (int i = 7; i > 0; i--) {
            v[i] = v[i - 1];
        }
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += v[i];
    }
    sunseal_wipe(w, sizeof w);
    sunseal_wipe(v, sizeof v);
}
