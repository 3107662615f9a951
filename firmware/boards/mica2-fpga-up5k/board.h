/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdbool.h>

#define BOARD_COPROCESSOR_BOOT_MS 80 /* data/parts: it takes 70 ms */

/* From here on sleeping saves more than it takes: some 130 cycles, 250 behind the turn of the bus.
 * A byte takes 4.4 cycles of AES, 10 of XTEA, 2.1 of PRESENT. */
#define BOARD_COPROCESSOR_SLEEP_BYTES_AES 112
#define BOARD_COPROCESSOR_SLEEP_BYTES_XTEA 56
#define BOARD_COPROCESSOR_SLEEP_BYTES_PRESENT 224

#include "../mica2-fpga.h"

#endif
