; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^160 - 2^31 - 1, without a multiplier.

#include "rows.inc"
#include "rows_square.inc"

    .set N, 10

; name:       void sunseal_fe160_sqr(uint16_t *r, const uint16_t *a)
; registers:  see rows_square.inc
; stack:      18 bytes with the return address; static sunseal_fe160_product
; cycles:     10592
; clobbers:   r11-r15
    function sunseal_fe160_sqr
    pushm.w #7, r10
    push    r12
    square_rows sunseal_fe160_product
    br      #sunseal_fe160_reduce
    .size sunseal_fe160_sqr, . - sunseal_fe160_sqr

; name:       void sunseal_fe160_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  see rows.inc
; stack:      18 bytes with the return address; static sunseal_fe160_product
; cycles:     15678
; clobbers:   r11-r15
    function sunseal_fe160_mul
    pushm.w #7, r10
    push    r12
    multiply_rows sunseal_fe160_product
    br      #sunseal_fe160_reduce
    .size sunseal_fe160_mul, . - sunseal_fe160_mul
