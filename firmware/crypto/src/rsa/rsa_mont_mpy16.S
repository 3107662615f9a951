; SPDX-License-Identifier: MIT OR Apache-2.0
;
; With the 16 x 16 bit multiply-accumulate. Between OP2 and the next use of the unit or of SUMEXT there are
; always the 4 cycles that SLAU208, table "Result Availability", asks for at most.

#include "../field/mpy.h"

    .set LIMB, 2
    .set MAC_BYTES, 10
    .set ROUND, 32
#define RESULT_CARRY RESLO

    .macro clear
    mov     #0, &MPY
    mov     #0, &OP2
    .endm

    .macro mac
    mov     @r14+, &MAC
    add     @r4, r15
    mov     @r13+, &OP2
    .endm

    .macro own_limb
    mov     -2(r11), r14
    mov     r14, &MAC
    add     @r4, r15
    mov     r14, &OP2
    times_across OP2
    .endm

; r5 = inverse. The product with the lowest word leaves zero below and a carry wherever there was not zero already.
    .macro quotient_limb
    mov     &RESLO, r14
    mov     &RESHI, r6
    add     @r4, r15
    mov     r14, &MPY
    mov     r5, &OP2
    incd    r9
    nop
    mov     &RESLO, r13
    mov     r13, &MPY
    mov     &lowest, &OP2
    mov     r13, -2(r9)
    cmp     #1, r14
    addc    &RESHI, r6
    adc     r15
    mov     r6, &RESLO
    mov     r15, &RESHI
    mov     #0, r15
    .endm

    .macro result_limb
    mov     &RESLO, 0(r9)
    incd    r9
    add     @r4, r15
    mov     &RESHI, &RESLO
    mov     r15, &RESHI
    mov     #0, r15
    sub     @r4, r15
    .endm

    .macro copy_limb
    .set AT, AT - 2
    mov     @r14+, AT(r13)
    .endm

#include "columns_msp430.inc"
