/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdbool.h>

#define BOARD_COPROCESSOR_BOOT_MS 80 /* data/parts: it takes 70 ms */

/* From here on sleeping saves more than the 100 cycles that it takes: AES of 4 blocks takes 540
 * cycles, XTEA of 8 1,300. */
#define BOARD_COPROCESSOR_SLEEP_BYTES 64

#include "../mica2-fpga.h"

#endif
