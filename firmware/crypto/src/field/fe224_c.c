/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define N 14
#define FE(suffix) sunseal_fe224_##suffix
/* 2^96 - 1 */
#define C 6
#define FOLD {[0] = -1, [C] = 1}
#include "field_c.inc"

/* low + high (2^96 - 1); the 6 words of high that 2^96 lifts above 2^224 once more */
static void reduce(uint16_t *r, uint16_t *t) {
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
