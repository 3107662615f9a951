/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_msp430.S. */

uint16_t sunseal_mp_add(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n) {
    uint32_t t = 0;
    for (size_t i = 0; i < n; i++) {
        t += (uint32_t)a[i] + b[i];
        r[i] = (uint16_t)t;
        t >>= 16;
    }
    return (uint16_t)t;
}

uint16_t sunseal_mp_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n) {
    uint16_t borrow = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t t = (uint32_t)a[i] - b[i] - borrow;
        r[i] = (uint16_t)t;
        borrow = (uint16_t)(t >> 16) & 1;
    }
    return borrow;
}

void sunseal_mp_select(uint16_t *r, const uint16_t *a, uint16_t mask, size_t n) {
    for (size_t i = 0; i < n; i++) {
        r[i] ^= (uint16_t)((r[i] ^ a[i]) & mask);
    }
}

void sunseal_mp_pick(uint16_t *r, const SUNSEAL_FLASH uint16_t *table, uint16_t index, size_t n) {
    for (size_t i = 0; i < n; i++) {
        r[i] = 0;
    }
    for (uint16_t entry = 0; entry < SUNSEAL_MP_PICK_ENTRIES; entry++) {
        uint16_t different = index ^ entry;
        uint16_t mask = (uint16_t)(((uint16_t)(different | -different) >> 15) - 1);
        for (size_t i = 0; i < n; i++) {
            r[i] |= *table++ & mask;
        }
    }
}
