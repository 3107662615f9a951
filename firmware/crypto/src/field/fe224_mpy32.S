; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^224 - 2^96 + 1 with MPY32.

#include "mpy.h"

#include "comba_mpy32.inc"
#include "function.inc"
#include "../words.inc"

; name:       void sunseal_fe224_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  limbs 0 to 3 of b in r4..r11, half of limb 4 in r12, r13 = b, r14 walks over a,
;             r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe224_product
; cycles:     1567
; clobbers:   r11-r15, MPY32
    function sunseal_fe224_mul
    .set IN_REGISTERS, 9
    pushm.w #7, r10
    push    r12
    mov     r13, r15
    mov     r14, r13
    mov_from r14,  r4, r5, r6, r7, r8, r9, r10, r11
    mov     @r14, r12
    mov     r15, r14
    multiply_limbs sunseal_fe224_product, 7
    br      #sunseal_fe224_reduce

    square_and_reduce fe224, 7
