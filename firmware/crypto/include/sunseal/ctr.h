/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CTR_H
#define SUNSEAL_CTR_H

#include "sunseal/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Counter mode (SP 800-38A, section 6.5)
 * ======================================
 *
 * The counter block is incremented as one big-endian number (appendix B.1, m = all bits). A
 * counter must never be used twice under one key. Encryption and decryption are the same.
 *
 *   init     start a message at a counter
 *   update   go on with it; any number of calls, any lengths
 *   ctr      a whole message with a key that is used once
 *
 * In place is allowed. Return SUNSEAL_OK, SUNSEAL_ERR_NULL, SUNSEAL_ERR_OVERLAP,
 * SUNSEAL_ERR_LENGTH (key length) or what the engine answers. Timing: the cipher's.
 * Stack in bytes, at most: the cipher's and 90 (Cortex-M4: 190); ctr: 410 (610) besides.
 */
struct sunseal_ctr {
    const struct sunseal_block *cipher;
    const void *schedule;
    uint8_t counter[SUNSEAL_BLOCK_BYTES_MAX];
    uint8_t stream[SUNSEAL_BLOCK_BYTES_MAX];
    uint8_t left; /* bytes of stream that are not used yet */
};

int sunseal_ctr_init(struct sunseal_ctr *ctr, const struct sunseal_block *cipher,
                     const void *schedule, const uint8_t *counter);
int sunseal_ctr_update(struct sunseal_ctr *ctr, uint8_t *out, const uint8_t *in, size_t len);

int sunseal_ctr(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                const uint8_t *counter, uint8_t *out, const uint8_t *in, size_t len);

#ifdef __cplusplus
}
#endif

#endif
