/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "coupon.h"
#include "sunseal/coupon_kinds.h"
#include "sunseal/ctr.h"
#include "sunseal/wipe.h"

#define BLOCK 16

static void big(uint8_t *to, uint32_t value) {
    to[0] = (uint8_t)(value >> 24);
    to[1] = (uint8_t)(value >> 16);
    to[2] = (uint8_t)(value >> 8);
    to[3] = (uint8_t)value;
}

static int stream(const struct sunseal_coupon_keystream *key, uint32_t sequence, uint8_t *out,
                  const uint8_t *in, size_t len) {
    struct sunseal_ctr ctr;
    uint8_t counter[BLOCK] = {0};
    if (key->cipher->block_bytes != BLOCK) {
        return SUNSEAL_ERR_UNSUPPORTED;
    }
    memcpy(counter, key->nonce, sizeof key->nonce);
    big(counter + 8, sequence);
    int status = sunseal_ctr_init(&ctr, key->cipher, key->schedule, counter);
    if (status == SUNSEAL_OK) {
        status = sunseal_ctr_update(&ctr, out, in, len);
    }
    sunseal_wipe(&ctr, sizeof ctr);
    return status;
}

int sunseal_coupon_keystream_make(void *context, uint32_t sequence, void *payload) {
    const struct sunseal_coupon_keystream *key = context;
    memset(payload, 0, key->bytes);
    return stream(key, sequence, payload, payload, key->bytes);
}

static __attribute__((noinline)) int monolithic(struct sunseal_coupon_store *store, uint8_t pool,
                                                uint8_t *out, const uint8_t *in, size_t len,
                                                uint32_t *sequence) {
    int status = sunseal_coupon_reserve(store, pool, sequence);
    if (status == SUNSEAL_OK) {
        status = stream(store->pools[pool].kind->context, *sequence, out, in, len);
    }
    return status == SUNSEAL_OK ? SUNSEAL_COUPON_MONOLITHIC : status;
}

int sunseal_coupon_ctr_encrypt(struct sunseal_coupon_store *store, uint8_t pool, uint8_t *out,
                               const uint8_t *in, size_t len, uint32_t *sequence) {
    int status = sunseal_coupon_xor_here(store, pool, out, in, len, sequence);
    if (status == SUNSEAL_ERR_COUPON || status == SUNSEAL_ERR_LENGTH) {
        status = monolithic(store, pool, out, in, len, sequence);
    }
    return status;
}

int sunseal_coupon_schedule_make(void *context, uint32_t sequence, void *payload) {
    const struct sunseal_coupon_keystream *key = context;
    uint8_t block[BLOCK] = {0};
    memcpy(block, key->nonce, sizeof key->nonce);
    big(block + 8, sequence);
    big(block + 12, UINT32_MAX);
    int status = sunseal_block_encrypt(key->cipher, key->schedule, block, block, BLOCK);
    if (status == SUNSEAL_OK) {
        status = sunseal_block_set_key(&sunseal_aes128_sbox, payload, block, BLOCK);
    }
    sunseal_wipe(block, sizeof block);
    return status;
}

/* ---- CCM --------------------------------------------------------------------------------------
 */

/* SP 800-38C, appendix A: L = 2, so that flags and counter leave 13 bytes of nonce. */
static void ccm_block(const struct sunseal_coupon_ccm *key, uint32_t sequence, uint8_t flags,
                      uint16_t last, uint8_t block[BLOCK]) {
    memset(block, 0, BLOCK);
    block[0] = flags;
    memcpy(block + 1, key->nonce, sizeof key->nonce);
    big(block + 9, sequence);
    block[14] = (uint8_t)(last >> 8);
    block[15] = (uint8_t)last;
}

/* Whether there is data besides is known to the caller of seal alone: the bit of B_0 that says so
 * is always set, as messages of nodes have a header. */
#define FLAGS_AAD 0x40

int sunseal_coupon_ccm_make(void *context, uint32_t sequence, void *payload) {
    const struct sunseal_coupon_ccm *key = context;
    uint8_t *block = payload;
    if (key->len % BLOCK != 0 || key->tag_len < 4 || key->tag_len > 16 || key->tag_len % 2 != 0) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    const uint8_t flags = (uint8_t)(FLAGS_AAD | (key->tag_len - 2) / 2 << 3 | 1);
    ccm_block(key, sequence, flags, key->len, block);
    for (uint16_t i = 0; i <= key->len / BLOCK; i++) {
        block += BLOCK;
        ccm_block(key, sequence, 1, i, block);
    }
    return sunseal_block_encrypt(key->cipher, key->schedule, payload, payload, 32u + key->len);
}

static int chain(const struct sunseal_coupon_ccm *key, uint8_t mac[BLOCK]) {
    return sunseal_block_encrypt(key->cipher, key->schedule, mac, mac, BLOCK);
}

static int ccm_online(const struct sunseal_coupon_ccm *key, const uint8_t *payload, uint8_t *out,
                      const uint8_t *in, const uint8_t *aad, size_t aad_len, uint8_t *tag) {
    uint8_t mac[BLOCK];
    uint8_t used = 2;
    int status = SUNSEAL_OK;
    memcpy(mac, payload, BLOCK);
    mac[0] ^= (uint8_t)(aad_len >> 8);
    mac[1] ^= (uint8_t)aad_len;
    while (aad_len > 0) {
        for (; used < BLOCK && aad_len > 0; aad_len--) {
            mac[used++] ^= *aad++;
        }
        status |= chain(key, mac);
        used = 0;
    }
    for (uint16_t i = 0; i < key->len; i++) {
        mac[i % BLOCK] ^= in[i];
        out[i] = in[i] ^ payload[2 * BLOCK + i];
        if (i % BLOCK == BLOCK - 1) {
            status |= chain(key, mac);
        }
    }
    for (uint8_t i = 0; i < key->tag_len; i++) {
        tag[i] = mac[i] ^ payload[BLOCK + i];
    }
    sunseal_wipe(mac, sizeof mac);
    return status == SUNSEAL_OK ? SUNSEAL_OK : SUNSEAL_ERR_ENGINE;
}

int sunseal_coupon_ccm_seal(struct sunseal_coupon_store *store, uint8_t pool, uint8_t *out,
                            const uint8_t *in, const uint8_t *aad, size_t aad_len, uint8_t *tag,
                            void *payload, uint32_t *sequence) {
    const struct sunseal_coupon_ccm *key;
    if (aad_len == 0 || aad_len >= 0xFF00) {
        return SUNSEAL_ERR_LENGTH;
    }
    int status = sunseal_coupon_take(store, pool, payload, sequence);
    bool alone = status == SUNSEAL_ERR_COUPON;
    if (alone) {
        status = sunseal_coupon_reserve(store, pool, sequence);
        if (status == SUNSEAL_OK) {
            status = sunseal_coupon_ccm_make(store->pools[pool].kind->context, *sequence, payload);
        }
    }
    if (status == SUNSEAL_OK) {
        key = store->pools[pool].kind->context;
        status = ccm_online(key, payload, out, in, aad, aad_len, tag);
        sunseal_wipe(payload, 32u + key->len);
    }
    return status == SUNSEAL_OK && alone ? SUNSEAL_COUPON_MONOLITHIC : status;
}
