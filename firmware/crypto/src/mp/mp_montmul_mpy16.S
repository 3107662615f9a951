; SPDX-License-Identifier: MIT OR Apache-2.0
;
; The Montgomery product with the 16 x 16 bit multiply-accumulate.

#include "../field/mpy.h"
#include "function.inc"
#define LOWEST RESLO
#include "montmul.inc"

    .set LIMB, 2

    .macro clear_sum
    mov     #0, &RESLO
    mov     #0, &RESHI
    .endm

    .macro first_factor from
    mov     @\from+, &MAC
    .endm

    .macro second_factor at
    mov     @\at, &OP2
    decd    \at
    .endm

    .macro settle
    nop
    .endm

    .macro two_products
    first_factor r13
    second_factor r14
    add     &SUMEXT, r15
    first_factor r11
    second_factor r10
    add     &SUMEXT, r15
    .endm

    .macro next_limb
    mov     &RESHI, &RESLO
    mov     r15, &RESHI
    mov     #0, r15
    .endm

    .macro find_quotient
    mov     &RESLO, r9
    mov     &RESHI, r13
    mov     r9, &MPY
    mov     N0(sp), &OP2
    nop
    mov     &RESLO, 0(r11)
    nop
    mov     r9, &RESLO
    mov     r13, &RESHI
    .endm

    .macro store_limb
    mov     &RESLO, 0(r12)
    .endm

    montmul
