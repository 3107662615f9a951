/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_COPROCESSOR_H
#define SUNSEAL_COPROCESSOR_H

/*
 * The coprocessor of hdl/ behind the split-phase calls of block.h
 * ---------------------------------------------------------------
 *   struct sunseal_coprocessor engine;
 *   sunseal_coprocessor_power(true);             then BOARD_COPROCESSOR_BOOT_MS
 *   sunseal_coprocessor_init(&engine, SUNSEAL_COPROCESSOR_AES128);
 *   sunseal_crypt_init(&crypt, &engine.driver, &engine, &events);
 *
 * The key stays in the coprocessor until it is switched off. Whatever does not answer in time ends
 * in SUNSEAL_ERR_ENGINE; the coprocessor is then switched off, as that leaves nothing half done in
 * it: power, wait, set_key again.
 *
 * Between polls sunseal_coprocessor_sleep lets the CPU idle until the result is ready: by the line
 * IRQ (parallel, SPI) or by the USART's receiver.
 *
 * Which bus it is on is the build's variant. Timing: the bus and the ciphers take the same time
 * whatever key and data are. Stack: below 40 bytes, of ccm_* below 160.
 */
#include <stdbool.h>
#include <stdint.h>

#include "sunseal/block.h"
#include "sunseal/ccm.h"

enum sunseal_coprocessor_cipher {
    SUNSEAL_COPROCESSOR_AES128 = 0x00,
    SUNSEAL_COPROCESSOR_XTEA = 0x10,
    SUNSEAL_COPROCESSOR_PRESENT128 = 0x20
};

/* Bytes of its message buffer: more are sent in several commands. */
#define SUNSEAL_COPROCESSOR_MESSAGE_BYTES 1024

/* Do not touch the fields. */
struct sunseal_coprocessor {
    struct sunseal_crypt_driver driver;
    uint8_t cipher;
    bool on_key, keyed, sleeps;
    uint8_t *first; /* where the first block of an answer goes, if not to out */
    uint8_t *out;
    const uint8_t *in;
    uint16_t left, answer; /* bytes of the message not sent yet, of the answer under way */
    uint16_t kept;         /* bytes of the answer for out; the rest fills a block */
    uint16_t polls, polls_max;
    uint16_t sleep_bytes; /* from here on a message is worth falling asleep */
};

void sunseal_coprocessor_init(struct sunseal_coprocessor *engine,
                              enum sunseal_coprocessor_cipher cipher);

/* Lets the CPU idle until the coprocessor has a result, or 35 ms at most; returns at once where
 * nothing is under way, or where it will take less time than falling asleep. Any other interrupt
 * ends it too. Uses timer 2; interrupts are as they were behind it. */
void sunseal_coprocessor_sleep(struct sunseal_coprocessor *engine);

/*
 * Modes that the coprocessor does itself, under the key that set_key loaded
 * -------------------------------------------------------------------------
 * One command and one turn of the bus for a message of up to SUNSEAL_COPROCESSOR_MESSAGE_BYTES:
 *
 *   start_ctr   counter mode, any length; the counter block as in ctr.h, and not changed
 *   start_mac   CBC-MAC of whole blocks, given in pieces; its answer is one block
 *   poll        SUNSEAL_PENDING, then SUNSEAL_OK or an error, as the driver's step
 *   finish      polls to the end, asleep in between; wipes what start_* was to fill if it fails
 *
 * All that is read must stay until the end; in place, and overlapping in any way, is allowed.
 * start_* return SUNSEAL_OK (it is under way), SUNSEAL_ERR_LENGTH (no bytes, no whole blocks, or
 * more than the buffer), SUNSEAL_ERR_NULL, SUNSEAL_ERR_NO_KEY, SUNSEAL_ERR_BUSY.
 */
struct sunseal_coprocessor_piece {
    const uint8_t *bytes;
    uint16_t count;
};

int sunseal_coprocessor_start_ctr(struct sunseal_coprocessor *engine, const uint8_t *counter,
                                  uint8_t *out, const uint8_t *in, size_t len);
int sunseal_coprocessor_start_mac(struct sunseal_coprocessor *engine, uint8_t *mac,
                                  const struct sunseal_coprocessor_piece *pieces, uint8_t count);
int sunseal_coprocessor_poll(struct sunseal_coprocessor *engine);
int sunseal_coprocessor_finish(struct sunseal_coprocessor *engine);

/* CCM by both, two turns of the bus; contract and errors are ccm.h's, and SUNSEAL_ERR_LENGTH where
 * message and header together do not fit the coprocessor's buffer. */
int sunseal_coprocessor_ccm_seal(struct sunseal_coprocessor *engine,
                                 const struct sunseal_ccm_public *header, uint8_t *out,
                                 const uint8_t *in, size_t len, uint8_t *tag, size_t tag_len);
int sunseal_coprocessor_ccm_open(struct sunseal_coprocessor *engine,
                                 const struct sunseal_ccm_public *header, uint8_t *out,
                                 const uint8_t *in, size_t len, const uint8_t *tag, size_t tag_len);

/* Its supply. Off, the pins of its bus are outputs at 0, so that they feed nothing. */
void sunseal_coprocessor_power(bool on);

/* What the coprocessor says of the last command: 0, or 1 unknown command or no key, 2 a length, 3 a
 * transfer that stood still; SUNSEAL_ERR_ENGINE if it does not answer. Between commands only. */
int sunseal_coprocessor_status(void);

#endif
