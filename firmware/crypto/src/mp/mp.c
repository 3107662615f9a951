/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

#include <string.h>

void sunseal_mp_reduce_once(uint16_t *r, uint16_t carry, const uint16_t *m, uint16_t *scratch,
                            size_t n) {
    uint16_t borrow = sunseal_mp_sub(scratch, r, m, n);
    /* Keep r only where a borrow is not covered by the carry. */
    uint16_t keep = sunseal_mp_mask_low(borrow & ~carry);
    sunseal_mp_select(r, scratch, (uint16_t)~keep, n);
}

uint16_t sunseal_mp_is_zero(const uint16_t *a, size_t n) {
    uint16_t any = 0;
    for (size_t i = 0; i < n; i++) {
        any |= a[i];
    }
    /* The top bit of any | -any is set for every non-zero value. */
    return (uint16_t)~sunseal_mp_mask_high(any | (uint16_t)-any);
}

void sunseal_wipe(void *bytes, size_t count) {
    memset(bytes, 0, count);
    /* What might read the bytes next is unknown to the compiler, so they must be there. */
    __asm__ volatile("" : : "r"(bytes) : "memory");
}
