/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_swap_msp430.S. */

void sunseal_mp_swap(uint16_t *a, uint16_t *b, uint16_t mask, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint16_t different = (uint16_t)((a[i] ^ b[i]) & mask);
        a[i] ^= different;
        b[i] ^= different;
    }
}
