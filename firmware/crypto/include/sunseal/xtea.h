/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_XTEA_H
#define SUNSEAL_XTEA_H

#include "sunseal/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * XTEA
 * ====
 *
 * Needham and Wheeler, "Tea extensions" (1997): 64-bit blocks, 128-bit keys, 64 Feistel rounds.
 * Bytes are big-endian, as in the public vectors (Botan, Crypto++). 64-bit blocks: no more than
 * 2^32 blocks under one key, far fewer for a mode whose margin is the birthday bound.
 *
 * Constant-time in every sense: shifts, additions and exclusive or only.
 *
 * Stack in bytes, at most, with the return address: MSP430 30, ATmega128L 30, Cortex-M4 70.
 */

#define SUNSEAL_XTEA_BLOCK_BYTES 8
#define SUNSEAL_XTEA_KEY_BYTES 16

/* sum + key word, for each round. */
struct sunseal_xtea {
    uint32_t round_keys[64];
};

extern const struct sunseal_block sunseal_xtea;

#ifdef __cplusplus
}
#endif

#endif
