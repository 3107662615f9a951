; SPDX-License-Identifier: MIT OR Apache-2.0
;
; The Montgomery product with MPY32, whose latencies comba_mpy32.inc tells.

#include "../field/mpy.h"
#include "function.inc"
#define LOWEST RES0
#include "montmul.inc"

    .set LIMB, 4

    .macro clear_sum
    mov     #0, &RES0
    mov     #0, &RES1
    mov     #0, &RES2
    mov     #0, &RES3
    .endm

    .macro first_factor from
    mov     @\from+, &MAC32L
    mov     @\from+, &MAC32H
    .endm

    .macro second_factor at
    mov     @\at+, &OP2L
    mov     @\at, &OP2H
    sub     #6, \at
    .endm

    .macro settle
    nop
    nop
    .endm

    .macro two_products
    first_factor r13
    second_factor r14
    first_factor r11
    add     &SUMEXT, r15
    second_factor r10
    settle
    add     &SUMEXT, r15
    .endm

    .macro next_limb
    mov     &RES2, &RES0
    mov     &RES3, &RES1
    mov     r15, &RES2
    mov     #0, &RES3
    mov     #0, r15
    .endm

    .macro find_quotient
    mov     &RES0, r9
    mov     &RES1, r12
    mov     &RES2, r13
    mov     &RES3, r14
    mov     r9, &MPY32L
    mov     r12, &MPY32H
    mov     N0(sp), &OP2L
    mov     N0+2(sp), &OP2H
    mov     &RES0, 0(r11)
    mov     &RES1, 2(r11)
    nop
    mov     r9, &RES0
    mov     r12, &RES1
    mov     r13, &RES2
    mov     r14, &RES3
    .endm

    .macro store_limb
    mov     &RES0, 0(r12)
    mov     &RES1, 2(r12)
    .endm

    montmul
