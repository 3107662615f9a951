/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../verdict.h"
#include "cipher.h"
#include "sunseal/ccm.h"
#include "sunseal/wipe.h"

#define BLOCK 16

struct ccm {
    const struct sunseal_block *cipher;
    const void *schedule;
    uint8_t mac[BLOCK];
    uint8_t counter[BLOCK];
    uint8_t first[BLOCK]; /* E(counter 0), which hides the tag */
    int error;
};

static void encrypt(struct ccm *ccm, uint8_t *block) {
    int error = ccm->cipher->encrypt(ccm->schedule, block, block, 1);
    if (ccm->error == SUNSEAL_OK) {
        ccm->error = error;
    }
}

static int check(const struct sunseal_block *cipher, const void *schedule,
                 const struct sunseal_ccm_public *header, const uint8_t *out, const uint8_t *in,
                 size_t len, const uint8_t *tag, size_t tag_len) {
    if (cipher == NULL || schedule == NULL || header == NULL || header->nonce == NULL ||
        (header->aad == NULL && header->aad_len > 0) || tag == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    if (cipher->block_bytes != BLOCK) {
        return SUNSEAL_ERR_UNSUPPORTED;
    }
    if (header->nonce_len < SUNSEAL_CCM_NONCE_BYTES_MIN ||
        header->nonce_len > SUNSEAL_CCM_NONCE_BYTES_MAX) {
        return SUNSEAL_ERR_NONCE_LENGTH;
    }
    if (tag_len < 4 || tag_len > 16 || (tag_len & 1) != 0) {
        return SUNSEAL_ERR_TAG_LENGTH;
    }
    size_t length_bytes = 15 - header->nonce_len;
    if (length_bytes < sizeof len && len >> (8 * length_bytes) != 0) {
        return SUNSEAL_ERR_LENGTH;
    }
#if SIZE_MAX > 0xffffffff
    if (header->aad_len > 0xffffffff) {
        return SUNSEAL_ERR_LENGTH;
    }
#endif
    SUNSEAL_REQUIRE(out, len, in, len, true);
    SUNSEAL_REQUIRE_APART(tag, tag_len, in, len);
    SUNSEAL_REQUIRE_APART(tag, tag_len, out, len);
    return SUNSEAL_OK;
}

/* SP 800-38C, appendices A.2 and A.3: B_0, the counter, and the data that is only covered. */
static void begin(struct ccm *ccm, const struct sunseal_block *cipher, const void *schedule,
                  const struct sunseal_ccm_public *header, size_t len, size_t tag_len) {
    uint8_t length_bytes = (uint8_t)(15 - header->nonce_len);
    ccm->cipher = cipher;
    ccm->schedule = schedule;
    ccm->error = SUNSEAL_OK;
    memset(ccm->counter, 0, BLOCK);
    ccm->counter[0] = (uint8_t)(length_bytes - 1);
    memcpy(ccm->counter + 1, header->nonce, header->nonce_len);
    memcpy(ccm->mac, ccm->counter, BLOCK);
    ccm->mac[0] |= (uint8_t)((header->aad_len > 0 ? 0x40 : 0) | (tag_len - 2) / 2 << 3);
    for (uint8_t i = 15; len > 0; i--, len >>= 8) {
        ccm->mac[i] = (uint8_t)len;
    }
    encrypt(ccm, ccm->mac);
    memcpy(ccm->first, ccm->counter, BLOCK);
    encrypt(ccm, ccm->first);
    ccm->counter[15] = 1;

    size_t left = header->aad_len;
    if (left == 0) {
        return;
    }
    uint8_t used = 2;
    if (left >= 0xff00) {
        uint32_t wide = (uint32_t)left;
        ccm->mac[0] ^= 0xff;
        ccm->mac[1] ^= 0xfe;
        ccm->mac[2] ^= (uint8_t)(wide >> 24);
        ccm->mac[3] ^= (uint8_t)(wide >> 16);
        ccm->mac[4] ^= (uint8_t)(wide >> 8);
        ccm->mac[5] ^= (uint8_t)wide;
        used = 6;
    } else {
        ccm->mac[0] = (uint8_t)((uint8_t)(left >> 8) ^ ccm->mac[0]);
        ccm->mac[1] = (uint8_t)((uint8_t)left ^ ccm->mac[1]);
    }
    const uint8_t *aad = header->aad;
    while (left > 0) {
        for (; used < BLOCK && left > 0; used++, left--) {
            ccm->mac[used] ^= *aad++;
        }
        encrypt(ccm, ccm->mac);
        used = 0;
    }
}

/* Up to one block; the MAC runs over the plaintext. */
static void piece(struct ccm *ccm, uint8_t *out, const uint8_t *in, uint8_t len, bool open) {
    uint8_t stream[BLOCK];
    memcpy(stream, ccm->counter, BLOCK);
    sunseal_counter_next(ccm->counter + 8, 8);
    encrypt(ccm, stream);
    for (uint8_t i = 0; i < len; i++) {
        uint8_t from = in[i], to = from ^ stream[i];
        ccm->mac[i] ^= (uint8_t)(open ? to : from);
        out[i] = to;
    }
    encrypt(ccm, ccm->mac);
    sunseal_wipe(stream, sizeof stream);
}

static void run(struct ccm *ccm, uint8_t *out, const uint8_t *in, size_t len, bool open) {
    while (len > 0) {
        uint8_t part = (uint8_t)(len < BLOCK ? (uint8_t)len : BLOCK);
        piece(ccm, out, in, part, open);
        out += part;
        in += part;
        len -= part;
    }
    for (uint8_t i = 0; i < BLOCK; i++) {
        ccm->mac[i] ^= ccm->first[i];
    }
}

int sunseal_ccm_seal(const struct sunseal_block *cipher, const void *schedule,
                     const struct sunseal_ccm_public *header, uint8_t *out, const uint8_t *in,
                     size_t len, uint8_t *tag, size_t tag_len) {
    struct ccm ccm;
    int error = check(cipher, schedule, header, out, in, len, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return error;
    }
    begin(&ccm, cipher, schedule, header, len, tag_len);
    run(&ccm, out, in, len, false);
    error = ccm.error;
    memcpy(tag, ccm.mac, tag_len);
    if (error != SUNSEAL_OK) {
        sunseal_wipe(out, len);
        sunseal_wipe(tag, tag_len);
    }
    sunseal_wipe(&ccm, sizeof ccm);
    return error;
}

/* The verdict says what is left to say after it, where no error is returned. */
static int opened(struct sunseal_verdict *verdict, const struct sunseal_block *cipher,
                  const void *schedule, const struct sunseal_ccm_public *header, uint8_t *out,
                  const uint8_t *in, size_t len, const uint8_t *tag, size_t tag_len) {
    struct ccm ccm;
    int error = check(cipher, schedule, header, out, in, len, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return error;
    }
    begin(&ccm, cipher, schedule, header, len, tag_len);
    run(&ccm, out, in, len, true);
    error = ccm.error;
    sunseal_verdict_add(verdict, ccm.mac, tag, tag_len);
    if (error != SUNSEAL_OK || sunseal_verdict_refuses(verdict)) {
        sunseal_wipe(out, len);
    }
    sunseal_wipe(&ccm, sizeof ccm);
    return error;
}

int sunseal_ccm_open(const struct sunseal_block *cipher, const void *schedule,
                     const struct sunseal_ccm_public *header, uint8_t *out, const uint8_t *in,
                     size_t len, const uint8_t *tag, size_t tag_len) {
    struct sunseal_verdict verdict;
    sunseal_verdict_begin(&verdict);
    int error = opened(&verdict, cipher, schedule, header, out, in, len, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return sunseal_refused(error);
    }
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, tag_len, SUNSEAL_ERR_TAG));
}

int sunseal_ccm_seal_once(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                          const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
                          size_t aad_len, uint8_t *out, const uint8_t *in, size_t len, uint8_t *tag,
                          size_t tag_len) {
    SUNSEAL_SCHEDULE_ONCE(schedule);
    struct sunseal_ccm_public header = {nonce, nonce_len, aad, aad_len};
    int error = sunseal_block_set_key(cipher, schedule, key, key_len);
    if (error == SUNSEAL_OK) {
        error = sunseal_ccm_seal(cipher, schedule, &header, out, in, len, tag, tag_len);
        sunseal_wipe(schedule, sizeof schedule);
    }
    return error;
}

static __attribute__((noinline)) int
opened_once(struct sunseal_verdict *verdict, const struct sunseal_block *cipher, const uint8_t *key,
            size_t key_len, const struct sunseal_ccm_public *header, uint8_t *out,
            const uint8_t *in, size_t len, const uint8_t *tag, size_t tag_len) {
    SUNSEAL_SCHEDULE_ONCE(schedule);
    int error = sunseal_block_set_key(cipher, schedule, key, key_len);
    if (error == SUNSEAL_OK) {
        error = opened(verdict, cipher, schedule, header, out, in, len, tag, tag_len);
        sunseal_wipe(schedule, sizeof schedule);
    }
    return error;
}

int sunseal_ccm_open_once(const struct sunseal_block *cipher, const uint8_t *key, size_t key_len,
                          const uint8_t *nonce, size_t nonce_len, const uint8_t *aad,
                          size_t aad_len, uint8_t *out, const uint8_t *in, size_t len,
                          const uint8_t *tag, size_t tag_len) {
    struct sunseal_ccm_public header = {nonce, nonce_len, aad, aad_len};
    struct sunseal_verdict verdict;
    sunseal_verdict_begin(&verdict);
    int error = opened_once(&verdict, cipher, key, key_len, &header, out, in, len, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return sunseal_refused(error);
    }
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, tag_len, SUNSEAL_ERR_TAG));
}
