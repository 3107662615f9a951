/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_HMAC_H
#define SUNSEAL_HMAC_H

#include "sunseal/sha.h"

/*
 * HMAC (RFC 2104) for keys up to one block. The two key blocks are compressed once (key) and
 * serve any number of messages (begin, sunseal_sha*_update, end).
 */

struct sunseal_hmac_sha1 {
    uint32_t inner[5], outer[5];
    struct sunseal_sha1 hash;
};

struct sunseal_hmac_sha256 {
    uint32_t inner[8], outer[8];
    struct sunseal_sha256 hash;
};

void sunseal_hmac_sha1_key(struct sunseal_hmac_sha1 *hmac, const uint8_t *key, size_t key_len);
void sunseal_hmac_sha1_begin(struct sunseal_hmac_sha1 *hmac);
void sunseal_hmac_sha1_end(struct sunseal_hmac_sha1 *hmac, uint8_t tag[20]);

void sunseal_hmac_sha256_key(struct sunseal_hmac_sha256 *hmac, const uint8_t *key, size_t key_len);
void sunseal_hmac_sha256_begin(struct sunseal_hmac_sha256 *hmac);
void sunseal_hmac_sha256_end(struct sunseal_hmac_sha256 *hmac, uint8_t tag[32]);

#endif
