/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MICA2: ../mica2.h, and PC0 (PW0) as the trigger of the measurement unit, high during the
 * operation.
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "../mica2.h"

#endif
