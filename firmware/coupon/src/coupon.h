/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_COUPON_INTERNAL_H
#define SUNSEAL_COUPON_INTERNAL_H

#include "sunseal/coupon.h"
#include "sunseal/nvm.h"

/*
 * Words on their way, with their CRC-16-CCITT
 * -------------------------------------------
 * Beside sunseal_nvm_copy, _check and _commit of nvm.h. Addresses are even; words_<target>.{c,S}. A
 * CRC is compared with one of the same target only: in which order the bytes of a word go in is its
 * own affair.
 *
 *   copy_xor         out = in ^ from
 *   move, move_xor   as nvm_copy and copy_xor, and each word of `from`, in FRAM, is zero behind it
 *   zero             words of FRAM
 */
uint16_t sunseal_coupon_copy_xor(uint16_t *out, const uint16_t *in, const uint16_t *from,
                                 uint16_t words, uint16_t crc);
uint16_t sunseal_coupon_move(uint16_t *to, uint16_t *from, uint16_t words, uint16_t crc);
uint16_t sunseal_coupon_move_xor(uint16_t *out, const uint16_t *in, uint16_t *from, uint16_t words,
                                 uint16_t crc);
void sunseal_coupon_zero(uint16_t *words, uint16_t count);

static inline uint16_t sunseal_coupon_low(uint32_t value) {
    return (uint16_t)value;
}

static inline uint16_t sunseal_coupon_high(uint32_t value) {
    return (uint16_t)(value >> 16);
}

static inline uint32_t sunseal_coupon_join(uint16_t low, uint16_t high) {
    return (uint32_t)high << 16 | low;
}

/* Numbers end below this. */
#define SUNSEAL_COUPON_NUMBERS UINT32_C(0xFFFF0000)

#endif
