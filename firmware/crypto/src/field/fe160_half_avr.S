; SPDX-License-Identifier: MIT OR Apache-2.0

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

    half_of fe160, 20, half_p
