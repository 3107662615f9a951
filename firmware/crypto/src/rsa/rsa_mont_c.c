/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "rsa_internal.h"

#include <string.h>

#include "mp/mp.h"

/*
 * Row by row with the target's own sunseal_mp_addmul1: for the host and for the MSP430 without a
 * multiplier, where the rows are nearly all of the time. Twin of the _mpy32, _mpy16, _avr and
 * _armv7em kernels.
 */

/* r = t / R, t being the 2 count words of scratch */
static void reduce(uint16_t *r, const struct sunseal_rsa_modulus *m) {
    size_t n = m->count;
    uint16_t *t = m->scratch;
    uint32_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t q = (uint16_t)(t[i] * (uint32_t)(uint16_t)m->inverse);
        carry += sunseal_mp_addmul1(t + i, m->words, q, n);
        carry += t[n + i];
        t[n + i] = (uint16_t)carry;
        carry >>= 16;
    }
    /* Below R plus the modulus: once is enough to come below R. */
    uint16_t mask = sunseal_mp_mask_low((uint16_t)carry);
    sunseal_mp_sub(t, t + n, m->words, n);
    memmove(r, t + n, 2 * n);
    sunseal_mp_select(r, t, mask, n);
}

void sunseal_rsa_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b,
                         const struct sunseal_rsa_modulus *m) {
    size_t n = m->count;
    uint16_t *t = m->scratch;
    memset(t, 0, 2 * n);
    for (size_t i = 0; i < n; i++) {
        t[n + i] = sunseal_mp_addmul1(t + i, b, a[i], n);
    }
    reduce(r, m);
}

void sunseal_rsa_montsqr(uint16_t *r, const uint16_t *a, const struct sunseal_rsa_modulus *m) {
    size_t n = m->count;
    uint16_t *t = m->scratch;
    memset(t, 0, 2 * (n + 1));
    for (size_t i = 0; i + 1 < n; i++) {
        t[n + i] = sunseal_mp_addmul1(t + 2 * i + 1, a + i + 1, a[i], n - 1 - i);
    }
    t[2 * n - 1] = 0;
    sunseal_mp_add(t, t, t, 2 * n);
    uint32_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t square = (uint32_t)a[i] * a[i];
        carry += (uint32_t)t[2 * i] + (uint16_t)square;
        t[2 * i] = (uint16_t)carry;
        carry >>= 16;
        carry += (uint32_t)t[2 * i + 1] + (square >> 16);
        t[2 * i + 1] = (uint16_t)carry;
        carry >>= 16;
    }
    reduce(r, m);
}
