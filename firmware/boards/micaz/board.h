/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The trigger is the MICA2's: PW0, PC0. */
#include "../mica2/board.h"
