/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_combine_mpy32.S, _mpy16.S and _mpynone.S. */

void sunseal_mp_combine(uint16_t *r, const struct sunseal_mp_term terms[3], size_t n) {
    uint16_t sign[3], magnitude[3], last = 0;
    uint32_t sum = 0;
    /* factor * a = |factor| * (a ^ sign) + (|factor| & sign), modulo 2^(16 n) */
    for (int i = 0; i < 3; i++) {
        sign[i] = sunseal_mp_mask_high(terms[i].factor);
        magnitude[i] = (uint16_t)((terms[i].factor ^ sign[i]) - sign[i]);
        sum += magnitude[i] & sign[i];
    }
    for (size_t at = 0; at < n; at++) {
        for (int i = 0; i < 3; i++) {
            sum += (uint32_t)magnitude[i] * (uint16_t)(terms[i].words[at] ^ sign[i]);
        }
        if (at > 0) {
            r[at - 1] = (uint16_t)((sum << 2) | (last >> 14));
        }
        last = (uint16_t)sum;
        sum >>= 16;
    }
    r[n - 1] = (uint16_t)((int16_t)last >> 14);
}
