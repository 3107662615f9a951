; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, with MPY32.

#include "mpy.h"

#include "comba32.inc"
#include "product8_mpy32.inc"
#include "karatsuba256.inc"

; name:       void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  see product16.inc
; stack:      24 bytes with the return address; static sunseal_fe256_product, sunseal_product8_halves
; cycles:     2023
; clobbers:   r11-r15, MPY32
    function sunseal_fe256_mul
    multiply
    .size sunseal_fe256_mul, . - sunseal_fe256_mul

; name:       void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
; registers:  limbs 0 to 4 of a in r4..r13, r14 = a, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe256_product
; cycles:     1793
; clobbers:   r11-r15, MPY32
    function sunseal_fe256_sqr
    square_and_reduce fe256, 8
    .size sunseal_fe256_sqr, . - sunseal_fe256_sqr

; Between a multiplication by halves and the reduction.
; cycles:     172
; clobbers:   r4-r15
    function sunseal_fe256_join
    join
    .size sunseal_fe256_join, . - sunseal_fe256_join
