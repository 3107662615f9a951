/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSP-EXP430FR5969; the same facts as in data/boards/msp430fr5969-launchpad.toml.
 *
 *   P1.0         LED2: trigger of the measurement unit, high during the operation
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "launchpad.h"

#endif
