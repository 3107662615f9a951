/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ECDSA_H
#define SUNSEAL_ECDSA_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ECDSA on secp160r1, P-224 and P-256
 * ===================================
 *
 * Curves: SEC 2 version 1.0 section 2.4.2 (secp160r1, 80 bits, legacy) and version 2.0
 * sections 2.3.2 (P-224 = secp224r1, 112 bits) and 2.4.2 (P-256 = secp256r1, 128 bits).
 * Signatures: FIPS 186-5 section 6.
 * Nonces: RFC 6979 section 3.2 with added entropy, section 3.6, so that a signature stays safe
 * both with a broken entropy source and against fault attacks on a repeated nonce. On secp160r1 256
 * bits of the candidate's string are reduced modulo n (FIPS 186-5 appendix A.3.1, extra random
 * bits): of its leftmost 161 bits alone every second candidate would be thrown away.
 *
 * All numbers are big-endian byte strings of fixed length:
 *
 *                      secp160r1   P-224   P-256
 *   private key d             21      28      32
 *   public key x || y         40      56      64
 *   signature r || s          42      56      64
 *
 * A hash has 20 bytes (SHA-1) to 64 (SHA-512), else SUNSEAL_ERR_LENGTH: what is shorter is none,
 * and what is longer is a message that nobody hashed. A null pointer is SUNSEAL_ERR_NULL, an output
 * that shares bytes with another argument SUNSEAL_ERR_OVERLAP; then nothing is written.
 *
 * Timing: keygen and all parts of sign are constant-time: no branch, address or loop count depends
 * on a secret. The one exception says nothing about the secret that is used: a nonce candidate
 * outside [1, n-1] is thrown away and another drawn, by the odds of 2^-161 (secp160r1), 2^-112
 * (P-224) and 2^-32 (P-256). So a signature's cycles are one number, mean and worst. verify is
 * _vartime: all of its inputs are public. docs/reference/constant-time.md: the verdict on each
 * target's binary.
 *
 * Interrupts: an interrupt routine must not call this library and must not touch the hardware
 * multiplier (or must save and restore it). The scratch memory is static: one call at a time.
 *
 * Stack in bytes, at most, with the return address; static memory besides is 40, 56 and 64 bytes:
 *
 *                      secp160r1   P-224   P-256
 *   keygen                   640     820     930
 *   sign                     880    1150    1260
 *   sign_offline             640     860     950
 *   sign_online              190     220     260
 *   verify                  1070    1310    1430
 *
 * Flash and cycles of every call: docs/reference/crypto.md, measured.
 */

#define SUNSEAL_SECP160R1_PRIVATE_BYTES 21
#define SUNSEAL_SECP160R1_PUBLIC_BYTES 40
#define SUNSEAL_SECP160R1_SIGNATURE_BYTES 42
#define SUNSEAL_P224_PRIVATE_BYTES 28
#define SUNSEAL_P224_PUBLIC_BYTES 56
#define SUNSEAL_P224_SIGNATURE_BYTES 56
#define SUNSEAL_P256_PRIVATE_BYTES 32
#define SUNSEAL_P256_PUBLIC_BYTES 64
#define SUNSEAL_P256_SIGNATURE_BYTES 64
#define SUNSEAL_ENTROPY_BYTES 32
#define SUNSEAL_HASH_BYTES_MIN 20
#define SUNSEAL_HASH_BYTES_MAX 64

/*
 * Key generation
 * --------------
 * d and q from 32 bytes of full entropy, after FIPS 186-5: appendix A.2.1 for secp160r1, with 95
 * extra bits; A.2.2 for P-224 (over the first 28 bytes) and P-256, where one entropy in 2^112 and
 * 2^32 is refused. All take d from 0 to n-1 and refuse 0, where the appendix takes 0 to n-2 and
 * adds 1. Returns SUNSEAL_OK or SUNSEAL_ERR_ENTROPY. Constant-time.
 */
int sunseal_ecdsa_secp160r1_keygen(uint8_t d[21], uint8_t q[40], const uint8_t entropy[32]);
int sunseal_ecdsa_p224_keygen(uint8_t d[28], uint8_t q[56], const uint8_t entropy[32]);
int sunseal_ecdsa_p256_keygen(uint8_t d[32], uint8_t q[64], const uint8_t entropy[32]);

/*
 * Signature of a hash
 * -------------------
 * added_entropy should be fresh; if the source fails, the nonce falls back to a deterministic one.
 * A hash longer than the order is cut to its leftmost bits. The nonce's HMAC runs over SHA-256 for
 * P-224 and P-256 and over SHA-1 for secp160r1: SHA-1 as a keyed pseudorandom function is far above
 * the curve's 80 bits (no collision is of use there) and costs half.
 * Returns SUNSEAL_OK or SUNSEAL_ERR_PRIVATE_KEY. Constant-time.
 */
int sunseal_ecdsa_secp160r1_sign(uint8_t sig[42], const uint8_t d[21], const uint8_t *hash,
                                 size_t hash_len, const uint8_t added_entropy[32]);
int sunseal_ecdsa_p224_sign(uint8_t sig[56], const uint8_t d[28], const uint8_t *hash,
                            size_t hash_len, const uint8_t added_entropy[32]);
int sunseal_ecdsa_p256_sign(uint8_t sig[64], const uint8_t d[32], const uint8_t *hash,
                            size_t hash_len, const uint8_t added_entropy[32]);

/*
 * Signature in two parts
 * ----------------------
 * offline does all that needs no message, while there is energy: it draws k and keeps r and 1/k in
 * a coupon. online makes the signature of it with two modular products; the coupon is all zero
 * before s comes to be, so that it can serve only once (a used one gives SUNSEAL_ERR_COUPON). A
 * coupon is as secret as the key: who knows it and its signature knows d. Do not copy it.
 *
 * k is the entropy's alone, as a key of keygen is: it must be full, and never come twice. Where the
 * source may fail, use sign. offline returns SUNSEAL_OK or SUNSEAL_ERR_ENTROPY, online SUNSEAL_OK,
 * SUNSEAL_ERR_COUPON or SUNSEAL_ERR_PRIVATE_KEY (which leaves the coupon as it was). Constant-time.
 * Do not rely on the contents of the coupons.
 */
struct sunseal_ecdsa_secp160r1_coupon {
    uint32_t state;
    uint16_t r[12], r_scaled[12], k_inverse[12];
};
struct sunseal_ecdsa_p224_coupon {
    uint32_t state;
    uint16_t r[14], r_scaled[14], k_inverse[14];
};
struct sunseal_ecdsa_p256_coupon {
    uint32_t state;
    uint16_t r[16], r_scaled[16], k_inverse[16];
};

int sunseal_ecdsa_secp160r1_sign_offline(struct sunseal_ecdsa_secp160r1_coupon *coupon,
                                         const uint8_t entropy[32]);
int sunseal_ecdsa_p224_sign_offline(struct sunseal_ecdsa_p224_coupon *coupon,
                                    const uint8_t entropy[32]);
int sunseal_ecdsa_p256_sign_offline(struct sunseal_ecdsa_p256_coupon *coupon,
                                    const uint8_t entropy[32]);

int sunseal_ecdsa_secp160r1_sign_online(uint8_t sig[42],
                                        struct sunseal_ecdsa_secp160r1_coupon *coupon,
                                        const uint8_t d[21], const uint8_t *hash, size_t hash_len);
int sunseal_ecdsa_p224_sign_online(uint8_t sig[56], struct sunseal_ecdsa_p224_coupon *coupon,
                                   const uint8_t d[28], const uint8_t *hash, size_t hash_len);
int sunseal_ecdsa_p256_sign_online(uint8_t sig[64], struct sunseal_ecdsa_p256_coupon *coupon,
                                   const uint8_t d[32], const uint8_t *hash, size_t hash_len);

/*
 * Verification
 * ------------
 * Returns SUNSEAL_OK, or for the public key SUNSEAL_ERR_PUBLIC_KEY_RANGE, SUNSEAL_ERR_INFINITY (two
 * zeros) or SUNSEAL_ERR_PUBLIC_KEY, then for the signature SUNSEAL_ERR_SIGNATURE_RANGE,
 * SUNSEAL_ERR_INFINITY (u1 G + u2 Q is no point) or SUNSEAL_ERR_SIGNATURE. _vartime.
 */
int sunseal_ecdsa_secp160r1_verify(const uint8_t q[40], const uint8_t sig[42], const uint8_t *hash,
                                   size_t hash_len);
int sunseal_ecdsa_p224_verify(const uint8_t q[56], const uint8_t sig[56], const uint8_t *hash,
                              size_t hash_len);
int sunseal_ecdsa_p256_verify(const uint8_t q[64], const uint8_t sig[64], const uint8_t *hash,
                              size_t hash_len);

#ifdef __cplusplus
}
#endif

#endif
