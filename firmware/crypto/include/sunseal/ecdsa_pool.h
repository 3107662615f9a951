/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ECDSA_POOL_H
#define SUNSEAL_ECDSA_POOL_H

#include <stdint.h>

#include "sunseal/ecdsa.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Nonces of a pool: for comparison, not for use
 * =============================================
 *
 * Boyko, Peinado and Venkatesan (Eurocrypt 1998) draw a nonce as the sum of a few of n pairs
 * (k_i, k_i G) that were made once, which takes a few point additions instead of a multiplication;
 * Ateniese et al. (NDSS 2013, ACM TECS 16(3) 2017) sign so on sensor nodes. It is here so that its
 * price can be set beside that of a fresh nonce. What is known against it:
 *
 *   - The nonces are not independent. Sums of hidden subsets are found by lattice reduction: Nguyen
 *     and Stern (Crypto 1999), who show it on Schnorr's scheme, whose nonces are as linear in the
 *     key as ECDSA's, and that what resists costs a smart card more than it saves; Coron and Gini
 *     (Crypto 2020; ePrint 2021/1007) in polynomial time, n = 250 on one computer. Coron, M'Raihi
 *     and Tymen (SAC 2001) prove something of another generator, on Koblitz curves, not of this
 * one.
 *   - Two signatures with one nonce give the key. Of N drawn among C choices some N^2 / 2C pairs
 *     are equal: here C = (count / terms)^terms.
 *   - Who reads the pool reads every nonce, so every key. It is written once and cannot be wiped
 *     behind a use as a coupon is.
 *
 * sign_offline of sunseal/ecdsa.h has none of this.
 *
 * This one takes a pair of each of `terms` groups of count / terms (a power of two, 256 at most)
 * instead of any subset: then no pair comes twice and each group is read whole whatever is taken of
 * it. Not on AVR, which keeps no coupons. The pool begins at an address divisible by 4 on 32-bit
 * targets. Constant-time but for a sum that is zero, whose odds are those of guessing the key.
 */
struct sunseal_ecdsa_secp160r1_pair {
    uint16_t k[12], x[10], y[10];
};
struct sunseal_ecdsa_p224_pair {
    uint16_t k[14], x[14], y[14];
};
struct sunseal_ecdsa_p256_pair {
    uint16_t k[16], x[16], y[16];
};

/* One pair of 32 bytes of full entropy: SUNSEAL_OK or SUNSEAL_ERR_ENTROPY. */
int sunseal_ecdsa_secp160r1_pair(struct sunseal_ecdsa_secp160r1_pair *pair,
                                 const uint8_t entropy[32]);
int sunseal_ecdsa_p224_pair(struct sunseal_ecdsa_p224_pair *pair, const uint8_t entropy[32]);
int sunseal_ecdsa_p256_pair(struct sunseal_ecdsa_p256_pair *pair, const uint8_t entropy[32]);

/* A coupon of the pool; choice has a byte for each term. SUNSEAL_OK, SUNSEAL_ERR_PARAMETERS for
 * counts that do not fit, SUNSEAL_ERR_ENTROPY where the sum is zero. */
int sunseal_ecdsa_secp160r1_sign_offline_pool(struct sunseal_ecdsa_secp160r1_coupon *coupon,
                                              const struct sunseal_ecdsa_secp160r1_pair *pool,
                                              uint16_t count, uint8_t terms, const uint8_t *choice);
int sunseal_ecdsa_p224_sign_offline_pool(struct sunseal_ecdsa_p224_coupon *coupon,
                                         const struct sunseal_ecdsa_p224_pair *pool, uint16_t count,
                                         uint8_t terms, const uint8_t *choice);
int sunseal_ecdsa_p256_sign_offline_pool(struct sunseal_ecdsa_p256_coupon *coupon,
                                         const struct sunseal_ecdsa_p256_pair *pool, uint16_t count,
                                         uint8_t terms, const uint8_t *choice);

#ifdef __cplusplus
}
#endif

#endif
