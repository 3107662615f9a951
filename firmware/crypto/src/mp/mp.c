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

void sunseal_wipe(void *bytes, size_t count) {
    memset(bytes, 0, count);
    /* What might read the bytes next is unknown to the compiler, so they must be there. */
    __asm__ volatile("" : : "r"(bytes) : "memory");
}
