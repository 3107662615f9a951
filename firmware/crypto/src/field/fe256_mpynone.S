; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, without a multiplier.

#include "rows.inc"
#include "rows_square.inc"

    .set N, 16

; name:       void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
; registers:  see rows_square.inc
; stack:      18 bytes with the return address; static sunseal_fe256_product
; cycles:     22715
; clobbers:   r11-r15
    function sunseal_fe256_sqr
    pushm.w #7, r10
    push    r12
    square_rows sunseal_fe256_product
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_sqr, . - sunseal_fe256_sqr

; name:       void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  see rows.inc
; stack:      18 bytes with the return address; static sunseal_fe256_product
; cycles:     35745
; clobbers:   r11-r15
    function sunseal_fe256_mul
    pushm.w #7, r10
    push    r12
    multiply_rows sunseal_fe256_product
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_mul, . - sunseal_fe256_mul
