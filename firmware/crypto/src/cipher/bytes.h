/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BYTES_H
#define SUNSEAL_BYTES_H

#include <stdint.h>

static inline uint32_t sunseal_load_big32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline void sunseal_store_big32(uint8_t *bytes, uint32_t word) {
    bytes[0] = (uint8_t)(word >> 24);
    bytes[1] = (uint8_t)(word >> 16);
    bytes[2] = (uint8_t)(word >> 8);
    bytes[3] = (uint8_t)word;
}

#endif
