; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^224 - 2^96 + 1 with the 16 x 16 bit multiplier.

#include "mpy.h"

#include "comba16.inc"

    .set N, 14
    .set IN_REGISTERS, 9

    .macro load_words
    mov     @r13, r4
    mov     2(r13), r5
    mov     4(r13), r6
    mov     6(r13), r7
    mov     8(r13), r8
    mov     10(r13), r9
    mov     12(r13), r10
    mov     14(r13), r11
    mov     16(r13), r12
    .endm

; name:       void sunseal_fe224_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  words 0 to 8 of a in r4..r12, r13 = a, r14 walks over b, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe224_product
; cycles:     2826
; clobbers:   r11-r15, MPY
    function sunseal_fe224_mul
    pushm.w #7, r10
    push    r12
    load_words
    multiply_columns sunseal_fe224_product
    br      #sunseal_fe224_reduce
    .size sunseal_fe224_mul, . - sunseal_fe224_mul

; name:       void sunseal_fe224_sqr(uint16_t *r, const uint16_t *a)
; registers:  words 0 to 8 of a in r4..r12, r13 = a, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe224_product
; cycles:     2076
; clobbers:   r11-r15, MPY
    function sunseal_fe224_sqr
    pushm.w #7, r10
    push    r12
    load_words
    square_columns sunseal_fe224_product
    br      #sunseal_fe224_reduce
    .size sunseal_fe224_sqr, . - sunseal_fe224_sqr
