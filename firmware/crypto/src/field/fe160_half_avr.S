; SPDX-License-Identifier: MIT OR Apache-2.0

#include "function.inc"
#include "half_avr.inc"

; (p + 1)/2 = 2^159 - 2^30
    .macro half_p i
    .if \i < 3
    constant_byte 0
    .elseif \i == 3
    constant_byte 0xc0
    .elseif \i < 19
    constant_byte 0xff
    .else
    constant_byte 0x7f
    .endif
    .endm

; name:       void sunseal_fe160_half(uint16_t *r, const uint16_t *a)
; stack:      4 bytes with the return address
; cycles:     174
    function sunseal_fe160_half
    half    20, half_p
    .size sunseal_fe160_half, . - sunseal_fe160_half
