/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_RSA_H
#define SUNSEAL_RSA_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * RSA with moduli of 1024 and 2048 bits and the public exponent 65537
 * ===================================================================
 *
 * RFC 8017: primitives (sections 5.1, 5.2), RSASSA-PKCS1-v1_5 with SHA-1 and SHA-256 (8.2),
 * RSASSA-PSS with SHA-256, MGF1 and a salt of 32 bytes (8.1), RSAES-OAEP with SHA-256, MGF1 and no
 * label (7.1). RSA-1024 has 80 bits of strength and SHA-1 collides: both are here for what the
 * papers did.
 *
 * All numbers are big-endian byte strings of fixed length, in RAM. The primes of a private key have
 * exactly half the modulus' bits; it carries n so that every result is checked before it is given
 * out.
 *
 * Key exchange (Piotrowski 2006, section 2: the RSA handshake of SSL): the client encrypts a secret
 * it has drawn to the server's key, sunseal_rsa*_encrypt_oaep; the server decrypts, *_decrypt_oaep.
 * OAEP stands in for the handshake's PKCS#1 v1.5, whose decryption cannot be used safely; the cost
 * is the same but for some hashing.
 *
 * Private operations take SUNSEAL_RSA_RANDOM_BYTES of full entropy, new for each call: the message
 * is blinded by r^e with a 127-bit r, each exponent by a 32-bit multiple of p-1 or q-1. A bad
 * source costs the blinding only, not the key. The result is raised to e again and compared before
 * it leaves, so that a fault in either half of the Chinese remainder computation never does.
 *
 * Timing: whatever takes a private key is constant-time; what takes n alone is _vartime. Whether a
 * private key is well-formed, whether the check failed and whether a ciphertext was genuine may
 * show.
 *
 * Interrupts: an interrupt routine must not call this library and must not touch the hardware
 * multiplier (or must save and restore it). Scratch memory is static: one call at a time.
 *
 * RAM in bytes, static, of the larger size that a program links:
 *
 *                       RSA-1024   RSA-2048
 *   MSP430 with MPY         1764       3492
 *   MSP430 without          1674       3338
 *   ATmega128               1696       2080
 *   Cortex-M4               1674       3338
 *
 * Stack in bytes, at most, with the return address:
 *
 *   public, verify_pkcs1             190
 *   all others                       550
 */

#define SUNSEAL_RSA_RANDOM_BYTES 24
#define SUNSEAL_RSA_SALT_BYTES 32
#define SUNSEAL_RSA_SEED_BYTES 32

#define SUNSEAL_RSA1024_BYTES 128
#define SUNSEAL_RSA2048_BYTES 256
/* The longest message of OAEP; a TLS premaster secret has 48 bytes. */
#define SUNSEAL_RSA1024_OAEP_BYTES 62
#define SUNSEAL_RSA2048_OAEP_BYTES 190

struct sunseal_rsa1024_key {
    uint8_t n[128];
    uint8_t p[64], q[64];
    uint8_t dp[64], dq[64]; /* 1/65537 mod p-1, mod q-1 */
    uint8_t qinv[64];       /* 1/q mod p */
};

struct sunseal_rsa2048_key {
    uint8_t n[256];
    uint8_t p[128], q[128];
    uint8_t dp[128], dq[128];
    uint8_t qinv[128];
};

/*
 * Errors of every function below, besides those it names:
 *
 *   SUNSEAL_ERR_NULL       a buffer is missing
 *   SUNSEAL_ERR_OVERLAP    the output lies across an input; it may be the argument of a primitive
 *   SUNSEAL_ERR_RSA_ZERO   a number of the key is 0
 *   SUNSEAL_ERR_RSA_SIZE   n, p or q has its top bit clear: it is shorter than this size's
 *   SUNSEAL_ERR_RSA_EVEN   n, p or q is even
 *   SUNSEAL_ERR_RSA_FAULT  (private key) the result does not lead back to the input: the numbers of
 * the key do not belong together, or the computation was disturbed
 */

/*
 * Primitives
 * ----------
 * out = in^e mod n, or in^d mod n; out may be in. SUNSEAL_ERR_RSA_RANGE: in is not below n.
 * Padding makes RSA secure: use the functions further below.
 */
int sunseal_rsa1024_public(uint8_t out[128], const uint8_t n[128], const uint8_t in[128]);
int sunseal_rsa2048_public(uint8_t out[256], const uint8_t n[256], const uint8_t in[256]);
int sunseal_rsa1024_private(uint8_t out[128], const struct sunseal_rsa1024_key *key,
                            const uint8_t in[128], const uint8_t random[24]);
int sunseal_rsa2048_private(uint8_t out[256], const struct sunseal_rsa2048_key *key,
                            const uint8_t in[256], const uint8_t random[24]);

/*
 * Signature of a hash
 * -------------------
 * verify answers SUNSEAL_OK or SUNSEAL_ERR_SIGNATURE; PKCS#1 v1.5
 * takes the one encoding with NULL parameters only.
 */
int sunseal_rsa1024_sign_pkcs1_sha1(uint8_t sig[128], const struct sunseal_rsa1024_key *key,
                                    const uint8_t hash[20], const uint8_t random[24]);
int sunseal_rsa1024_sign_pkcs1_sha256(uint8_t sig[128], const struct sunseal_rsa1024_key *key,
                                      const uint8_t hash[32], const uint8_t random[24]);
int sunseal_rsa1024_sign_pss_sha256(uint8_t sig[128], const struct sunseal_rsa1024_key *key,
                                    const uint8_t hash[32], const uint8_t salt[32],
                                    const uint8_t random[24]);
int sunseal_rsa1024_verify_pkcs1_sha1(const uint8_t n[128], const uint8_t sig[128],
                                      const uint8_t hash[20]);
int sunseal_rsa1024_verify_pkcs1_sha256(const uint8_t n[128], const uint8_t sig[128],
                                        const uint8_t hash[32]);
int sunseal_rsa1024_verify_pss_sha256(const uint8_t n[128], const uint8_t sig[128],
                                      const uint8_t hash[32]);

int sunseal_rsa2048_sign_pkcs1_sha1(uint8_t sig[256], const struct sunseal_rsa2048_key *key,
                                    const uint8_t hash[20], const uint8_t random[24]);
int sunseal_rsa2048_sign_pkcs1_sha256(uint8_t sig[256], const struct sunseal_rsa2048_key *key,
                                      const uint8_t hash[32], const uint8_t random[24]);
int sunseal_rsa2048_sign_pss_sha256(uint8_t sig[256], const struct sunseal_rsa2048_key *key,
                                    const uint8_t hash[32], const uint8_t salt[32],
                                    const uint8_t random[24]);
int sunseal_rsa2048_verify_pkcs1_sha1(const uint8_t n[256], const uint8_t sig[256],
                                      const uint8_t hash[20]);
int sunseal_rsa2048_verify_pkcs1_sha256(const uint8_t n[256], const uint8_t sig[256],
                                        const uint8_t hash[32]);
int sunseal_rsa2048_verify_pss_sha256(const uint8_t n[256], const uint8_t sig[256],
                                      const uint8_t hash[32]);

/*
 * Key exchange
 * ------------
 * encrypt hides a message of at most SUNSEAL_RSA*_OAEP_BYTES; seed is 32 bytes of full entropy, and
 * the message's bytes have no part in its timing. decrypt takes the length that the protocol lays
 * down, so that no length need be told; any other message is an error like any other forgery:
 *
 *   SUNSEAL_ERR_LENGTH      message_len is above SUNSEAL_RSA*_OAEP_BYTES
 *   SUNSEAL_ERR_DECRYPTION  the ciphertext is not one of message_len bytes for this key
 *   SUNSEAL_ERR_RSA_RANGE   the ciphertext is not below n
 */
int sunseal_rsa1024_encrypt_oaep(uint8_t out[128], const uint8_t n[128], const uint8_t *message,
                                 size_t message_len, const uint8_t seed[32]);
int sunseal_rsa1024_decrypt_oaep(uint8_t *message, size_t message_len,
                                 const struct sunseal_rsa1024_key *key, const uint8_t in[128],
                                 const uint8_t random[24]);
int sunseal_rsa2048_encrypt_oaep(uint8_t out[256], const uint8_t n[256], const uint8_t *message,
                                 size_t message_len, const uint8_t seed[32]);
int sunseal_rsa2048_decrypt_oaep(uint8_t *message, size_t message_len,
                                 const struct sunseal_rsa2048_key *key, const uint8_t in[256],
                                 const uint8_t random[24]);

#ifdef __cplusplus
}
#endif

#endif
