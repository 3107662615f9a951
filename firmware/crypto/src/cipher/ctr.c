/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "bytes.h"
#include "cipher.h"
#include "sunseal/ctr.h"
#include "sunseal/wipe.h"

void sunseal_counter_next(uint8_t *counter, size_t len) {
    uint32_t low = sunseal_load_big32(counter + len - 4) + 1;
    sunseal_store_big32(counter + len - 4, low);
    /* Once in 2^32 blocks; counters are public. */
    if (low == 0) {
        for (len -= 4; len-- > 0 && ++counter[len] == 0;) {
        }
    }
}

int sunseal_ctr_blocks(const struct sunseal_block *cipher, const void *schedule, uint8_t *out,
                       const uint8_t *in, uint8_t *counter, size_t blocks) {
    if (cipher->ctr != NULL) {
        return cipher->ctr(schedule, out, in, counter, blocks);
    }
    uint8_t block = cipher->block_bytes;
    uint8_t stream[2 * SUNSEAL_BLOCK_BYTES_MAX];
    int error = SUNSEAL_OK;
    while (blocks > 0 && error == SUNSEAL_OK) {
        uint8_t now = cipher->together > 1 && blocks > 1 ? 2 : 1;
        uint8_t bytes = 0;
        for (uint8_t i = 0; i < now; i++) {
            memcpy(stream + bytes, counter, block);
            sunseal_counter_next(counter, block);
            bytes = (uint8_t)(bytes + block);
        }
        error = cipher->encrypt(schedule, stream, stream, now);
        for (uint8_t i = 0; i < bytes; i++) {
            *out++ = *in++ ^ stream[i];
        }
        blocks -= now;
    }
    sunseal_wipe(stream, sizeof stream);
    return error;
}

int sunseal_ctr_init(struct sunseal_ctr *ctr, const struct sunseal_block *cipher,
                     const void *schedule, const uint8_t *counter) {
    if (ctr == NULL || cipher == NULL || schedule == NULL || counter == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    ctr->cipher = cipher;
    ctr->schedule = schedule;
    memcpy(ctr->counter, counter, cipher->block_bytes);
    ctr->left = 0;
    return SUNSEAL_OK;
}

int sunseal_ctr_update(struct sunseal_ctr *ctr, uint8_t *out, const uint8_t *in, size_t len) {
    if (ctr == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    SUNSEAL_REQUIRE(out, len, in, len, true);
    uint8_t *begin = out;
    size_t whole = len;
    uint8_t block = ctr->cipher->block_bytes;
    for (; len > 0 && ctr->left > 0; len--, ctr->left--) {
        *out++ = *in++ ^ ctr->stream[block - ctr->left];
    }
    size_t blocks = len / block, bytes = blocks * block;
    int error = sunseal_ctr_blocks(ctr->cipher, ctr->schedule, out, in, ctr->counter, blocks);
    out += bytes;
    in += bytes;
    len -= bytes;
    if (error == SUNSEAL_OK && len > 0) {
        memset(ctr->stream, 0, block);
        error = sunseal_ctr_blocks(ctr->cipher, ctr->schedule, ctr->stream, ctr->stream,
                                   ctr->counter, 1);
        ctr->left = (uint8_t)(block - len);
        for (uint8_t i = 0; i < len; i++) {
            out[i] = in[i] ^ ctr->stream[i];
        }
    }
    if (error != SUNSEAL_OK) {
        sunseal_wipe(begin, whole);
        sunseal_wipe(ctr->stream, sizeof ctr->stream);
        ctr->left = 0;
    }
    return error;
}

int sunseal_ctr(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                const uint8_t *counter, uint8_t *out, const uint8_t *in, size_t len) {
    SUNSEAL_SCHEDULE_ONCE(schedule);
    struct sunseal_ctr ctr;
    if (counter == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    int error = sunseal_block_set_key(cipher, schedule, key, key_len);
    if (error == SUNSEAL_OK) {
        error = sunseal_ctr_init(&ctr, cipher, schedule, counter);
        if (error == SUNSEAL_OK) {
            error = sunseal_ctr_update(&ctr, out, in, len);
        }
        sunseal_wipe(schedule, sizeof schedule);
        sunseal_wipe(&ctr, sizeof ctr);
    }
    return error;
}
