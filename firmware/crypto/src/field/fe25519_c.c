/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define N 16
#define FE(suffix) sunseal_fe25519_##suffix
/* Works modulo 2 p = 2^256 - 38. */
#define FOLD {[0] = 38}
#include "field_c.inc"

static void reduce(uint16_t *r, uint16_t *t) {
    uint16_t carry = sunseal_mp_addmul1(t, t + N, 38, N);
    for (int i = 0; i < N; i++) {
        r[i] = t[i];
    }
    fold(r, carry);
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
    fold(r, (int32_t)(t + before));
}
