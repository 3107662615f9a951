; SPDX-License-Identifier: MIT OR Apache-2.0

#include "half_avr.inc"

; (p + 1)/2 = 2^223 - 2^95 + 1
    .macro half_p i
    .if \i == 0
    constant_byte 1
    .elseif \i < 11
    constant_byte 0
    .elseif \i == 11
    constant_byte 0x80
    .elseif \i < 27
    constant_byte 0xff
    .else
    constant_byte 0x7f
    .endif
    .endm

    half_of fe224, 28, half_p
