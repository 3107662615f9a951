/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "key.h"

#include <stddef.h>
#include <string.h>

#include "crc16.h"
#include "entropy.h"
#include "hal.h"

_Static_assert(sizeof(struct node_key) == 104, "docs/reference/node.md");
_Static_assert(sizeof(struct node_key) <= HAL_SEGMENT_BYTES, "one segment");

#define WORD(field) (offsetof(struct node_key, field) / 2)
#define FIRST offsetof(struct node_key, curve)

static const struct node_key *record(void) {
    return (const struct node_key *)(uintptr_t)hal_flash(HAL_SEGMENT_B);
}

static uint16_t crc_of(const struct node_key *key) {
    return crc16((const uint8_t *)key + FIRST, offsetof(struct node_key, crc) - FIRST);
}

enum key_state key_state(void) {
    const struct node_key *key = record();
    if (key->magic != KEY_MAGIC)
        return KEY_NONE;
    return key->crc == crc_of(key) && key->curve == KEY_CURVE ? KEY_READY : KEY_DAMAGED;
}

bool key_enrolled(void) {
    return record()->enrolled == KEY_ENROLLED;
}

const uint8_t *key_private(void) {
    return record()->d;
}

const uint8_t *key_public(void) {
    return record()->q;
}

bool key_generate(void) {
    static struct node_key key;
    uint8_t entropy[ENTROPY_BYTES];
    memset(&key, 0, sizeof key);
    key.magic = KEY_MAGIC;
    key.curve = KEY_CURVE;
    bool made = entropy_take(entropy, ENTROPY_SAMPLES_KEY) &&
                SUITE_KEYGEN(key.d, key.q, entropy) == SUNSEAL_OK;
    if (made) {
        key.crc = crc_of(&key);
        const uint16_t *words = (const uint16_t *)&key;
        hal_flash_erase(HAL_SEGMENT_B);
        for (uint16_t i = WORD(curve); i <= WORD(crc); i++)
            hal_flash_write(HAL_SEGMENT_B, i, words[i]);
        hal_flash_write(HAL_SEGMENT_B, WORD(magic), KEY_MAGIC);
    }
    memset(entropy, 0, sizeof entropy);
    memset(&key, 0, sizeof key);
    return made && key_state() == KEY_READY;
}

void key_set_enrolled(void) {
    if (!key_enrolled())
        hal_flash_write(HAL_SEGMENT_B, WORD(enrolled), KEY_ENROLLED);
}
