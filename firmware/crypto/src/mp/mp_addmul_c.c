/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_addmul_mpy32.S, _mpy16.S and _mpynone.S. */

uint16_t sunseal_mp_addmul1(uint16_t *acc, const uint16_t *a, uint16_t b, size_t n) {
    uint32_t t = 0;
    for (size_t i = 0; i < n; i++) {
        t += (uint32_t)a[i] * b + acc[i];
        acc[i] = (uint16_t)t;
        t >>= 16;
    }
    return (uint16_t)t;
}
