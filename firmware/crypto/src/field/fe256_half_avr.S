; SPDX-License-Identifier: MIT OR Apache-2.0

#include "function.inc"
#include "half_avr.inc"

; (p + 1)/2 = 2^255 - 2^223 + 2^191 + 2^95
    .macro half_p i
    .if \i == 11 || \i == 23 || \i == 27
    constant_byte 0x80
    .elseif \i < 28
    constant_byte 0
    .elseif \i < 31
    constant_byte 0xff
    .else
    constant_byte 0x7f
    .endif
    .endm

; name:       void sunseal_fe256_half(uint16_t *r, const uint16_t *a)
; stack:      4 bytes with the return address
; cycles:     265
    function sunseal_fe256_half
    half    32, half_p
    .size sunseal_fe256_half, . - sunseal_fe256_half
