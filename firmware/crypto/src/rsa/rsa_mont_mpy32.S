; SPDX-License-Identifier: MIT OR Apache-2.0
;
; With the 32 x 32 bit multiply-accumulate of MPY32. Between OP2L and the next use of the unit or of SUMEXT
; there are always the 11 cycles, and from OP2H the 6, that SLAU208, table "Result Availability", asks for.

#include "../field/mpy.h"

    .set LIMB, 4
    .set MAC_BYTES, 18
    .set ROUND, 16
#define RESULT_CARRY RES0

    .macro clear
    mov     #0, &MPY32L
    mov     #0, &MPY32H
    mov     #0, &OP2L
    mov     #0, &OP2H
    .endm

    .macro mac
    mov     @r14+, &MAC32L
    mov     @r14+, &MAC32H
    add     @r4, r15
    mov     @r13+, &OP2L
    mov     @r13+, &OP2H
    .endm

    .macro own_limb
    mov     -4(r11), r13
    mov     -2(r11), r14
    mov     r13, &MAC32L
    mov     r14, &MAC32H
    add     @r4, r15
    mov     r13, &OP2L
    mov     r14, &OP2H
    times_across OP2L
    mov     #0, &OP2H
    .endm

; The product with the lowest limb leaves zero below and a carry wherever there was not zero already.
    .macro quotient_limb
    mov     &RES0, r5
    mov     &RES1, r14
    mov     &RES2, r6
    mov     &RES3, r11
    add     @r4, r15
    mov     r5, &MPY32L
    mov     r14, &MPY32H
    mov     &inverse, &OP2L
    mov     &inverse+2, &OP2H
    bis     r14, r5
    add     #4, r9
    nop
    nop
    mov     &RES0, r13
    mov     &RES1, r14
    mov     r13, &MPY32L
    mov     r14, &MPY32H
    mov     &lowest, &OP2L
    mov     &lowest+2, &OP2H
    mov     r13, -4(r9)
    mov     r14, -2(r9)
    cmp     #1, r5
    addc    &RES2, r6
    addc    &RES3, r11
    adc     r15
    mov     r6, &RES0
    mov     r11, &RES1
    mov     r15, &RES2
    mov     #0, &RES3
    mov     #0, r15
    .endm

    .macro result_limb
    mov     &RES0, 0(r9)
    mov     &RES1, 2(r9)
    add     #4, r9
    add     @r4, r15
    mov     &RES2, &RES0
    mov     &RES3, &RES1
    mov     r15, &RES2
    mov     #0, &RES3
    mov     #0, r15
    sub     @r4, r15
    .endm

    .macro copy_limb
    .set AT, AT - 4
    mov     @r14+, AT(r13)
    mov     @r14+, AT+2(r13)
    .endm

#include "columns_msp430.inc"
