; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^160 - 2^31 - 1 with the 16 x 16 bit multiplier.

#include "mpy.h"

#include "comba16.inc"
#include "../words.inc"

    .set N, 10
    .set IN_REGISTERS, 10

    .macro load_words
    mov_from r13,  r4, r5, r6, r7, r8, r9, r10, r11, r12
    mov     @r13, r13
    .endm

; name:       void sunseal_fe160_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  a in r4..r13, r14 walks over b, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe160_product
; cycles:     1539
; clobbers:   r11-r15, MPY
    function sunseal_fe160_mul
    pushm.w #7, r10
    push    r12
    load_words
    multiply_columns sunseal_fe160_product
    br      #sunseal_fe160_reduce
    .size sunseal_fe160_mul, . - sunseal_fe160_mul

; name:       void sunseal_fe160_sqr(uint16_t *r, const uint16_t *a)
; registers:  a in r4..r13, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe160_product
; cycles:     1209
; clobbers:   r11-r15, MPY
    function sunseal_fe160_sqr
    pushm.w #7, r10
    push    r12
    load_words
    square_columns sunseal_fe160_product
    br      #sunseal_fe160_reduce
    .size sunseal_fe160_sqr, . - sunseal_fe160_sqr
