/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Ascon-AEAD128 and Ascon-Hash256 around their permutation, for all bytes: at lengths of text, data
 * and tag on each side of every edge, every read and write lies inside of the caller's buffers.
 *
 * sources: cipher/ascon_aead128.c cipher/ascon_hash256.c cipher/ascon_words_c.c cipher/block.c
 * sources: mp/mp_verdict.c
 * unwind: 300
 */
#include "cipher/ascon.h"
#include "proof.h"
#include "sunseal/ascon.h"

void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds) {
    ASSERT(rounds == 8 || rounds == 12);
    MAY_WRITE(state, sizeof *state);
}

static void seal_and_open(size_t aad_len, size_t len, size_t tag_len) {
    uint8_t a[36], b[36], c[36], d[36], e[36], f[36];
    uint8_t *key = LAST(a, 16), *nonce = LAST(b, 16), *aad = LAST(c, aad_len), *text = LAST(d, len);
    uint8_t *tag = LAST(e, tag_len);
    sunseal_ascon_aead128_seal(key, nonce, aad, aad_len, text, text, len, tag, tag_len);
    sunseal_ascon_aead128_open(key, nonce, aad, aad_len, LAST(f, len), text, len, tag, tag_len);
}

void prove_aead_texts(void) {
    static const uint8_t texts[] = {0, 15, 16, 17, 33};
    for (uint8_t i = 0; i < sizeof texts; i++) {
        seal_and_open(1, texts[i], 16);
    }
}

void prove_aead_limits(void) {
    static const uint8_t data[] = {0, 15, 16, 17}, tags[] = {3, 4, 16, 17};
    for (uint8_t i = 0; i < sizeof data; i++) {
        seal_and_open(data[i], 1, tags[i]);
    }
}

void prove_hash(void) {
    uint8_t a[36], b[36], c[36];
    static const uint8_t pieces[][2] = {{0, 0}, {1, 7}, {7, 1}, {7, 2}, {8, 9}, {9, 7}, {17, 0}};
    for (uint8_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct sunseal_ascon_hash256 hash;
        sunseal_ascon_hash256_init(&hash);
        sunseal_ascon_hash256_update(&hash, LAST(a, pieces[i][0]), pieces[i][0]);
        sunseal_ascon_hash256_update(&hash, LAST(b, pieces[i][1]), pieces[i][1]);
        sunseal_ascon_hash256_final(&hash, LAST(c, 32));
    }
}
