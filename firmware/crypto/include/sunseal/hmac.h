/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_HMAC_H
#define SUNSEAL_HMAC_H

#include "sunseal/error.h"
#include "sunseal/sha.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * HMAC (RFC 2104, FIPS 198-1) over SHA-1 and SHA-256
 * ==================================================
 *
 *   key       take a key of any length; its two blocks are compressed once and serve any number of
 *             messages
 *   begin     start a message
 *   update    append bytes; any number of calls
 *   end       write the tag; the key stays. Wipe the structure when the key is no longer needed
 *   (none)    all of it for a message that lies in one piece; the tag may overlap it
 *   verify    compare a tag, whole or cut
 *
 * Return SUNSEAL_OK, SUNSEAL_ERR_NULL (a structure, a tag, or a key or data with bytes in it) or
 * SUNSEAL_ERR_OVERLAP (a structure and another argument); then nothing is written.
 *
 * Constant time in key, data and tag; time depends on lengths only.
 *
 * Stack in bytes, at most, with the return address:
 *
 *                 SHA-1   SHA-256
 *   key             400       380
 *   begin            30        30
 *   update          370       340
 *   end             370       340
 *   (none)          530       540
 *   verify          570       590
 */

struct sunseal_hmac_sha1 {
    uint32_t inner[5], outer[5];
    struct sunseal_sha1 hash;
};

struct sunseal_hmac_sha256 {
    uint32_t inner[8], outer[8];
    struct sunseal_sha256 hash;
};

int sunseal_hmac_sha1_key(struct sunseal_hmac_sha1 *hmac, const uint8_t *key, size_t key_len);
int sunseal_hmac_sha1_begin(struct sunseal_hmac_sha1 *hmac);
int sunseal_hmac_sha1_update(struct sunseal_hmac_sha1 *hmac, const void *data, size_t data_len);
int sunseal_hmac_sha1_end(struct sunseal_hmac_sha1 *hmac, uint8_t tag[SUNSEAL_SHA1_BYTES]);
int sunseal_hmac_sha1(uint8_t tag[SUNSEAL_SHA1_BYTES], const uint8_t *key, size_t key_len,
                      const void *data, size_t data_len);

int sunseal_hmac_sha256_key(struct sunseal_hmac_sha256 *hmac, const uint8_t *key, size_t key_len);
int sunseal_hmac_sha256_begin(struct sunseal_hmac_sha256 *hmac);
int sunseal_hmac_sha256_update(struct sunseal_hmac_sha256 *hmac, const void *data, size_t data_len);
int sunseal_hmac_sha256_end(struct sunseal_hmac_sha256 *hmac, uint8_t tag[SUNSEAL_SHA256_BYTES]);
int sunseal_hmac_sha256(uint8_t tag[SUNSEAL_SHA256_BYTES], const uint8_t *key, size_t key_len,
                        const void *data, size_t data_len);

/*
 * The tag may be the leftmost tag_len bytes: at least half of it and 10 bytes (RFC 2104, section
 * 5). Returns SUNSEAL_OK, SUNSEAL_ERR_NULL, SUNSEAL_ERR_TAG_LENGTH or SUNSEAL_ERR_TAG.
 */
int sunseal_hmac_sha1_verify(const uint8_t *tag, size_t tag_len, const uint8_t *key, size_t key_len,
                             const void *data, size_t data_len);
int sunseal_hmac_sha256_verify(const uint8_t *tag, size_t tag_len, const uint8_t *key,
                               size_t key_len, const void *data, size_t data_len);

#ifdef __cplusplus
}
#endif

#endif
