/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP-EXP430FR6989; the same facts as in data/boards/msp430fr6989-launchpad.toml.
 *
 *   P1.0         LED1: trigger of the measurement unit, high during the operation
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "launchpad.h"

#endif
