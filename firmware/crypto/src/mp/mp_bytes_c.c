/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_bytes_msp430.S. */

void sunseal_mp_from_bytes(uint16_t *r, const uint8_t *bytes, size_t count, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint16_t word = 0;
        if (count > 0) {
            word = bytes[--count];
        }
        if (count > 0) {
            word |= (uint16_t)((uint16_t)bytes[--count] << 8);
        }
        r[i] = word;
    }
}

void sunseal_mp_to_bytes(uint8_t *bytes, const uint16_t *a, size_t count) {
    while (count > 1) {
        uint16_t word = *a++;
        bytes[--count] = (uint8_t)word;
        bytes[--count] = (uint8_t)(word >> 8);
    }
    if (count > 0) {
        bytes[0] = (uint8_t)*a;
    }
}
