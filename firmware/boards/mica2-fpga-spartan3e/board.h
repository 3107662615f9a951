/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include <stdbool.h>

#define BOARD_COPROCESSOR_BOOT_MS                                                                  \
    250 /* data/parts: it takes 227 ms at the slowest clock of its configuration */

#include "../mica2-fpga.h"

#endif
