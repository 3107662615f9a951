/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_RSA_INTERNAL_H
#define SUNSEAL_RSA_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "verdict.h"

/*
 * Montgomery arithmetic of any length
 * -----------------------------------
 * Numbers are 16-bit words, least significant first, aligned to 4 bytes; count is a multiple of 32.
 * R = 2^(16 count); every operand is below R, not only below the modulus, and so is every result.
 * Constant-time in the data.
 *
 * The MSP430's kernels walk over one factor upwards and over the other downwards. Since its only
 * cheap way to walk is upwards, they read a copy of the modulus whose limbs (of the multiplier's
 * size) stand in reverse; it lies behind the modulus.
 */
#if defined(__MSP430__) && SUNSEAL_MPY == 32
#define SUNSEAL_RSA_REVERSED_LIMB 2
#define SUNSEAL_RSA_COPIES 2
#elif defined(__MSP430__) && SUNSEAL_MPY == 16
#define SUNSEAL_RSA_REVERSED_LIMB 1
#define SUNSEAL_RSA_COPIES 2
#else
#define SUNSEAL_RSA_REVERSED_LIMB 0
#define SUNSEAL_RSA_COPIES 1
#endif

/* The assemblers know these offsets. */
struct sunseal_rsa_modulus {
    uint16_t *words;   /* odd, the top bit set */
    uint16_t *scratch; /* 2 count words */
    uint32_t inverse;  /* -1/modulus mod 2^32 */
    uint16_t count;
};

/* r = a b / R; r may be a or b. */
void sunseal_rsa_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b,
                         const struct sunseal_rsa_modulus *m);
/* r = a a / R; r may be a. */
void sunseal_rsa_montsqr(uint16_t *r, const uint16_t *a, const struct sunseal_rsa_modulus *m);
/* r = entry index of a table of so many entries of count words; reads all of them. */
void sunseal_rsa_pick(uint16_t *r, const uint16_t *table, uint16_t index, uint16_t entries,
                      uint16_t count);

/*
 * The primitives for both sizes
 * -----------------------------
 */
/* ATmega128, RSA-2048: 8 table entries, since 16 would fill half of its RAM, and R^2 mod n is made
 * twice. */
#if defined(__AVR__)
#define SUNSEAL_RSA_SMALL(half) ((half) > 32)
#else
#define SUNSEAL_RSA_SMALL(half) 0
#endif
#define SUNSEAL_RSA_WINDOW(half) (SUNSEAL_RSA_SMALL(half) ? 3 : 4)
/* Words of scratch; the layout is in rsa_core.c. */
#define SUNSEAL_RSA_SCRATCH(half)                                                                  \
    (((1u << SUNSEAL_RSA_WINDOW(half)) + 7 + SUNSEAL_RSA_COPIES +                                  \
      (SUNSEAL_RSA_SMALL(half) ? 0 : 2)) *                                                         \
         (half) +                                                                                  \
     4)

struct sunseal_rsa_size {
    uint16_t *scratch;
    uint16_t half;   /* words of a prime */
    uint16_t window; /* bits of an exponent's digit */
    uint16_t *kept;  /* room for R^2 mod n, or none */
};

/* Where the parts of a key lie. */
struct sunseal_rsa_key {
    const uint8_t *n, *p, *q, *dp, *dq, *qinv;
};

/* One bit of outcome (or which rule a key breaks) goes through this byte, and nothing else that
 * hangs on a secret is branched on: an observer of secrets may take it as public. */
extern volatile uint8_t sunseal_rsa_verdict;

/* The result stands in the first 4 half bytes of scratch, as big-endian bytes. Scratch is not
 * wiped. */
int sunseal_rsa_public(const uint8_t *n, const uint8_t *in, const struct sunseal_rsa_size *size);
int sunseal_rsa_private(const struct sunseal_rsa_key *key, const uint8_t *in,
                        const uint8_t random[24], const struct sunseal_rsa_size *size);

/*
 * Paddings of RFC 8017, for k bytes
 * ---------------------------------
 */
#define SUNSEAL_RSA_PREFIX_BYTES 19
struct sunseal_rsa_hash {
    uint8_t prefix_len, hash_len;
    uint8_t prefix[SUNSEAL_RSA_PREFIX_BYTES];
};
extern const struct sunseal_rsa_hash sunseal_rsa_sha1, sunseal_rsa_sha256;

void sunseal_rsa_pkcs1_encode(uint8_t *em, const uint8_t *hash,
                              const struct sunseal_rsa_hash *which, size_t k);
/* Bytes behind which k more are free, held to what they must be. */
void sunseal_rsa_pkcs1_compare(struct sunseal_verdict *verdict, uint8_t *em, const uint8_t *hash,
                               const struct sunseal_rsa_hash *which, size_t k);
void sunseal_rsa_pss_encode(uint8_t *em, const uint8_t hash[32], const uint8_t salt[32], size_t k);
/* The same; unmasks em in place. */
void sunseal_rsa_pss_compare(struct sunseal_verdict *verdict, uint8_t *em, const uint8_t hash[32],
                             size_t k);
void sunseal_rsa_oaep_encode(uint8_t *em, const uint8_t *message, size_t message_len,
                             const uint8_t seed[32], size_t k);
/* The same; the message stands at the end of em. */
void sunseal_rsa_oaep_compare(struct sunseal_verdict *verdict, uint8_t *em, size_t message_len,
                              size_t k);

#endif
