/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Ascon-AEAD128 and Ascon-Hash256 around their permutation: every length up to two blocks and a
 * part.
 *
 * sources: cipher/ascon_aead128.c cipher/ascon_hash256.c cipher/ascon_words_c.c cipher/block.c
 * unwind: 21
 */
#include "cipher/ascon.h"
#include "proof.h"

#define MOST 19

void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds) {
    ASSERT(rounds == 8 || rounds == 12);
    WRITES(state, sizeof *state);
}

static size_t any_length(void) {
    size_t len;
    ASSUME(len <= MOST);
    return len;
}

void prove_seal(void) {
    size_t aad = any_length(), len = any_length(), tag_len;
    ASSUME(tag_len <= 20);
    sunseal_ascon_aead128_seal(buffer(16), buffer(16), buffer(aad), aad, buffer(len), buffer(len),
                               len, buffer(tag_len), tag_len);
}

void prove_open(void) {
    size_t aad = any_length(), len = any_length(), tag_len, at;
    ASSUME(tag_len <= 20);
    uint8_t *out = buffer(len);
    int answer = sunseal_ascon_aead128_open(buffer(16), buffer(16), buffer(aad), aad, out,
                                            buffer(len), len, buffer(tag_len), tag_len);
    ASSUME(at < len);
    ASSERT(answer != SUNSEAL_ERR_TAG || out[at] == 0);
}

void prove_hash(void) {
    struct sunseal_ascon_hash256 hash;
    size_t first = any_length(), second = any_length();
    sunseal_ascon_hash256_init(&hash);
    sunseal_ascon_hash256_update(&hash, buffer(first), first);
    sunseal_ascon_hash256_update(&hash, buffer(second), second);
    sunseal_ascon_hash256_final(&hash, buffer(32));
}
