; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, with the 16 x 16 bit multiplier.

#include "mpy.h"

#include "product8_mpy16.inc"
#include "karatsuba256.inc"

; name:       void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
; registers:  see product16.inc
; stack:      24 bytes with the return address; static sunseal_fe256_product, sunseal_product8_halves
; cycles:     2375
; clobbers:   r11-r15, MPY
    function sunseal_fe256_sqr
    pushm.w #7, r10
    push    r12
    square_halves P, 48
    middle
    call    #sunseal_product8_sqr
    br      #sunseal_fe256_join

    joining
