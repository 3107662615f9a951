; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, with the 16 x 16 bit multiplier.

#include "mpy.h"

#include "comba16.inc"

    .set N, 16
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

; name:       void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  words 0 to 8 of a in r4..r12, r13 = a, r14 walks over b, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe256_product
; cycles:     3728
; clobbers:   r11-r15, MPY
    function sunseal_fe256_mul
    pushm.w #7, r10
    push    r12
    load_words
    multiply_columns sunseal_fe256_product
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_mul, . - sunseal_fe256_mul

; name:       void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
; registers:  words 0 to 8 of a in r4..r12, r13 = a, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe256_product
; cycles:     2701
; clobbers:   r11-r15, MPY
    function sunseal_fe256_sqr
    pushm.w #7, r10
    push    r12
    load_words
    square_columns sunseal_fe256_product
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_sqr, . - sunseal_fe256_sqr
