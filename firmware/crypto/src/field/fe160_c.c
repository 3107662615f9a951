/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define N 10
#define FE(suffix) sunseal_fe160_##suffix
/* 2^31 + 1 */
#define FOLD {[0] = 1, [1] = 0x8000}
#include "field_c.inc"

/* t = low + high c, with high c = high + 2^31 high; then once more for what leaves. */
static void reduce(uint16_t *r, uint16_t *t) {
    uint16_t fold1[N + 2] = {0};
    for (int i = 0; i < N; i++) {
        fold1[i] = t[i];
    }
    fold1[N] = sunseal_mp_addmul1(fold1, t + N, 1, N);
    fold1[N + 1] = sunseal_mp_addmul1(fold1 + 1, t + N, 0x8000, N);
    uint16_t top[2] = {fold1[N], fold1[N + 1]};
    uint16_t fold2[N + 2] = {0};
    fold2[2] = sunseal_mp_addmul1(fold2, top, 1, 2);
    fold2[3] = sunseal_mp_addmul1(fold2 + 1, top, 0x8000, 2);
    fold(r, sunseal_mp_add(r, fold1, fold2, N));
}
