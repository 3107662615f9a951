/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../mp/mp.h"
#include "field.h"

/* Portable twin of fe256_*.S. */

#define N 16

static const uint16_t p256[N] = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0,      0,
                                 0,      0,      0,      0,      1,      0,      0xffff, 0xffff};

static void masked_p(uint16_t *t, uint16_t bit) {
    for (int i = 0; i < N; i++) {
        t[i] = (uint16_t)(p256[i] & (uint16_t)-bit);
    }
}

void sunseal_fe256_add(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    uint16_t t[N];
    uint16_t carry = sunseal_mp_add(r, a, b, N);
    for (int pass = 0; pass < 2; pass++) {
        masked_p(t, carry);
        carry ^= sunseal_mp_sub(r, r, t, N);
    }
}

void sunseal_fe256_sub(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    uint16_t t[N];
    uint16_t borrow = sunseal_mp_sub(r, a, b, N);
    for (int pass = 0; pass < 2; pass++) {
        masked_p(t, borrow);
        borrow ^= sunseal_mp_add(r, r, t, N);
    }
}

void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    uint16_t t[2 * N + 1] = {0};
    for (int i = 0; i < N; i++) {
        t[i + N] = sunseal_mp_addmul1(t + i, a, b[i], N);
    }
    /* -1/p mod 2^16 is 1, so the multiple of p that clears a word is the word itself. */
    uint16_t carry = 0;
    for (int i = 0; i < N; i++) {
        uint32_t top = (uint32_t)t[i + N] + sunseal_mp_addmul1(t + i, p256, t[i], N) + carry;
        t[i + N] = (uint16_t)top;
        carry = (uint16_t)(top >> 16);
    }
    /* (2^512 + 2^256 p) / 2^256 < 2^256 + p: one subtraction is enough. */
    uint16_t q[N];
    masked_p(q, carry);
    sunseal_mp_sub(r, t + N, q, N);
}

void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a) {
    sunseal_fe256_mul(r, a, a);
}
