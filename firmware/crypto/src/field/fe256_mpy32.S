; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, with MPY32.

#include "mpy.h"

#include "comba_mpy32.inc"
#include "product8_mpy32.inc"
#include "karatsuba256.inc"

; name:       void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
; registers:  limbs 0 to 4 of a in r4..r13, r14 = a, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe256_product
; cycles:     1793
; clobbers:   r11-r15, MPY32
    function sunseal_fe256_sqr
    square_and_reduce fe256, 8

    joining
