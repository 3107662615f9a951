/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "duty.h"

#include "msp430f1/dco.inc"

void duty_begin(uint16_t mclk_khz) {
    dco_set(mclk_khz);
}
