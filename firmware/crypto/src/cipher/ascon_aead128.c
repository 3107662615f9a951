/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../verdict.h"
#include "ascon.h"
#include "cipher.h"
#include "sunseal/wipe.h"

#define RATE 16

/* What a call must wipe. */
struct session {
    struct sunseal_ascon_keyed keyed;
    uint8_t block[RATE];
};

/* Fewer than 16 bytes, which are in the block already: those behind them are padding. */
static void add_last(struct session *s, uint8_t len) {
    if (len == 0) {
        s->keyed.state.half[0] ^= 0x01;
        return;
    }
    memset(s->block + len, 0, (size_t)(RATE - len));
    s->block[len] = 0x01;
    sunseal_ascon_add(&s->keyed.state, 0, s->block, 2);
}

static void begin(struct session *s, const uint8_t *key, const uint8_t *nonce, const uint8_t *aad,
                  size_t aad_len) {
    sunseal_ascon_start(&s->keyed, key, nonce);
    if (aad_len > 0) {
        for (; aad_len >= RATE; aad += RATE, aad_len -= RATE) {
            sunseal_ascon_add(&s->keyed.state, 0, aad, 2);
            sunseal_ascon_permute(&s->keyed.state, 8);
        }
        memcpy(s->block, aad, aad_len);
        add_last(s, (uint8_t)aad_len);
        sunseal_ascon_permute(&s->keyed.state, 8);
    }
    /* The bit that parts the data from the plaintext. */
    s->keyed.state.half[9] ^= 0x80000000;
}

/* out = in ^ state; the state takes up the plaintext, padded. The tag is left in the block. */
static void crypt(struct session *s, uint8_t *out, const uint8_t *in, size_t len, bool open) {
    uint8_t rest = len & (RATE - 1);
    sunseal_ascon_crypt(&s->keyed.state, out, in, len / RATE, open);
    if (rest > 0) {
        out += len - rest;
        in += len - rest;
        sunseal_ascon_get(s->block, &s->keyed.state, 0, 2);
        for (uint8_t i = 0; i < rest; i++) {
            uint8_t from = in[i], to = from ^ s->block[i];
            s->block[i] = open ? to : from;
            out[i] = to;
        }
    }
    add_last(s, rest);
    sunseal_ascon_finish(&s->keyed, s->block);
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
    struct session session;
    int error = check(key, nonce, aad, aad_len, out, in, len, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return error;
    }
    begin(&session, key, nonce, aad, aad_len);
    crypt(&session, out, in, len, false);
    memcpy(tag, session.block, tag_len);
    sunseal_wipe(&session, sizeof session);
    return SUNSEAL_OK;
}

int sunseal_ascon_aead128_open(const uint8_t key[16], const uint8_t nonce[16], const uint8_t *aad,
                               size_t aad_len, uint8_t *out, const uint8_t *in, size_t len,
                               const uint8_t *tag, size_t tag_len) {
    struct session session;
    struct sunseal_verdict verdict;
    int error = check(key, nonce, aad, aad_len, out, in, len, tag, tag_len);
    if (error != SUNSEAL_OK) {
        return sunseal_refused(error);
    }
    begin(&session, key, nonce, aad, aad_len);
    crypt(&session, out, in, len, true);
    sunseal_verdict_begin(&verdict);
    sunseal_verdict_add(&verdict, session.block, tag, tag_len);
    if (sunseal_verdict_refuses(&verdict)) {
        sunseal_wipe(out, len);
    }
    sunseal_wipe(&session, sizeof session);
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, tag_len, SUNSEAL_ERR_TAG));
}
