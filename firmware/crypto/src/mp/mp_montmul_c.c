/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "mp.h"

/* Portable twin of mp_montmul_mpy32.S. */

void sunseal_mp_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b,
                        const struct sunseal_mp_modulus *m) {
    uint16_t t[2 * SUNSEAL_MP_MONTMUL_WORDS + 1] = {0};
    size_t n = m->count;
    uint16_t top = 0;
    for (size_t i = 0; i < n; i++) {
        t[i + n] = sunseal_mp_addmul1(t + i, a, b[i], n);
    }
    for (size_t i = 0; i < n; i++) {
        uint16_t clear = (uint16_t)(t[i] * (uint32_t)(uint16_t)m->n0);
        uint32_t sum = (uint32_t)t[i + n] + sunseal_mp_addmul1(t + i, m->words, clear, n) + top;
        t[i + n] = (uint16_t)sum;
        top = (uint16_t)(sum >> 16);
    }
    memcpy(r, t + n, 2 * n);
    sunseal_mp_reduce_once(r, top, m->words, t, n);
    sunseal_wipe(t, sizeof t);
}
