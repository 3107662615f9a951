/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_COUPON_INTERNAL_H
#define SUNSEAL_COUPON_INTERNAL_H

#include "sunseal/coupon.h"
#include "sunseal/nvm.h"
#include "sunseal/wipe.h"

/*
 * Words on their way, with their CRC-16-CCITT
 * -------------------------------------------
 * Beside sunseal_nvm_copy, _check and _commit of nvm.h. Addresses are even; words_<target>.{c,S}. A
 * CRC is compared with one of the same target only: in which order the bytes of a word go in is its
 * own affair. It runs in the target's module from begin on, and the others go on with it and return
 * it; nvm_copy and nvm_check begin another.
 *
 *   begin            with a slot's number
 *   copy, copy_xor   out = from, in ^ from
 *   move, move_xor   the same, and each word of `from`, in FRAM, is zero behind it
 *   zero             words of FRAM
 */
#if defined(__MSP430__)
#include "chip.h"

/* SLAU208 and SLAU367, CRC16 module */
static inline void sunseal_coupon_begin(uint16_t low, uint16_t high, uint16_t seed) {
    CRCINIRES = seed;
    CRCDI = low;
    CRCDI = high;
}
#else
void sunseal_coupon_begin(uint16_t low, uint16_t high, uint16_t seed);
#endif
uint16_t sunseal_coupon_copy(uint16_t *out, const uint16_t *from, uint16_t words);
uint16_t sunseal_coupon_copy_xor(uint16_t *out, const uint16_t *in, const uint16_t *from,
                                 uint16_t words);
uint16_t sunseal_coupon_move(uint16_t *out, uint16_t *from, uint16_t words);
uint16_t sunseal_coupon_move_xor(uint16_t *out, const uint16_t *in, uint16_t *from, uint16_t words);
void sunseal_coupon_zero(uint16_t *words, uint16_t count);

/* sunseal_nvm_commit where a use waits for it: without the call, but on the host, whose test cuts
 * in it. */
static inline void sunseal_coupon_commit(uint16_t *word, uint16_t value) {
#ifdef SUNSEAL_FRAM
    *(volatile uint16_t *)word = value;
#else
    sunseal_nvm_commit(word, value);
#endif
}

static inline uint16_t sunseal_coupon_low(uint32_t value) {
    return (uint16_t)value;
}

static inline uint16_t sunseal_coupon_high(uint32_t value) {
    return (uint16_t)(value >> 16);
}

static inline uint32_t sunseal_coupon_join(uint16_t low, uint16_t high) {
    return (uint32_t)high << 16 | low;
}

/* What `opened` of a pool is once it is. */
#define SUNSEAL_COUPON_OPENED 0x6A95

static inline struct sunseal_coupon_pool *
sunseal_coupon_pool_of(const struct sunseal_coupon_store *store, uint8_t index) {
    return index < store->count && store->pools[index].opened == SUNSEAL_COUPON_OPENED
               ? &store->pools[index]
               : NULL;
}

/* Of a message that is shorter than its coupon, or not aligned. */
int sunseal_coupon_xor_bytes(struct sunseal_coupon_pool *pool, uint8_t *out, const uint8_t *in,
                             size_t len, uint32_t *sequence);

/* sunseal_coupon_xor where it is called: six arguments are a twentieth of what 128 bytes take. */
static inline __attribute__((always_inline)) int
sunseal_coupon_xor_here(struct sunseal_coupon_store *store, uint8_t index, uint8_t *out,
                        const uint8_t *in, size_t len, uint32_t *sequence) {
    struct sunseal_coupon_pool *pool = sunseal_coupon_pool_of(store, index);
    const uintptr_t apart = (uintptr_t)in - (uintptr_t)out;
    *sequence = 0;
    if (pool == NULL) {
        return SUNSEAL_ERR_STORE;
    }
    if (len > pool->kind->bytes) {
        return SUNSEAL_ERR_LENGTH;
    }
    if (apart < len || 0 - apart < len) {
        return SUNSEAL_ERR_OVERLAP;
    }
    const bool words = len == pool->kind->bytes && (((uintptr_t)out | (uintptr_t)in) & 1) == 0;
    int status = words ? pool->medium->use(pool, (uint16_t *)(void *)out,
                                           (const uint16_t *)(const void *)in, sequence)
                       : sunseal_coupon_xor_bytes(pool, out, in, len, sequence);
    if (status == SUNSEAL_OK) {
        return status;
    }
    sunseal_wipe(out, len);
    return status;
}

/* Numbers end below this. */
#define SUNSEAL_COUPON_NUMBERS UINT32_C(0xFFFF0000)

#endif
