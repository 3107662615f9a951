/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "ascon.h"

static uint64_t right(uint64_t x, unsigned count) {
    return x >> count | x << (64 - count);
}

void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds) {
    uint64_t x[5], t[5];
    memcpy(x, state, sizeof x);
    for (uint8_t i = (uint8_t)(12 - rounds); i < 12; i++) {
        x[2] ^= (uint8_t)(0xf0 - 15 * i);
        x[0] ^= x[4];
        x[4] ^= x[3];
        x[2] ^= x[1];
        for (uint8_t j = 0; j < 5; j++) {
            t[j] = x[j] ^ (~x[(j + 1) % 5] & x[(j + 2) % 5]);
        }
        t[1] ^= t[0];
        t[0] ^= t[4];
        t[3] ^= t[2];
        t[2] = ~t[2];
        x[0] = t[0] ^ right(t[0], 19) ^ right(t[0], 28);
        x[1] = t[1] ^ right(t[1], 61) ^ right(t[1], 39);
        x[2] = t[2] ^ right(t[2], 1) ^ right(t[2], 6);
        x[3] = t[3] ^ right(t[3], 10) ^ right(t[3], 17);
        x[4] = t[4] ^ right(t[4], 7) ^ right(t[4], 41);
    }
    memcpy(state, x, sizeof x);
}
