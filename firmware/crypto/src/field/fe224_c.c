/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../mp/mp.h"
#include "field.h"

/* Portable twin of fe224_*.S. */

#define N 14
#define C 6 /* 2^224 = 2^96 - 1, 2^96 is word 6 */

/* r += carry 2^224, where carry is from -3 to 3: what the first pass carries out leaves a value
 * next to 0 or 2^224 behind, so that the second carries nothing. */
static void fold(uint16_t *r, int32_t carry) {
    for (int pass = 0; pass < 2; pass++) {
        int32_t t = -carry;
        for (int i = 0; i < N; i++) {
            t += r[i];
            if (i == C) {
                t += carry;
            }
            r[i] = (uint16_t)t;
            t >>= 16;
        }
        carry = t;
    }
}

void sunseal_fe224_add(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    fold(r, sunseal_mp_add(r, a, b, N));
}

void sunseal_fe224_sub(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    fold(r, -(int32_t)sunseal_mp_sub(r, a, b, N));
}

void sunseal_fe224_mul(uint16_t *r, const uint16_t *a, const uint16_t *b) {
    uint16_t t[2 * N] = {0};
    for (int i = 0; i < N; i++) {
        t[i + N] = sunseal_mp_addmul1(t + i, a, b[i], N);
    }
    /* low + high (2^96 - 1); the 6 words of high that 2^96 lifts above 2^224 once more */
    int32_t sum = 0;
    for (int i = 0; i < N; i++) {
        sum += (int32_t)t[i] - t[i + N];
        if (i < C) {
            sum -= t[i + 2 * N - C];
        } else {
            sum += t[i + N - C];
        }
        if (i >= C && i < 2 * C) {
            sum += t[i + 2 * N - 2 * C];
        }
        r[i] = (uint16_t)sum;
        sum >>= 16;
    }
    fold(r, sum);
}

void sunseal_fe224_sqr(uint16_t *r, const uint16_t *a) {
    sunseal_fe224_mul(r, a, a);
}
