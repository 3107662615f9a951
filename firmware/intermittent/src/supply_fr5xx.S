/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "chip.h"
#include "function.inc"

#define LPM3 0x00D0

    .global sunseal_isr_wdt
    function sunseal_isr_wdt
    bic     #LPM3, 0(sp)
    reti

    ; void sunseal_supply_sleep(void)
    function sunseal_supply_sleep
    push    sr
    bis     #LPM3+GIE, sr
    nop
    bic     #GIE, sr
    nop
    bit     #GIE, 0(sp)
    jz      1f
    bis     #GIE, sr
1:  add     #2, sp
    ret
