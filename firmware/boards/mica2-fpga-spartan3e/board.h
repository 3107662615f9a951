/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdbool.h>

#define BOARD_COPROCESSOR_BOOT_MS                                                                  \
    250 /* data/parts: it takes 227 ms at the slowest clock of its configuration */

/* From here on sleeping saves more than the 100 cycles that it takes: AES of 16 blocks takes 540
 * cycles. */
#define BOARD_COPROCESSOR_SLEEP_BYTES 256

#include "../mica2-fpga.h"

#endif
