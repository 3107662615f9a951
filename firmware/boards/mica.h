/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the boards of the mica family share: an ATmega128L at its crystal's clock, a battery, PC0 as
 * trigger, the log on USART0. Included by their board.h, which has the crystal and the pins.
 */
#ifndef SUNSEAL_BOARD_MICA_H
#define SUNSEAL_BOARD_MICA_H

#include "atmega128l.h"

#define HAL_MCLK_KHZ_MIN BOARD_MCLK_KHZ
#define HAL_MCLK_KHZ_MAX BOARD_MCLK_KHZ

/* A battery, for the energy gate when the configuration has none: it is always open. */
#define BOARD_STORAGE_UF UINT32_C(0xFFFFFFFF)

/* Measured on the simulator on the boards' batteries (3.2 V, MICA2DOT 2.9 V), and rounded up by a
 * quarter or more: docs/reference/node.md. */
#define BOARD_ENERGIES
#if defined(NODE_secp160r1)
#define BOARD_KEYGEN_UJ 65000
#define BOARD_SIGN_UJ 10000
#else
#define BOARD_KEYGEN_UJ 80000
#define BOARD_SIGN_UJ 27000
#endif

#ifndef BOARD_TRIGGER
#define BOARD_TRIGGER BIT0 /* port C */
#define BOARD_TRIGGER_OUT PORTC
#define BOARD_TRIGGER_DIR DDRC
#endif
#define BOARD_LOG_RXD BIT0 /* port E */
#define BOARD_LOG_TXD BIT1 /* port E */

#include "trigger.h"

#endif
