/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../mp/mp.h"
#include "field.h"

/* Portable twin of fe160_half_*.S. */

#define N 10

static const uint16_t p[N] = {0xffff, 0x7fff, 0xffff, 0xffff, 0xffff,
                              0xffff, 0xffff, 0xffff, 0xffff, 0xffff};

void sunseal_fe160_half(uint16_t *r, const uint16_t *a) {
    uint16_t odd = sunseal_mp_mask_low(a[0]);
    uint16_t t[N];
    for (int i = 0; i < N; i++) {
        t[i] = p[i] & odd;
    }
    uint16_t carry = sunseal_mp_add(r, a, t, N);
    for (int i = N - 1; i >= 0; i--) {
        uint16_t word = r[i];
        r[i] = (uint16_t)((word >> 1) | (carry << 15));
        carry = word;
    }
}
