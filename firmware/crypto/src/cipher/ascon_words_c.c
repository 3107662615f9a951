/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "ascon.h"

/* Little-endian words in order: the bytes of the state are those of memory. */

void sunseal_ascon_add(struct sunseal_ascon_state *state, uint8_t index, const uint8_t *bytes,
                       uint8_t words) {
    uint8_t *word = (uint8_t *)state + 8 * index;
    for (uint8_t i = 0; i < 8 * words; i++) {
        word[i] ^= bytes[i];
    }
}

void sunseal_ascon_get(uint8_t *bytes, const struct sunseal_ascon_state *state, uint8_t index,
                       uint8_t words) {
    memcpy(bytes, (const uint8_t *)state + 8 * index, (size_t)(8 * words));
}

void sunseal_ascon_crypt(struct sunseal_ascon_state *state, uint8_t *out, const uint8_t *in,
                         size_t blocks, bool open) {
    for (; blocks > 0; blocks--, out += 16, in += 16) {
        uint8_t *word = (uint8_t *)state;
        for (uint8_t i = 0; i < 16; i++) {
            uint8_t from = in[i], to = from ^ word[i];
            word[i] = open ? from : to;
            out[i] = to;
        }
        sunseal_ascon_permute(state, 8);
    }
}

void sunseal_ascon_absorb(struct sunseal_ascon_state *state, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += 8) {
        sunseal_ascon_add(state, 0, in, 1);
        sunseal_ascon_permute(state, 12);
    }
}

/* The key to words index and index + 1. */
static void add_key(struct sunseal_ascon_keyed *keyed, uint8_t index) {
    uint32_t *half = keyed->state.half + 2 * index;
    for (uint8_t i = 0; i < 4; i++) {
        half[i] ^= keyed->key[i];
    }
}

void sunseal_ascon_start(struct sunseal_ascon_keyed *keyed, const uint8_t key[16],
                         const uint8_t nonce[16]) {
    keyed->state.half[0] = 0x808c0001;
    keyed->state.half[1] = 0x00001000;
    memcpy(keyed->key, key, 16);
    memcpy(keyed->state.half + 2, key, 16);
    memcpy(keyed->state.half + 6, nonce, 16);
    sunseal_ascon_permute(&keyed->state, 12);
    add_key(keyed, 3);
}

void sunseal_ascon_finish(struct sunseal_ascon_keyed *keyed, uint8_t tag[16]) {
    add_key(keyed, 2);
    sunseal_ascon_permute(&keyed->state, 12);
    add_key(keyed, 3);
    sunseal_ascon_get(tag, &keyed->state, 3, 2);
}
