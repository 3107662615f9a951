/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../mp/mp.h"
#include "field.h"

/* Portable twin of fe25519_*.S. Works modulo 2 p = 2^256 - 38. */

#define N 16

/* r += carry 2^256; what the first pass carries out leaves less than 2^13 behind. */
static void fold(uint16_t *r, uint32_t carry) {
    for (int pass = 0; pass < 2; pass++) {
        uint32_t t = 38 * carry;
        for (int i = 0; i < N; i++) {
            t += r[i];
            r[i] = (uint16_t)t;
            t >>= 16;
        }
        carry = t;
    }
}

void sunseal_fe25519_add(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    fold(r, sunseal_mp_add(r, a, b, N));
}

void sunseal_fe25519_sub(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    uint16_t borrow = sunseal_mp_sub(r, a, b, N);
    for (int pass = 0; pass < 2; pass++) {
        uint16_t owed = (uint16_t)(38 * borrow);
        for (int i = 0; i < N; i++) {
            uint32_t t = (uint32_t)r[i] - owed;
            r[i] = (uint16_t)t;
            owed = (uint16_t)(t >> 16) & 1;
        }
        borrow = owed;
    }
}

void sunseal_fe25519_mul(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    uint16_t t[2 * N] = {0};
    for (int i = 0; i < N; i++) {
        t[i + N] = sunseal_mp_addmul1(t + i, a, b[i], N);
    }
    uint16_t carry = sunseal_mp_addmul1(t, t + N, 38, N);
    for (int i = 0; i < N; i++) {
        r[i] = t[i];
    }
    fold(r, carry);
}

void sunseal_fe25519_sqr(uint16_t *r, const uint16_t *a) {
    sunseal_fe25519_mul(r, a, a);
}

void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a) {
    /* 121665 = 2^16 + 56129 */
    uint32_t t = 0;
    uint16_t before = 0;
    for (int i = 0; i < N; i++) {
        uint16_t word = a[i];
        uint32_t product = (uint32_t)word * 56129u;
        uint32_t low = (t & 0xffff) + (product & 0xffff) + before;
        t = (t >> 16) + (product >> 16) + (low >> 16);
        r[i] = (uint16_t)low;
        before = word;
    }
    fold(r, t + before);
}
