/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "ascon.h"

/* Little-endian words in order: the bytes of the state are those of memory. */

void sunseal_ascon_add(struct sunseal_ascon_state *state, uint8_t index, const uint8_t *bytes,
                       uint8_t len) {
    uint8_t *word = (uint8_t *)state + 8 * index;
    for (uint8_t i = 0; i < len; i++) {
        word[i] ^= bytes[i];
    }
}

void sunseal_ascon_get(uint8_t *bytes, const struct sunseal_ascon_state *state, uint8_t index,
                       uint8_t len) {
    const uint8_t *word = (const uint8_t *)state + 8 * index;
    for (uint8_t i = 0; i < len; i++) {
        bytes[i] = word[i];
    }
}
