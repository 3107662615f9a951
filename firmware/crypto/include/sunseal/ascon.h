/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ASCON_H
#define SUNSEAL_ASCON_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Ascon-AEAD128 and Ascon-Hash256 (NIST SP 800-232)
 * =================================================
 *
 * Constant-time in every sense. A nonce must never be used twice under one key.
 *
 *   aead128_seal    ciphertext of len bytes and a tag of 16
 *   aead128_open    answers SUNSEAL_ERR_TAG, with the plaintext wiped, where the tag is wrong
 *   hash256         the digest of a message; init, update and final for one that comes in pieces
 *
 * Tags have 16 bytes, or fewer where the application cuts them: the standard allows no fewer than
 * 32 bits, this library no fewer than 8 bytes; any other length is SUNSEAL_ERR_TAG_LENGTH. In place
 * is allowed; other overlaps are SUNSEAL_ERR_OVERLAP, a null pointer to bytes SUNSEAL_ERR_NULL.
 *
 * Stack in bytes, at most, with the return address:
 *
 *                   MSP430   ATmega128L   Cortex-M4
 *   aead128_seal       160          160         320
 *   aead128_open       160          160         320
 *   hash256            100          100         170
 */
#define SUNSEAL_ASCON_KEY_BYTES 16
#define SUNSEAL_ASCON_NONCE_BYTES 16
#define SUNSEAL_ASCON_TAG_BYTES 16
#define SUNSEAL_ASCON_HASH256_BYTES 32

int sunseal_ascon_aead128_seal(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad,
                               size_t aad_len, uint8_t *out, const uint8_t *in, size_t len,
                               uint8_t *tag, size_t tag_len);
int sunseal_ascon_aead128_open(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad,
                               size_t aad_len, uint8_t *out, const uint8_t *in, size_t len,
                               const uint8_t *tag, size_t tag_len);

/* Do not rely on the contents. */
struct sunseal_ascon_state {
    uint32_t half[10];
};

struct sunseal_ascon_hash256 {
    struct sunseal_ascon_state state;
    uint8_t block[8];
    uint8_t used;
};

/* Return SUNSEAL_OK, SUNSEAL_ERR_NULL or SUNSEAL_ERR_OVERLAP (a context and the data or digest);
 * then nothing is written. The digest of the call that does it all may overlap the data. */
int sunseal_ascon_hash256_init(struct sunseal_ascon_hash256 *hash);
int sunseal_ascon_hash256_update(struct sunseal_ascon_hash256 *hash, const void *data, size_t len);
/* Writes the digest and wipes the context, which must not overlap it. */
int sunseal_ascon_hash256_final(struct sunseal_ascon_hash256 *hash, uint8_t digest[32]);
int sunseal_ascon_hash256(uint8_t digest[32], const void *data, size_t len);

#ifdef __cplusplus
}
#endif

#endif
