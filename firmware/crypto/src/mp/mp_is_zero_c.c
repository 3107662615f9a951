/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_is_zero_armv7em.S. */

uint16_t sunseal_mp_is_zero(const uint16_t *a, size_t n) {
    uint16_t any = 0;
    for (size_t i = 0; i < n; i++) {
        any |= a[i];
    }
    /* The top bit of any | -any is set for every non-zero value. */
    return (uint16_t)~sunseal_mp_mask_high(any | (uint16_t)-any);
}
