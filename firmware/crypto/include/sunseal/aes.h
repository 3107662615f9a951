/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_AES_H
#define SUNSEAL_AES_H

#include "sunseal/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * AES-128 (FIPS 197)
 * ==================
 *
 * One cipher, several implementations of one shape; use them through block.h and the modes:
 *
 *   sunseal_aes128            the board's choice: its accelerator, else the fastest that is
 *                             constant-time on its memory
 *   sunseal_aes128_sbox       256 bytes of table (AVR: 512 bytes in RAM)
 *   sunseal_aes128_tbox       1 KB of table; on MSP430 2.25 KB
 *   sunseal_aes128_fixslice   no tables, two blocks together; encrypts only
 *   sunseal_aes128_hw         the AES256 module of MSP430FR5994 and MSP432P401R
 *   sunseal_aes128_cc2420     the stand-alone encryption of the radio chip CC2420
 *
 * Timing: _fixslice, _hw and _cc2420 are constant-time in every sense. _sbox and _tbox look up
 * tables by secret bytes, in key expansion and in both directions: no branch, no loop count and no
 * number of instructions depends on them, and a look-up takes the same cycles whatever its address
 * where the memory behind the table has one speed. That holds for
 *
 *   MSP430F5438A, MSP430F1611   flash of one cycle, no cache
 *   ATmega128L                  SRAM (_sbox) and flash (_tbox, decryption, key expansion), no cache
 *   MSP432P401R                 the tables lie in SRAM (.data), since the flash has buffers and
 *                               wait states
 *   MSP430FR5994                the tables lie in SRAM (.data), since FRAM is cached above 8 MHz
 *
 * and does not hold on a host with a data cache, where only _fixslice is constant-time.
 *
 * Stack in bytes, at most, with the return address:
 *
 *                        MSP430   ATmega128L   Cortex-M4
 *   set_key                  20           20          30
 *   _sbox encrypt            70           20         100
 *   _tbox encrypt            30          100          90
 *   decrypt                  70           70         160
 *   _fixslice               200          210         180
 *   _hw                      30            -          60
 */

#define SUNSEAL_AES_BLOCK_BYTES 16
#define SUNSEAL_AES128_KEY_BYTES 16

/* The schedule of all but _fixslice: the round keys in the order of FIPS 197. */
struct sunseal_aes128 {
    uint32_t round_keys[44];
};

struct sunseal_aes128_fixslice {
    uint32_t round_keys[88];
};

extern const struct sunseal_block sunseal_aes128;
extern const struct sunseal_block sunseal_aes128_sbox;
extern const struct sunseal_block sunseal_aes128_tbox;
extern const struct sunseal_block sunseal_aes128_fixslice;

/*
 * The AES256 accelerator
 * ----------------------
 * One user at a time: an interrupt routine must not use it. Each call loads the key anew from the
 * schedule, so that many keys can be used by turns. Only linked on boards that have it. Source:
 * SLAU367P, AES256 chapter; SLAU356I, chapter 18.
 */
extern const struct sunseal_block sunseal_aes128_hw;

/*
 * The CC2420's stand-alone encryption (SWRS041, section "Stand-alone encryption")
 * ------------------------------------------------------------------------------
 * The radio encrypts one block in its RAM under one of two keys. How bytes reach the chip is the
 * board's matter: one function that holds CSn low for one transaction. The schedule is a
 * `struct sunseal_cc2420`; its transport must be filled in before set_key. The crystal oscillator
 * of the radio must run, and no packet may be under way (its RAM is the same).
 * Answers SUNSEAL_ERR_ENGINE where the chip is not ready or stays busy.
 */
struct sunseal_cc2420_transport {
    /* CSn low; send out[0..len-1] while receiving into in (NULL: not wanted); CSn high. */
    int (*transfer)(void *user, const uint8_t *out, uint8_t *in, size_t len);
    void *user;
};

struct sunseal_cc2420 {
    const struct sunseal_cc2420_transport *transport;
};

extern const struct sunseal_block sunseal_aes128_cc2420;

#ifdef __cplusplus
}
#endif

#endif
