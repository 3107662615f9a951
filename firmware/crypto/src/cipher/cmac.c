/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../mp/mp.h"
#include "../verdict.h"
#include "cipher.h"
#include "sunseal/cmac.h"
#include "sunseal/wipe.h"

#define TAG_BYTES_MIN 8

int sunseal_cmac_init(struct sunseal_cmac *cmac, const struct sunseal_block *cipher,
                      const void *schedule) {
    if (cmac == NULL || cipher == NULL || schedule == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    memset(cmac, 0, sizeof *cmac);
    cmac->cipher = cipher;
    cmac->schedule = schedule;
    return SUNSEAL_OK;
}

/* chain = E(chain ^ block) */
static void chain(struct sunseal_cmac *cmac) {
    uint8_t block = cmac->cipher->block_bytes;
    for (uint8_t i = 0; i < block; i++) {
        cmac->chain[i] ^= cmac->block[i];
    }
    int error = cmac->cipher->encrypt(cmac->schedule, cmac->chain, cmac->chain, 1);
    if (cmac->error == SUNSEAL_OK) {
        cmac->error = error;
    }
}

int sunseal_cmac_update(struct sunseal_cmac *cmac, const uint8_t *data, size_t len) {
    if (cmac == NULL || cmac->cipher == NULL || (data == NULL && len > 0)) {
        return SUNSEAL_ERR_NULL;
    }
    uint8_t block = cmac->cipher->block_bytes;
    while (len > 0) {
        /* A full block waits: whether it is the last one decides how it is treated. */
        if (cmac->used == block) {
            chain(cmac);
            cmac->used = 0;
        }
        uint8_t part = (uint8_t)(block - cmac->used);
        if (part > len) {
            part = (uint8_t)len;
        }
        memcpy(cmac->block + cmac->used, data, part);
        cmac->used = (uint8_t)(cmac->used + part);
        data += part;
        len -= part;
    }
    return cmac->error;
}

/* SP 800-38B, section 5.3: doubling in GF(2^128) or GF(2^64), without a branch on the top bits. */
static void twice(uint8_t *k, uint8_t block) {
    uint16_t fold =
        sunseal_mp_mask_high((uint16_t)((uint16_t)k[0] << 8)) & (block == 16 ? 0x87 : 0x1b);
    for (uint8_t i = 0; i < block - 1; i++) {
        k[i] = (uint8_t)((uint8_t)(k[i] << 1) |
                         (sunseal_mp_mask_high((uint16_t)((uint16_t)k[i + 1] << 8)) & 1));
    }
    k[block - 1] = (uint8_t)((unsigned)(k[block - 1] << 1) ^ fold);
}

static int finish(struct sunseal_cmac *cmac, uint8_t full[SUNSEAL_BLOCK_BYTES_MAX]) {
    uint8_t block = cmac->cipher->block_bytes;
    memset(full, 0, SUNSEAL_BLOCK_BYTES_MAX);
    int error = cmac->cipher->encrypt(cmac->schedule, full, full, 1);
    if (cmac->error == SUNSEAL_OK) {
        cmac->error = error;
    }
    twice(full, block);
    if (cmac->used < block) {
        twice(full, block);
        cmac->block[cmac->used] = 0x80;
        memset(cmac->block + cmac->used + 1, 0, (size_t)(block - cmac->used - 1));
    }
    for (uint8_t i = 0; i < block; i++) {
        cmac->block[i] ^= full[i];
    }
    chain(cmac);
    memcpy(full, cmac->chain, block);
    error = cmac->error;
    sunseal_wipe(cmac, sizeof *cmac);
    return error;
}

static int check_tag(const struct sunseal_cmac *cmac, const uint8_t *tag, size_t tag_len) {
    if (cmac == NULL || cmac->cipher == NULL || tag == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    if (tag_len < TAG_BYTES_MIN || tag_len > cmac->cipher->block_bytes) {
        return SUNSEAL_ERR_TAG_LENGTH;
    }
    return SUNSEAL_OK;
}

int sunseal_cmac_final(struct sunseal_cmac *cmac, uint8_t *tag, size_t tag_len) {
    uint8_t full[SUNSEAL_BLOCK_BYTES_MAX];
    int error = check_tag(cmac, tag, tag_len);
    if (error == SUNSEAL_OK) {
        error = finish(cmac, full);
        if (error == SUNSEAL_OK) {
            memcpy(tag, full, tag_len);
        } else {
            memset(tag, 0, tag_len);
        }
        sunseal_wipe(full, sizeof full);
    }
    return error;
}

/* The verdict says what is left to say after it, where no error is returned. */
static int compare(struct sunseal_verdict *verdict, struct sunseal_cmac *cmac, const uint8_t *tag,
                   size_t tag_len) {
    uint8_t full[SUNSEAL_BLOCK_BYTES_MAX];
    int error = check_tag(cmac, tag, tag_len);
    if (error == SUNSEAL_OK) {
        error = finish(cmac, full);
        sunseal_verdict_add(verdict, full, tag, tag_len);
        sunseal_wipe(full, sizeof full);
    }
    return error;
}

int sunseal_cmac_verify(struct sunseal_cmac *cmac, const uint8_t *tag, size_t tag_len) {
    struct sunseal_verdict verdict;
    sunseal_verdict_begin(&verdict);
    int error = compare(&verdict, cmac, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return sunseal_refused(error);
    }
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, tag_len, SUNSEAL_ERR_TAG));
}

/* Writes the tag, or compares the given one. */
static int whole(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                 const uint8_t *data, size_t len, uint8_t *tag, struct sunseal_verdict *verdict,
                 const uint8_t *given, size_t tag_len) {
    SUNSEAL_SCHEDULE_ONCE(schedule);
    struct sunseal_cmac cmac;
    int error = sunseal_block_set_key(cipher, schedule, key, key_len);
    if (error != SUNSEAL_OK) {
        return error;
    }
    sunseal_cmac_init(&cmac, cipher, schedule);
    error = check_tag(&cmac, given, tag_len);
    if (error == SUNSEAL_OK) {
        error = sunseal_cmac_update(&cmac, data, len);
    }
    if (error == SUNSEAL_OK) {
        error = tag != NULL ? sunseal_cmac_final(&cmac, tag, tag_len)
                            : compare(verdict, &cmac, given, tag_len);
    }
    sunseal_wipe(schedule, sizeof schedule);
    sunseal_wipe(&cmac, sizeof cmac);
    return error;
}

int sunseal_cmac(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                 const uint8_t *data, size_t len, uint8_t *tag, size_t tag_len) {
    return whole(cipher, key, key_len, data, len, tag, NULL, tag, tag_len);
}

int sunseal_cmac_check(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                       const uint8_t *data, size_t len, const uint8_t *tag, size_t tag_len) {
    struct sunseal_verdict verdict;
    sunseal_verdict_begin(&verdict);
    int error = whole(cipher, key, key_len, data, len, NULL, &verdict, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return sunseal_refused(error);
    }
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, tag_len, SUNSEAL_ERR_TAG));
}
