/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * By the node's hal: core voltage, FLL, radio. ACLK from REFO (the board has no watch crystal), and
 * no watchdog, since some workloads take minutes.
 */
#include "duty.h"

#include "board.h"
#include "hal.h"

#define CC2500_SPWD 0x39 /* SWRS040, command strobes */

void duty_begin(uint16_t mclk_khz) {
    hal_init();
    hal_clock(mclk_khz);
    WDTCTL = WDTPW | WDTHOLD;
    if (hal_radio_select())
        hal_spi_byte(CC2500_SPWD);
    hal_radio_deselect();
    TA0CTL = 0; /* the hal's uptime */
    UCSCTL4 = SELA__REFOCLK | SELS__DCOCLKDIV | SELM__DCOCLKDIV;
}
