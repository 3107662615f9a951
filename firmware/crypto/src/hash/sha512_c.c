/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../flash.h"
#include "compress.h"
#include "sunseal/wipe.h"

/* Portable twin of the assembly, FIPS 180-4, section 6.4.2. */

#define K(word) word,
static const SUNSEAL_FLASH uint64_t constants[80] = {
#include "sha512_k.inc"
};
#undef K

static uint64_t rotate_right(uint64_t x, unsigned count) {
    return (x >> count) | (x << (64 - count));
}

void sunseal_sha512_compress(uint64_t state[8], const uint8_t block[128]) {
    uint64_t w[16], v[8];
    for (int t = 0; t < 16; t++) {
        w[t] = 0;
        for (int byte = 0; byte < 8; byte++) {
            w[t] = w[t] << 8 | block[8 * t + byte];
        }
    }
    for (int i = 0; i < 8; i++) {
        v[i] = state[i];
    }
    for (int t = 0; t < 80; t++) {
        if (t >= 16) {
            uint64_t x = w[(t - 15) & 15], y = w[(t - 2) & 15];
            w[t & 15] += w[(t - 7) & 15] + (rotate_right(x, 1) ^ rotate_right(x, 8) ^ (x >> 7)) +
                         (rotate_right(y, 19) ^ rotate_right(y, 61) ^ (y >> 6));
        }
        uint64_t a = v[0], e = v[4];
        uint64_t t1 = v[7] + (rotate_right(e, 14) ^ rotate_right(e, 18) ^ rotate_right(e, 41)) +
                      (v[6] ^ (e & (v[5] ^ v[6]))) + constants[t] + w[t & 15];
        uint64_t t2 = (rotate_right(a, 28) ^ rotate_right(a, 34) ^ rotate_right(a, 39)) +
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
