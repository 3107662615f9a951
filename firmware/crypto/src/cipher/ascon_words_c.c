/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "ascon.h"

/* Little-endian words in order: the bytes of the state are those of memory. */

void sunseal_ascon_add(struct sunseal_ascon_state *state, uint8_t index, const uint8_t bytes[8]) {
    uint8_t *word = (uint8_t *)state + 8 * index;
    for (uint8_t i = 0; i < 8; i++) {
        word[i] ^= bytes[i];
    }
}

void sunseal_ascon_get(uint8_t bytes[8], const struct sunseal_ascon_state *state, uint8_t index) {
    memcpy(bytes, (const uint8_t *)state + 8 * index, 8);
}
