/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define N 16
#define FE(suffix) sunseal_fe256_##suffix
/* 2^224 - 2^192 - 2^96 + 1 */
#define FOLD {[0] = 1, [6] = -1, [12] = -1, [14] = 1}
#include "field_c.inc"

static const uint16_t p256[N] = {0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0,      0,
                                 0,      0,      0,      0,      1,      0,      0xffff, 0xffff};

/* -1/p mod 2^16 is 1, so the multiple of p that clears a word is the word itself. Of the sum
 * (2^512 + 2^256 p) / 2^256 < 2^256 + p one subtraction of p is enough. */
static void reduce(uint16_t *r, uint16_t *t) {
    uint16_t carry = 0;
    for (int i = 0; i < N; i++) {
        uint32_t top = (uint32_t)t[i + N] + sunseal_mp_addmul1(t + i, p256, t[i], N) + carry;
        t[i + N] = (uint16_t)top;
        carry = (uint16_t)(top >> 16);
    }
    for (int i = 0; i < N; i++) {
        r[i] = t[i + N];
    }
    fold(r, carry);
}
