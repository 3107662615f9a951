/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Coupons of the node (sunseal/coupon.h): the part of a signature that needs no message, made ahead
 * while the store has more energy than the node's duties want. Programs node-<curve>-coupons have
 * them; in the others COUPONS is 0 and nothing of this is linked.
 *
 * Coupons lie in memory that only this store writes: section .coupons, at the same address in every
 * program of a board. The number that a message is signed under is burnt before, as ever
 * (counter.h): a coupon stands for the signature's nonce alone.
 */
#ifndef SUNSEAL_COUPONS_H
#define SUNSEAL_COUPONS_H

#include <stdbool.h>
#include <stdint.h>

#include "suite.h"

#if defined(NODE_coupons)
#define COUPONS 1
#else
#define COUPONS 0
#endif

#define COUPON_POLICY_MAGIC UINT32_C(0x50434E53) /* "SNCP" in memory order */
#define COUPON_POLICY_VERSION 1
#define COUPON_POLICY_BYTES 28

/* When coupons are made: the block `node_coupons` behind node_config (config.h) in segment A, which a
 * programmer, or a scenario, writes over. Little-endian, no padding. */
struct coupon_policy {
    uint32_t magic;           /*  0 COUPON_POLICY_MAGIC */
    uint16_t version;         /*  4 COUPON_POLICY_VERSION */
    uint16_t bytes;           /*  6 COUPON_POLICY_BYTES */
    uint16_t slots;           /*  8 coupons that the program's memory can keep; not to be changed */
    uint16_t low;             /* 10 with fewer, more are made from any energy that duties leave */
    uint16_t high;            /* 12 with so many, no more are made; 0: never any */
    uint16_t refill_above_mv; /* 14 from `low` on, the store must stand at this or higher */
    uint32_t use_uj;          /* 16 one signature from a coupon, as node_config.sign_uj is of a whole one */
    uint32_t reserve_uj;      /* 20 what stays in the store beside the next duty and the coupon itself */
    uint16_t every_s;         /* 24 from one wake-up for coupons to the next */
    uint8_t per_wake;         /* 26 coupons made in one of them at most */
    uint8_t reserved;         /* 27 zero */
};

extern const volatile struct coupon_policy node_coupons;

/* Once after each start, before anything of the curve: loads its tables where a board keeps them
 * apart, and copies the block; NULL if it is sound, else which field is not and why, for the log. */
const char *coupons_load(struct coupon_policy *policy);

/*
 * The rest stands still until the node has its key, whose owner the coupons belong to: those made
 * under another key are refused and wiped.
 *
 * open  after each start: ends what a power cut left half done. Answers with the coupons there are;
 *       none if the memory cannot be used, which status tells.
 * ready how many there are.
 * make  one more: entropy for a key, one scalar multiplication, one inverse. SUNSEAL_OK or why not
 *       (sunseal_coupon_produce); SUNSEAL_ERR_ENTROPY if the source is not healthy.
 * sign  SUNSEAL_OK from a coupon; SUNSEAL_COUPON_MONOLITHIC where there is none, by the whole
 *       computation, whose nonce needs no healthy source; or the error of the library.
 */
uint16_t coupons_open(void);
uint16_t coupons_ready(void);
int coupons_make(void);
int coupons_sign(uint8_t signature[SUITE_SIGNATURE_BYTES], const uint8_t *digest,
                 uint8_t digest_bytes);

#endif
