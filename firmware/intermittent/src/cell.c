/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/error.h"
#include "sunseal/nvm.h"
#include "sunseal/wipe.h"

/*
 * The commit word: label in bits 0 to 6, live copy in bit 7, the complement of both above. Zero is
 * a new cell; the label 127 one that is being wiped.
 */
#define NEW 0
#define WIPING 0x807F
#define LABEL 0x7F
#define LIVE 0x80

static uint16_t commit_word(uint8_t low) {
    return (uint16_t)(low | (uint16_t)(uint8_t)~low << 8);
}

static int is_commit_word(uint16_t word) {
    return commit_word((uint8_t)word) == word && (word & LABEL) != 0;
}

/* Seeds the CRC, so that a copy fits its label only. */
static uint16_t *copy_of(const struct sunseal_cell *cell, uint16_t word) {
    return cell->copies[word & LIVE ? 1 : 0];
}

int sunseal_cell_load(const struct sunseal_cell *cell, void *data) {
    uint16_t word = *cell->commit;
    if (word == WIPING) {
        sunseal_cell_wipe(cell);
        return 0;
    }
    if (word == NEW) {
        return 0;
    }
    if (!is_commit_word(word)) {
        return SUNSEAL_ERR_STORE;
    }
    const uint16_t *copy = copy_of(cell, word);
    if (sunseal_nvm_copy(data, copy + 1, cell->words, word) != copy[0]) {
        return SUNSEAL_ERR_STORE;
    }
    return word & LABEL;
}

int sunseal_cell_commit(const struct sunseal_cell *cell, const void *data, uint8_t label) {
    uint16_t word = *cell->commit;
    if (label == 0 || label > SUNSEAL_CELL_LABEL_MAX) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    if (word != NEW && !is_commit_word(word)) {
        return SUNSEAL_ERR_STORE;
    }
    word = commit_word((uint8_t)((~word & LIVE) | label));
    uint16_t *copy = copy_of(cell, word);
    copy[0] = sunseal_nvm_copy(copy + 1, data, cell->words, word);
    sunseal_nvm_commit(cell->commit, word);
    return SUNSEAL_OK;
}

void sunseal_cell_wipe(const struct sunseal_cell *cell) {
    sunseal_nvm_commit(cell->commit, WIPING);
    sunseal_wipe(cell->copies[0], 2 * (size_t)(cell->words + 1));
    sunseal_wipe(cell->copies[1], 2 * (size_t)(cell->words + 1));
    sunseal_nvm_commit(cell->commit, NEW);
}
