/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "present.h"

/* Portable: 16 bits of each slice, one block after the other. See present.h. */

static void substitute(uint16_t w[4]) {
    uint16_t t = w[1] ^ w[2], u = w[2] & t, v = w[3] ^ u, y = w[0] ^ v;
    u = t & v;
    t ^= y;
    u ^= w[2];
    w[1] = t ^ (w[0] | u);
    u ^= (uint16_t)~w[0];
    w[3] = w[1] ^ u;
    w[2] = v ^ (u | t);
    w[0] = y;
}

static void block(const sunseal_present_slice (*key)[4], uint8_t *out, const uint8_t *in) {
    uint16_t w[4];
    for (uint8_t i = 0; i < 4; i++) {
        w[i] = (uint16_t)((uint16_t)in[6 - 2 * i] << 8 | in[7 - 2 * i]);
    }
    for (uint8_t round = 1; round < 32; round++, key++) {
        if ((round & 1) != 0) {
            SUNSEAL_PRESENT_TURN_ONES(w[0], w[1], w[2], w[3]);
        } else {
            SUNSEAL_PRESENT_TURN_FOURS(w[0], w[1], w[2], w[3]);
        }
        for (uint8_t i = 0; i < 4; i++) {
            w[i] ^= (uint16_t)(*key)[i];
        }
        substitute(w);
    }
    for (uint8_t i = 0; i < 4; i++) {
        SUNSEAL_PRESENT_TURN_WORD(w[i]);
        w[i] ^= (uint16_t)(*key)[i];
        out[6 - 2 * i] = (uint8_t)(w[i] >> 8);
        out[7 - 2 * i] = (uint8_t)w[i];
    }
}

int sunseal_present_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    const struct sunseal_present *present = schedule;
    for (; blocks > 0; blocks--, out += 8, in += 8) {
        block(present->round_keys, out, in);
    }
    return SUNSEAL_OK;
}
