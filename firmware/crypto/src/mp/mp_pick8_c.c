/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_pick8_armv7em.S. */

void sunseal_mp_pick8(uint16_t *r, const uint16_t *table, uint16_t index, size_t n) {
    for (uint16_t i = 0; i < 8; i++) {
        uint16_t different = i ^ index;
        uint16_t wanted = (uint16_t)~sunseal_mp_mask_high(different | (uint16_t)-different);
        sunseal_mp_select(r, table, wanted, n);
        table += n;
    }
}
