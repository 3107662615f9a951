; SPDX-License-Identifier: MIT OR Apache-2.0

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

    half_of fe256, 32, half_p
