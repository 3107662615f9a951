/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "engine.h"
#include "verdict.h"
#include "sunseal/wipe.h"

#define BLOCK 16

int sunseal_coprocessor_start_ctr(struct sunseal_coprocessor *engine, const uint8_t *counter,
                                  uint8_t *out, const uint8_t *in, size_t len) {
    const struct sunseal_coprocessor_piece message = {in, (uint16_t)len};
    if (counter == NULL || out == NULL)
        return SUNSEAL_ERR_NULL;
    if (len > SUNSEAL_COPROCESSOR_MESSAGE_BYTES)
        return SUNSEAL_ERR_LENGTH;
    const int error = coprocessor_start(engine, MODE_CTR, counter, &message, 1);
    if (error == SUNSEAL_OK)
        engine->out = out;
    return error;
}

int sunseal_coprocessor_start_mac(struct sunseal_coprocessor *engine, uint8_t *mac,
                                  const struct sunseal_coprocessor_piece *pieces, uint8_t count) {
    uint16_t bytes = 0;
    for (uint8_t i = 0; i < count; i++)
        bytes += pieces[i].count;
    if (mac == NULL)
        return SUNSEAL_ERR_NULL;
    if ((bytes & (engine->driver.block_bytes - 1U)) != 0)
        return SUNSEAL_ERR_LENGTH;
    const int error = coprocessor_start(engine, MODE_CBC_MAC, NULL, pieces, count);
    if (error == SUNSEAL_OK) {
        engine->out = mac;
        engine->kept = engine->driver.block_bytes;
    }
    return error;
}

int sunseal_coprocessor_finish(struct sunseal_coprocessor *engine) {
    int error;
    while ((error = sunseal_coprocessor_poll(engine)) == SUNSEAL_PENDING)
        sunseal_coprocessor_sleep(engine);
    if (error != SUNSEAL_OK) {
        if (engine->first != NULL)
            sunseal_wipe(engine->first, BLOCK);
        if (engine->kept != 0)
            sunseal_wipe(engine->out, engine->kept);
    }
    return error;
}

static int check(const struct sunseal_coprocessor *engine, const struct sunseal_ccm_public *header,
                 const uint8_t *out, size_t len, const uint8_t *tag, size_t tag_len) {
    if (header == NULL || header->nonce == NULL || tag == NULL || (out == NULL && len != 0))
        return SUNSEAL_ERR_NULL;
    if (engine->driver.block_bytes != BLOCK)
        return SUNSEAL_ERR_UNSUPPORTED;
    if (header->nonce_len < SUNSEAL_CCM_NONCE_BYTES_MIN ||
        header->nonce_len > SUNSEAL_CCM_NONCE_BYTES_MAX)
        return SUNSEAL_ERR_NONCE_LENGTH;
    if (tag_len < 4 || tag_len > BLOCK || (tag_len & 1) != 0)
        return SUNSEAL_ERR_TAG_LENGTH;
    if (len > SUNSEAL_COPROCESSOR_MESSAGE_BYTES ||
        header->aad_len > SUNSEAL_COPROCESSOR_MESSAGE_BYTES)
        return SUNSEAL_ERR_LENGTH;
    return SUNSEAL_OK;
}

/* SP 800-38C, appendices A.2 and A.3: B_0, the data that is only covered, the message. */
static int ccm_mac(struct sunseal_coprocessor *engine, const struct sunseal_ccm_public *header,
                   const uint8_t *message, size_t len, uint8_t *mac, size_t tag_len) {
    static const uint8_t zeros[BLOCK];
    const uint16_t aad_len = (uint16_t)header->aad_len;
    const uint8_t covered = aad_len != 0 ? 2 : 0;
    uint8_t start[BLOCK + 2] = {0};
    start[0] = (uint8_t)(14 - header->nonce_len) | (uint8_t)((tag_len - 2) / 2 << 3) |
               (covered != 0 ? 0x40 : 0);
    memcpy(start + 1, header->nonce, header->nonce_len);
    start[14] = (uint8_t)(len >> 8);
    start[15] = (uint8_t)len;
    start[16] = (uint8_t)(aad_len >> 8);
    start[17] = (uint8_t)aad_len;
    const struct sunseal_coprocessor_piece pieces[] = {
        {start, BLOCK + covered},
        {header->aad, aad_len},
        {zeros, -(covered + aad_len) & (BLOCK - 1)},
        {message, (uint16_t)len},
        {zeros, -(uint16_t)len & (BLOCK - 1)},
    };
    const int error = sunseal_coprocessor_start_mac(engine, mac, pieces, 5);
    return error == SUNSEAL_OK ? sunseal_coprocessor_finish(engine) : error;
}

/* The counter's block 0 is for the tag, the others for the message: one command does both. */
static int ccm_ctr(struct sunseal_coprocessor *engine, const struct sunseal_ccm_public *header,
                   uint8_t *block, uint8_t *out, const uint8_t *in, size_t len) {
    uint8_t counter[BLOCK] = {0};
    counter[0] = (uint8_t)(14 - header->nonce_len);
    memcpy(counter + 1, header->nonce, header->nonce_len);
    const struct sunseal_coprocessor_piece pieces[] = {{block, BLOCK}, {in, (uint16_t)len}};
    const int error = coprocessor_start(engine, MODE_CTR, counter, pieces, 2);
    if (error != SUNSEAL_OK)
        return error;
    engine->first = block;
    engine->out = out;
    engine->kept = (uint16_t)len;
    return sunseal_coprocessor_finish(engine);
}

int sunseal_coprocessor_ccm_seal(struct sunseal_coprocessor *engine,
                                 const struct sunseal_ccm_public *header, uint8_t *out,
                                 const uint8_t *in, size_t len, uint8_t *tag, size_t tag_len) {
    uint8_t block[BLOCK];
    int error = check(engine, header, out, len, tag, tag_len);
    if (error != SUNSEAL_OK)
        return error;
    error = ccm_mac(engine, header, in, len, block, tag_len);
    if (error == SUNSEAL_OK)
        error = ccm_ctr(engine, header, block, out, in, len);
    if (error == SUNSEAL_OK) {
        memcpy(tag, block, tag_len);
    } else if (error == SUNSEAL_ERR_ENGINE) {
        sunseal_wipe(out, len);
        sunseal_wipe(tag, tag_len);
    }
    sunseal_wipe(block, sizeof block);
    return error;
}

int sunseal_coprocessor_ccm_open(struct sunseal_coprocessor *engine,
                                 const struct sunseal_ccm_public *header, uint8_t *out,
                                 const uint8_t *in, size_t len, const uint8_t *tag,
                                 size_t tag_len) {
    uint8_t sealed[BLOCK] = {0}, block[BLOCK] = {0};
    struct sunseal_verdict verdict;
    int error = check(engine, header, out, len, tag, tag_len);
    if (error != SUNSEAL_OK)
        return sunseal_refused(error);
    memcpy(sealed, tag, tag_len);
    error = ccm_ctr(engine, header, sealed, out, in, len);
    if (error == SUNSEAL_OK)
        error = ccm_mac(engine, header, out, len, block, tag_len);
    sunseal_verdict_begin(&verdict);
    sunseal_verdict_add(&verdict, sealed, block, tag_len);
    if (error != SUNSEAL_OK || sunseal_verdict_refuses(&verdict))
        sunseal_wipe(out, len);
    sunseal_wipe(sealed, sizeof sealed);
    sunseal_wipe(block, sizeof block);
    if (error != SUNSEAL_OK)
        return sunseal_refused(error);
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, tag_len, SUNSEAL_ERR_TAG));
}
