/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "rsa_internal.h"

#include "mp/mp.h"

void sunseal_rsa_pick(uint16_t *r, const uint16_t *table, uint16_t index, uint16_t entries,
                      uint16_t count) {
    for (uint16_t i = 0; i < count; i++) {
        r[i] = 0;
    }
    for (uint16_t entry = 0; entry < entries; entry++) {
        uint16_t different = index ^ entry;
        uint16_t mask = (uint16_t)~sunseal_mp_mask_high(different | (uint16_t)-different);
        for (uint16_t i = 0; i < count; i++) {
            r[i] |= *table++ & mask;
        }
    }
}
