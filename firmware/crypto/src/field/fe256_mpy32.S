; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, with MPY32.

#include "mpy.h"

#include "comba32.inc"
#include "function.inc"

; name:       void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  limbs 0 to 3 of b in r4..r11, half of limb 4 in r12, r13 = b, r14 walks over a,
;             r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe256_product
; cycles:     2076
; clobbers:   r11-r15, MPY32
    function sunseal_fe256_mul
    .set IN_REGISTERS, 9
    pushm.w #7, r10
    push    r12
    mov     r13, r15
    mov     r14, r13
    mov     @r14+, r4
    mov     @r14+, r5
    mov     @r14+, r6
    mov     @r14+, r7
    mov     @r14+, r8
    mov     @r14+, r9
    mov     @r14+, r10
    mov     @r14+, r11
    mov     @r14, r12
    mov     r15, r14
    multiply_limbs sunseal_fe256_product, 8
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_mul, . - sunseal_fe256_mul

; name:       void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
; registers:  limbs 0 to 4 of a in r4..r13, r14 = a, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe256_product
; cycles:     1793
; clobbers:   r11-r15, MPY32
    function sunseal_fe256_sqr
    .set IN_REGISTERS, 10
    pushm.w #7, r10
    push    r12
    mov     r13, r14
    mov     @r13+, r4
    mov     @r13+, r5
    mov     @r13+, r6
    mov     @r13+, r7
    mov     @r13+, r8
    mov     @r13+, r9
    mov     @r13+, r10
    mov     @r13+, r11
    mov     @r13+, r12
    mov     @r13, r13
    square_limbs sunseal_fe256_product, 8
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_sqr, . - sunseal_fe256_sqr
