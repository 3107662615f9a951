; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^224 - 2^96 + 1 without a multiplier.

#include "rows.inc"
#include "rows_square.inc"

    .set N, 14

; name:       void sunseal_fe224_sqr(uint16_t *r, const uint16_t *a)
; registers:  see rows_square.inc
; stack:      18 bytes with the return address; static sunseal_fe224_product
; cycles:     18141
; clobbers:   r11-r15
    function sunseal_fe224_sqr
    pushm.w #7, r10
    push    r12
    square_rows sunseal_fe224_product
    br      #sunseal_fe224_reduce
    .size sunseal_fe224_sqr, . - sunseal_fe224_sqr

; name:       void sunseal_fe224_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  see rows.inc
; stack:      18 bytes with the return address; static sunseal_fe224_product
; cycles:     28075
; clobbers:   r11-r15
    function sunseal_fe224_mul
    pushm.w #7, r10
    push    r12
    multiply_rows sunseal_fe224_product
    br      #sunseal_fe224_reduce
    .size sunseal_fe224_mul, . - sunseal_fe224_mul
