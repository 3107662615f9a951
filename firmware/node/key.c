/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "key.h"

#include <stddef.h>

#include "crc16.h"
#include "entropy.h"
#include "hal.h"
#include "sunseal/wipe.h"

_Static_assert(sizeof(struct node_key) == HAL_SEGMENT_BYTES, "docs/reference/node.md");

#define WORD(field) (offsetof(struct node_key, field) / 2)
#define ERASED 0xFFFF

/* As it was read at the start, or as it was made: not every memory can be pointed into. */
static struct node_key key;

static uint16_t flash_word(uint16_t at) {
    return hal_flash_word(HAL_SEGMENT_B, at);
}

static uint16_t crc_of_key(void) {
    return crc16((const uint8_t *)&key, offsetof(struct node_key, crc));
}

/* Where the log goes on. */
static uint8_t log_end_index(void) {
    uint8_t end = 0;
    for (uint8_t i = 0; i < KEY_LOG_WORDS; i++) {
        if (flash_word(WORD(log) + i) != ERASED)
            end = (uint8_t)(i + 1);
    }
    return end;
}

static void note(uint16_t decision) {
    uint8_t end = log_end_index();
    for (uint8_t i = 0; i < 2 && end < KEY_LOG_WORDS; i++, end++)
        hal_flash_write(HAL_SEGMENT_B, WORD(log) + end, decision);
}

enum key_state key_open(void) {
    uint16_t *words = (uint16_t *)&key;
    for (uint16_t i = 0; i < HAL_SEGMENT_BYTES / 2; i++)
        words[i] = flash_word(i);
    bool whole = key.magic == KEY_MAGIC && key.crc == crc_of_key();
    if (key.enrolled == KEY_ENROLLED)
        return whole && key.curve == KEY_CURVE ? KEY_READY : KEY_DAMAGED;
    uint8_t end = log_end_index();
    if (end == 0)
        return KEY_NONE;
    if (key.log[end - 1] != KEY_COUNTS || !whole) {
        note(KEY_VOID);
        return KEY_NONE;
    }
    if (key.curve != KEY_CURVE)
        return KEY_DAMAGED;
    note(KEY_COUNTS);
    return KEY_READY;
}

bool key_enrolled(void) {
    return flash_word(WORD(enrolled)) == KEY_ENROLLED;
}

const uint8_t *key_private(void) {
    return key.d;
}

const uint8_t *key_public(void) {
    return key.q;
}

bool key_generate(void) {
    uint8_t entropy[ENTROPY_BYTES];
    sunseal_wipe(&key, sizeof key);
    key.magic = KEY_MAGIC;
    key.curve = KEY_CURVE;
    bool made = entropy_take(entropy, ENTROPY_SAMPLES_KEY) &&
                SUITE_KEYGEN(key.d, key.q, entropy) == SUNSEAL_OK;
    if (made) {
        key.crc = crc_of_key();
        const uint16_t *words = (const uint16_t *)&key;
        hal_flash_erase(HAL_SEGMENT_B);
        for (uint16_t i = 0; i <= WORD(crc); i++)
            hal_flash_write(HAL_SEGMENT_B, i, words[i]);
        for (uint16_t i = 0; i <= WORD(crc); i++)
            made &= flash_word(i) == words[i];
        if (made)
            note(KEY_COUNTS);
    }
    sunseal_wipe(entropy, sizeof entropy);
    if (!made)
        sunseal_wipe(&key, sizeof key);
    return made;
}

void key_set_enrolled(void) {
    if (!key_enrolled())
        hal_flash_write(HAL_SEGMENT_B, WORD(enrolled), KEY_ENROLLED);
}
