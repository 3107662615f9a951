/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "compress.h"
#include "sunseal/wipe.h"

/* Portable twin of the assembly, FIPS 180-4, section 6.1.2. */

static uint32_t rotate_left(uint32_t x, unsigned count) {
    return (x << count) | (x >> (32 - count));
}

void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64]) {
    uint32_t w[16];
    for (int t = 0; t < 16; t++) {
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int t = 0; t < 80; t++) {
        uint32_t f, k;
        if (t >= 16) {
            w[t & 15] =
                rotate_left(w[(t - 3) & 15] ^ w[(t - 8) & 15] ^ w[(t - 14) & 15] ^ w[t & 15], 1);
        }
        if (t < 20) {
            f = d ^ (b & (c ^ d)), k = 0x5a827999;
        } else if (t < 40) {
            f = b ^ c ^ d, k = 0x6ed9eba1;
        } else if (t < 60) {
            f = (b & c) | (d & (b | c)), k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d, k = 0xca62c1d6;
        }
        uint32_t next = rotate_left(a, 5) + f + e + k + w[t & 15];
        e = d, d = c, c = rotate_left(b, 30), b = a, a = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
    sunseal_wipe(w, sizeof w);
}
