/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_NVM_H
#define SUNSEAL_NVM_H

#include <stdint.h>

/*
 * Memory that keeps its contents without supply, and a commit that is whole or not there
 * ======================================================================================
 *
 * For parts whose program memory is FRAM (MSP430FR5994). A word is written whole or not at all:
 * the FRAM controller ends a write that it has begun from charge of its own (SLAU367, FRCTL_A
 * chapter; TI says so for power failure in E2E thread 973201). All else is built from that one
 * fact: a commit is one word.
 *
 * What lies in SUNSEAL_NVM is in the program's image (zero, or as initialised) and is written by
 * the program alone from then on. Loading the program anew starts it anew.
 */
#define SUNSEAL_NVM __attribute__((section(".nvm"), used, aligned(2)))

/*
 * A cell: one object of fixed size with its label, in two copies. load reads the live copy into
 * working memory, commit writes the other copy and then, in one word, says that this is the live
 * one now. Between the two the program works on its own copy in SRAM and may be cut anywhere: the
 * next load finds the state of the last commit. No place of the cell but the commit word is ever
 * read and then written within one life in between two commits; tests have `sunseal war` say so.
 *
 * Each copy has a CRC-16-CCITT, which load checks: against wear and stray writes, not against an
 * adversary. Whoever can write to the FRAM can write programs.
 *
 * Non-volatile memory: 2 + 2 (size + 2) bytes, size rounded up to even.
 */
struct sunseal_cell {
    volatile uint16_t *commit;
    uint16_t *copies[2]; /* words + 1 words each: the CRC in front */
    uint16_t words;
};

#define SUNSEAL_CELL(name, type)                                                                   \
    SUNSEAL_NVM static volatile uint16_t name##_commit = 0;                                        \
    SUNSEAL_NVM static uint16_t name##_copies[2][(sizeof(type) + 1) / 2 + 1] = {{0}};              \
    static const struct sunseal_cell name = {                                                      \
        &name##_commit, {name##_copies[0], name##_copies[1]}, (sizeof(type) + 1) / 2}

#define SUNSEAL_CELL_LABEL_MAX 126

/*
 * The label of the live copy, 1 to SUNSEAL_CELL_LABEL_MAX, and data filled from it; 0 if nothing
 * has been committed (data stays as it is). SUNSEAL_ERR_STORE: the cell is damaged; data is
 * undefined. Constant-time in the data; about 11 cycles a word, stack 30 bytes.
 */
int sunseal_cell_load(const struct sunseal_cell *cell, void *data);

/*
 * Makes data, of the cell's size and at an even address, its state under this label. load must
 * have been called since the start-up. SUNSEAL_ERR_PARAMETERS for a label out of range,
 * SUNSEAL_ERR_STORE for a damaged commit word; then nothing is written. About 11 cycles a word,
 * stack 30 bytes.
 */
int sunseal_cell_commit(const struct sunseal_cell *cell, const void *data, uint8_t label);

/*
 * Both copies become zero and the cell is as it was when the program was loaded. Cut short, it is
 * ended by the next load. Call it when what the cell holds is secret and no longer needed: an
 * older state stays in the other copy until then.
 */
void sunseal_cell_wipe(const struct sunseal_cell *cell);

/*
 * What the above is made of. copy moves words from even to even addresses and returns their
 * CRC-16-CCITT with the seed given; check only reads. commit is a function so that its address
 * marks the moment: a write-after-read verifier begins a new stretch here.
 */
uint16_t sunseal_nvm_copy(void *to, const void *from, uint16_t words, uint16_t seed);
uint16_t sunseal_nvm_check(const void *from, uint16_t words, uint16_t seed);
void sunseal_nvm_commit(volatile uint16_t *word, uint16_t value);

#endif
