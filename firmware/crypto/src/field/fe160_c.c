/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../mp/mp.h"
#include "field.h"

/* Portable twin of fe160_*.S. */

#define N 10

/* c = 2^160 - p = 2^31 + 1 */
static const uint16_t c160[N] = {1, 0x8000};

/* r + carry 2^160, folded: adds carry c until nothing leaves at the top. */
static void fold(uint16_t *r, uint16_t carry) {
    for (int pass = 0; pass < 2; pass++) {
        uint16_t t[N];
        for (int i = 0; i < N; i++) {
            t[i] = (uint16_t)(c160[i] & (uint16_t)-carry);
        }
        carry = sunseal_mp_add(r, r, t, N);
    }
}

void sunseal_fe160_add(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    fold(r, sunseal_mp_add(r, a, b, N));
}

void sunseal_fe160_sub(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    uint16_t borrow = sunseal_mp_sub(r, a, b, N);
    for (int pass = 0; pass < 2; pass++) {
        uint16_t t[N];
        for (int i = 0; i < N; i++) {
            t[i] = (uint16_t)(c160[i] & (uint16_t)-borrow);
        }
        borrow = sunseal_mp_sub(r, r, t, N);
    }
}

void sunseal_fe160_mul(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    uint16_t t[2 * N] = {0};
    for (int i = 0; i < N; i++) {
        t[i + N] = sunseal_mp_addmul1(t + i, a, b[i], N);
    }
    /* t = low + high c, with high c = high + 2^31 high; then once more for what leaves. */
    uint16_t fold1[N + 2] = {0};
    for (int i = 0; i < N; i++) {
        fold1[i] = t[i];
    }
    fold1[N] = sunseal_mp_addmul1(fold1, t + N, c160[0], N);
    fold1[N + 1] = sunseal_mp_addmul1(fold1 + 1, t + N, c160[1], N);
    uint16_t top[2] = {fold1[N], fold1[N + 1]};
    uint16_t fold2[N + 2] = {0};
    fold2[2] = sunseal_mp_addmul1(fold2, top, c160[0], 2);
    fold2[3] = sunseal_mp_addmul1(fold2 + 1, top, c160[1], 2);
    fold(r, sunseal_mp_add(r, fold1, fold2, N));
}

void sunseal_fe160_sqr(uint16_t *r, const uint16_t *a) {
    sunseal_fe160_mul(r, a, a);
}
