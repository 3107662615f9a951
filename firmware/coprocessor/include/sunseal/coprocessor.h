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
 * Which bus it is on is the build's variant. Timing: the bus and the ciphers take the same time
 * whatever key and data are. Stack: below 40 bytes.
 */
#include <stdbool.h>
#include <stdint.h>

#include "sunseal/block.h"

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
    bool on_key;
    uint8_t *out;
    const uint8_t *in;
    uint16_t left, sent; /* bytes of the message not sent yet, bytes under way */
    uint16_t polls;
};

void sunseal_coprocessor_init(struct sunseal_coprocessor *engine,
                              enum sunseal_coprocessor_cipher cipher);

/* Its supply. Off, the pins of its bus are outputs at 0, so that they feed nothing. */
void sunseal_coprocessor_power(bool on);

/* What the coprocessor says of the last command: 0, or 1 unknown command or no key, 2 a length, 3 a
 * transfer that stood still; SUNSEAL_ERR_ENGINE if it does not answer. Between commands only. */
int sunseal_coprocessor_status(void);

#endif
