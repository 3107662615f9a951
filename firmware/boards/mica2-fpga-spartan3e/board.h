/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdbool.h>

#define BOARD_COPROCESSOR_BOOT_MS                                                                  \
    250 /* data/parts: it takes 227 ms at the slowest clock of its configuration */

/* From here on sleeping saves more than it takes: some 130 cycles, 250 behind the turn of the bus.
 * A byte takes 2.1 cycles of AES, 5 of XTEA and PRESENT. */
#define BOARD_COPROCESSOR_SLEEP_BYTES_AES 224
#define BOARD_COPROCESSOR_SLEEP_BYTES_XTEA 104
#define BOARD_COPROCESSOR_SLEEP_BYTES_PRESENT 104

#include "../mica2-fpga.h"

#endif
