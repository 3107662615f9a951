/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_COPROCESSOR_ENGINE_H
#define SUNSEAL_COPROCESSOR_ENGINE_H

#include "sunseal/coprocessor.h"

/* Bits 3:2 of a command. */
enum { MODE_ECB = 0x00, MODE_CTR = 0x04, MODE_CBC_MAC = 0x08 };

/* Sends a message in pieces, zeros behind it up to a whole block; counter is NULL but in counter
 * mode. The caller says then where the answer goes. */
int coprocessor_start(struct sunseal_coprocessor *engine, uint8_t mode, const uint8_t *counter,
                      const struct sunseal_coprocessor_piece *pieces, uint8_t count);

#endif
