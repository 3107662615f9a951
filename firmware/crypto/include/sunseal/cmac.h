/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CMAC_H
#define SUNSEAL_CMAC_H

#include "sunseal/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CMAC (SP 800-38B)
 * =================
 *
 *   init      start a message under a key schedule
 *   update    append bytes; any number of calls
 *   final     write the tag and wipe the context
 *   verify    compare the tag with the one given, in constant time, and wipe the context
 *   cmac, cmac_check   a whole message with a key that is used once
 *
 * Tags have 8 bytes up to the cipher's block (appendix A.2: no fewer than 64 bits); any other
 * length is SUNSEAL_ERR_TAG_LENGTH. Others: SUNSEAL_OK, SUNSEAL_ERR_TAG (it is not the message's),
 * SUNSEAL_ERR_NULL, SUNSEAL_ERR_LENGTH (key length), or what the engine answers. Timing: the
 * cipher's. Stack in bytes, at most: the cipher's and 50 (Cortex-M4: 90); with a key that is used
 * once: 430 (620) besides.
 */
struct sunseal_cmac {
    const struct sunseal_block *cipher;
    const void *schedule;
    uint8_t chain[SUNSEAL_BLOCK_BYTES_MAX];
    uint8_t block[SUNSEAL_BLOCK_BYTES_MAX];
    uint8_t used; /* bytes in block; the last block stays here until final */
    int error;    /* the first that came from the engine */
};

int sunseal_cmac_init(struct sunseal_cmac *cmac, const struct sunseal_block *cipher,
                      const void *schedule);
int sunseal_cmac_update(struct sunseal_cmac *cmac, const uint8_t *data, size_t len);
int sunseal_cmac_final(struct sunseal_cmac *cmac, uint8_t *tag, size_t tag_len);
int sunseal_cmac_verify(struct sunseal_cmac *cmac, const uint8_t *tag, size_t tag_len);

int sunseal_cmac(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                 const uint8_t *data, size_t len, uint8_t *tag, size_t tag_len);
int sunseal_cmac_check(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                       const uint8_t *data, size_t len, const uint8_t *tag, size_t tag_len);

#ifdef __cplusplus
}
#endif

#endif
