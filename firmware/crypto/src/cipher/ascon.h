/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_ASCON_H
#define SUNSEAL_CIPHER_ASCON_H

#include <stdbool.h>

#include "sunseal/ascon.h"

/* The last `rounds` of Ascon-p[12], 8 or 12, SP 800-232, section 3. */
void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds);

/* A key under way: the state, and the key as the state holds its words. */
struct sunseal_ascon_keyed {
    struct sunseal_ascon_state state;
    uint32_t key[4];
};

/*
 * Words of the state as 8 little-endian bytes each. How the state holds its words is the
 * implementation's matter: in order, or a word's even and its odd bits apart; in both, bit 0 of a
 * word is that of its first half and bit 63 the highest of its second. `words` and `blocks` of
 * absorb are at least 1.
 *
 *   add      words from index on += bytes
 *   get      read them
 *   crypt    blocks of 16 bytes: out = in + words 0 and 1, which become the ciphertext (the sum, or
 *            where it opens what was in), then 8 rounds
 *   absorb   blocks of 8 bytes: word 0 += in, then 12 rounds
 *   start    Ascon-AEAD128's first state, of key and nonce, section 4.1.1
 *   finish   its tag; the state is then to be wiped
 */
void sunseal_ascon_add(struct sunseal_ascon_state *state, uint8_t index, const uint8_t *bytes,
                       uint8_t words);
void sunseal_ascon_get(uint8_t *bytes, const struct sunseal_ascon_state *state, uint8_t index,
                       uint8_t words);
void sunseal_ascon_crypt(struct sunseal_ascon_state *state, uint8_t *out, const uint8_t *in,
                         size_t blocks, bool open);
void sunseal_ascon_absorb(struct sunseal_ascon_state *state, const uint8_t *in, size_t blocks);
void sunseal_ascon_start(struct sunseal_ascon_keyed *keyed, const uint8_t key[16],
                         const uint8_t nonce[16]);
void sunseal_ascon_finish(struct sunseal_ascon_keyed *keyed, uint8_t tag[16]);

#endif
