/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../verdict.h"
#include "ascon.h"
#include "cipher.h"
#include "sunseal/wipe.h"

#define RATE 16

/* SP 800-232, section 4.1.1: the initial value, little-endian. */
static const uint8_t initial[8] = {0x01, 0x00, 0x8c, 0x80, 0x00, 0x10, 0x00, 0x00};
/* The bit that parts the data from the plaintext, section 4.1.1. */
static const uint8_t separator[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};

/* 16 bytes to words index and index + 1. */
static void add(struct sunseal_ascon_state *state, uint8_t index, const uint8_t *bytes) {
    sunseal_ascon_add(state, index, bytes);
    sunseal_ascon_add(state, (uint8_t)(index + 1), bytes + 8);
}

static void get(uint8_t *bytes, const struct sunseal_ascon_state *state, uint8_t index) {
    sunseal_ascon_get(bytes, state, index);
    sunseal_ascon_get(bytes + 8, state, (uint8_t)(index + 1));
}

static void start(struct sunseal_ascon_state *state, const uint8_t *key, const uint8_t *nonce,
                  const uint8_t *aad, size_t aad_len) {
    memset(state, 0, sizeof *state);
    sunseal_ascon_add(state, 0, initial);
    add(state, 1, key);
    add(state, 3, nonce);
    sunseal_ascon_permute(state, 12);
    add(state, 3, key);
    if (aad_len > 0) {
        uint8_t last[RATE] = {0};
        for (; aad_len >= RATE; aad += RATE, aad_len -= RATE) {
            add(state, 0, aad);
            sunseal_ascon_permute(state, 8);
        }
        memcpy(last, aad, aad_len);
        last[aad_len] = 0x01;
        add(state, 0, last);
        sunseal_ascon_permute(state, 8);
    }
    sunseal_ascon_add(state, 4, separator);
}

/* Up to 16 bytes: out = in ^ state; the state takes up the plaintext, padded where it is shorter.
 */
static void part(struct sunseal_ascon_state *state, uint8_t *out, const uint8_t *in, uint8_t len,
                 bool open) {
    uint8_t block[RATE];
    get(block, state, 0);
    for (uint8_t i = 0; i < len; i++) {
        uint8_t from = in[i], to = from ^ block[i];
        block[i] = open ? to : from;
        out[i] = to;
    }
    if (len < RATE) {
        memset(block + len, 0, (size_t)(RATE - len));
        block[len] = 0x01;
    }
    add(state, 0, block);
    sunseal_wipe(block, sizeof block);
}

static void crypt(struct sunseal_ascon_state *state, const uint8_t *key, uint8_t *out,
                  const uint8_t *in, size_t len, bool open, uint8_t tag[16]) {
    for (; len >= RATE; out += RATE, in += RATE, len -= RATE) {
        part(state, out, in, RATE, open);
        sunseal_ascon_permute(state, 8);
    }
    part(state, out, in, (uint8_t)len, open);
    add(state, 2, key);
    sunseal_ascon_permute(state, 12);
    add(state, 3, key);
    get(tag, state, 3);
}

static int check(const uint8_t *key, const uint8_t *nonce, const uint8_t *aad, size_t aad_len,
                 const uint8_t *out, const uint8_t *in, size_t len, const uint8_t *tag,
                 size_t tag_len) {
    if (key == NULL || nonce == NULL || (aad == NULL && aad_len > 0) || tag == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    if (tag_len < 8 || tag_len > SUNSEAL_ASCON_TAG_BYTES) {
        return SUNSEAL_ERR_TAG_LENGTH;
    }
    SUNSEAL_REQUIRE(out, len, in, len, true);
    SUNSEAL_REQUIRE_APART(tag, tag_len, in, len);
    SUNSEAL_REQUIRE_APART(tag, tag_len, out, len);
    return SUNSEAL_OK;
}

int sunseal_ascon_aead128_seal(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad,
                               size_t aad_len, uint8_t *out, const uint8_t *in, size_t len,
                               uint8_t *tag, size_t tag_len) {
    struct sunseal_ascon_state state;
    uint8_t full[16];
    int error = check(key, nonce, aad, aad_len, out, in, len, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return error;
    }
    start(&state, key, nonce, aad, aad_len);
    crypt(&state, key, out, in, len, false, full);
    memcpy(tag, full, tag_len);
    sunseal_wipe(&state, sizeof state);
    sunseal_wipe(full, sizeof full);
    return SUNSEAL_OK;
}

int sunseal_ascon_aead128_open(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad,
                               size_t aad_len, uint8_t *out, const uint8_t *in, size_t len,
                               const uint8_t *tag, size_t tag_len) {
    struct sunseal_ascon_state state;
    struct sunseal_verdict verdict;
    uint8_t full[16];
    int error = check(key, nonce, aad, aad_len, out, in, len, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return sunseal_refused(error);
    }
    start(&state, key, nonce, aad, aad_len);
    crypt(&state, key, out, in, len, true, full);
    sunseal_verdict_begin(&verdict);
    sunseal_verdict_add(&verdict, full, tag, tag_len);
    if (sunseal_verdict_refuses(&verdict)) {
        sunseal_wipe(out, len);
    }
    sunseal_wipe(&state, sizeof state);
    sunseal_wipe(full, sizeof full);
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, tag_len, SUNSEAL_ERR_TAG));
}
