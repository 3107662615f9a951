/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_PRESENT_H
#define SUNSEAL_PRESENT_H

#include "sunseal/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * PRESENT-80 and PRESENT-128
 * ==========================
 *
 * Bogdanov et al., "PRESENT: An Ultra-Lightweight Block Cipher", CHES 2007; ISO/IEC 29192-2.
 * 64-bit blocks: see xtea.h about how much may be encrypted under one key.
 *
 *   sunseal_present80, sunseal_present128               bitsliced within the block (Cortex-M4: two
 *                                                       blocks together)
 *   sunseal_present80_table, sunseal_present128_table   1 KB of table, decrypts too
 *
 * Timing: the bitsliced ones are constant-time in every sense, key expansion included. _table
 * looks up by secret bytes in flash or FRAM: constant on MSP430F5438A, MSP430F1611 and ATmega128L,
 * whose memory has one speed; _vartime on MSP432P401R and above 8 MHz on MSP430FR5994.
 *
 * Stack in bytes, at most, with the return address:
 *
 *               MSP430   ATmega128L   Cortex-M4
 *   set_key         80           30         190
 *   encrypt         30           20          60
 *   decrypt         40           50          70
 *   _table          70           80         120
 */

#define SUNSEAL_PRESENT_BLOCK_BYTES 8
#define SUNSEAL_PRESENT80_KEY_BYTES 10
#define SUNSEAL_PRESENT128_KEY_BYTES 16

/* Four slices a round key; a slice serves two blocks on 32-bit parts. */
#if defined(__AVR__) || defined(__MSP430__)
typedef uint16_t sunseal_present_slice;
#else
typedef uint32_t sunseal_present_slice;
#endif

struct sunseal_present {
    sunseal_present_slice round_keys[32][4];
};

struct sunseal_present_table {
    uint16_t round_keys[32][4]; /* as bytes, big-endian */
};

extern const struct sunseal_block sunseal_present80;
extern const struct sunseal_block sunseal_present128;
extern const struct sunseal_block sunseal_present80_table;
extern const struct sunseal_block sunseal_present128_table;

#ifdef __cplusplus
}
#endif

#endif
