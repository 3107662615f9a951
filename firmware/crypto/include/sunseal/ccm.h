/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CCM_H
#define SUNSEAL_CCM_H

#include "sunseal/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CCM (SP 800-38C)
 * ================
 *
 * Authenticated encryption over any cipher with 128-bit blocks. A nonce must never be used twice
 * under one key.
 *
 *   nonce_len   7 to 13 bytes               else SUNSEAL_ERR_NONCE_LENGTH
 *   tag_len     4, 6, 8, 10, 12, 14 or 16   else SUNSEAL_ERR_TAG_LENGTH
 *   len         below 2^(8 (15 - nonce_len))   else SUNSEAL_ERR_LENGTH
 *
 * seal writes len bytes of ciphertext and the tag; open checks the tag first to last byte in
 * constant time and answers SUNSEAL_ERR_TAG, with the plaintext wiped, where it is wrong. In place
 * is allowed. Others: SUNSEAL_ERR_NULL, SUNSEAL_ERR_OVERLAP, SUNSEAL_ERR_UNSUPPORTED (the cipher's
 * block is not 16 bytes), or what the engine answers. Timing: the cipher's.
 * Stack in bytes, at most: the cipher's and 130 (Cortex-M4: 220); ccm_*_once: 390 (600) besides.
 */
#define SUNSEAL_CCM_NONCE_BYTES_MIN 7
#define SUNSEAL_CCM_NONCE_BYTES_MAX 13

/* What is not encrypted: the nonce and the data that the tag covers besides. */
struct sunseal_ccm_public {
    const uint8_t *nonce;
    size_t nonce_len;
    const uint8_t *aad;
    size_t aad_len;
};

int sunseal_ccm_seal(const struct sunseal_block *cipher, const void *schedule,
                     const struct sunseal_ccm_public *header, uint8_t *out, const uint8_t *in,
                     size_t len, uint8_t *tag, size_t tag_len);
int sunseal_ccm_open(const struct sunseal_block *cipher, const void *schedule,
                     const struct sunseal_ccm_public *header, uint8_t *out, const uint8_t *in,
                     size_t len, const uint8_t *tag, size_t tag_len);

/* With a key that is used once. */
int sunseal_ccm_seal_once(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                          const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
                          size_t aad_len, uint8_t *out, const uint8_t *in, size_t len, uint8_t *tag,
                          size_t tag_len);
int sunseal_ccm_open_once(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                          const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
                          size_t aad_len, uint8_t *out, const uint8_t *in, size_t len,
                          const uint8_t *tag, size_t tag_len);

#ifdef __cplusplus
}
#endif

#endif
