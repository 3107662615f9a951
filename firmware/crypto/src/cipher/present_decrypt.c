/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "present.h"

/* The bitsliced cipher backwards; see present.h. */

/* The inverse S-box by its algebraic normal form. */
static void unsubstitute(uint16_t w[4]) {
    uint16_t a = w[0], b = w[1], c = w[2], d = w[3];
    uint16_t ab = a & b, ac = a & c, bc = b & c, ad = a & d, bd = b & d, cd = c & d;
    uint16_t abc = ab & c, abd = ab & d, acd = ac & d;
    w[0] = (uint16_t)~(a ^ c ^ bd);
    w[1] = a ^ b ^ ac ^ abc ^ d ^ bd ^ abd ^ cd ^ acd;
    w[2] = (uint16_t)~(ab ^ ac ^ bc ^ abc ^ d ^ ad ^ bd ^ abd ^ acd);
    w[3] = a ^ b ^ ab ^ c ^ abc ^ d ^ acd;
}

static void block(const sunseal_present_slice (*key)[4], uint8_t *out, const uint8_t *in) {
    uint16_t w[4];
    key += 31;
    for (uint8_t i = 0; i < 4; i++) {
        w[i] = (uint16_t)((uint16_t)in[6 - 2 * i] << 8 | in[7 - 2 * i]) ^ (uint16_t)(*key)[i];
        SUNSEAL_PRESENT_TURN_WORD(w[i]);
    }
    for (uint8_t round = 31; round > 0; round--) {
        key--;
        unsubstitute(w);
        for (uint8_t i = 0; i < 4; i++) {
            w[i] ^= (uint16_t)(*key)[i];
        }
        if ((round & 1) != 0) {
            SUNSEAL_PRESENT_TURN_ONES(w[0], w[1], w[2], w[3]);
        } else {
            SUNSEAL_PRESENT_TURN_FOURS(w[0], w[1], w[2], w[3]);
        }
    }
    for (uint8_t i = 0; i < 4; i++) {
        out[6 - 2 * i] = (uint8_t)(w[i] >> 8);
        out[7 - 2 * i] = (uint8_t)w[i];
    }
}

int sunseal_present_decrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    const struct sunseal_present *present = schedule;
    for (; blocks > 0; blocks--, out += 8, in += 8) {
        block(present->round_keys, out, in);
    }
    return SUNSEAL_OK;
}
