/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_SHA_H
#define SUNSEAL_SHA_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * SHA-1, SHA-256 and SHA-512 (FIPS 180-4)
 * =======================================
 *
 *   init      start an empty message
 *   update    append bytes; any number of calls
 *   final     write the digest and wipe the context
 *   (none)    all three for a message that lies in one piece; the digest may overlap it
 *
 * Return SUNSEAL_OK, SUNSEAL_ERR_NULL (a context, a digest, or data with bytes in it) or
 * SUNSEAL_ERR_OVERLAP (a context and the data or digest); then nothing is written.
 *
 * Constant time in the data; time depends on lengths only. Messages end below 2^32 bytes.
 * Do not rely on the size or contents of the contexts.
 *
 * Stack in bytes, at most, with the return address:
 *
 *                 SHA-1   SHA-256   SHA-512
 *   init             30        30        30
 *   update          370       330       750
 *   final           360       330       750
 *   (none)          460       440       950
 */

#define SUNSEAL_SHA1_BYTES 20
#define SUNSEAL_SHA256_BYTES 32
#define SUNSEAL_SHA512_BYTES 64
#define SUNSEAL_SHA_BLOCK_BYTES 64 /* of SHA-1 and SHA-256 */
#define SUNSEAL_SHA512_BLOCK_BYTES 128

struct sunseal_sha1 {
    uint32_t state[5];
    uint32_t length_bytes;
    uint8_t block[SUNSEAL_SHA_BLOCK_BYTES];
};

struct sunseal_sha256 {
    uint32_t state[8];
    uint32_t length_bytes;
    uint8_t block[SUNSEAL_SHA_BLOCK_BYTES];
};

struct sunseal_sha512 {
    uint64_t state[8];
    uint32_t length_bytes;
    uint8_t block[SUNSEAL_SHA512_BLOCK_BYTES];
};

int sunseal_sha1_init(struct sunseal_sha1 *context);
int sunseal_sha1_update(struct sunseal_sha1 *context, const void *data, size_t data_len);
int sunseal_sha1_final(struct sunseal_sha1 *context, uint8_t digest[SUNSEAL_SHA1_BYTES]);
int sunseal_sha1(uint8_t digest[SUNSEAL_SHA1_BYTES], const void *data, size_t data_len);

int sunseal_sha256_init(struct sunseal_sha256 *context);
int sunseal_sha256_update(struct sunseal_sha256 *context, const void *data, size_t data_len);
int sunseal_sha256_final(struct sunseal_sha256 *context, uint8_t digest[SUNSEAL_SHA256_BYTES]);
int sunseal_sha256(uint8_t digest[SUNSEAL_SHA256_BYTES], const void *data, size_t data_len);

int sunseal_sha512_init(struct sunseal_sha512 *context);
int sunseal_sha512_update(struct sunseal_sha512 *context, const void *data, size_t data_len);
int sunseal_sha512_final(struct sunseal_sha512 *context, uint8_t digest[SUNSEAL_SHA512_BYTES]);
int sunseal_sha512(uint8_t digest[SUNSEAL_SHA512_BYTES], const void *data, size_t data_len);

#ifdef __cplusplus
}
#endif

#endif
