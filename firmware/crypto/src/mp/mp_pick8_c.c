/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_pick8_msp430.S. */

void sunseal_mp_pick8(uint16_t *r, const uint16_t *table, uint16_t index, size_t n) {
    for (uint16_t entry = 0; entry < 8; entry++) {
        uint16_t different = index ^ entry;
        uint16_t mask = (uint16_t)~sunseal_mp_mask_high(different | (uint16_t)-different);
        sunseal_mp_select(r, table, mask, n);
        table += n;
    }
}
