; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^224 - 2^96 + 1 with the 16 x 16 bit multiplier.

#include "mpy.h"

#include "comba_mpy16.inc"
#include "../words.inc"

    .set N, 14
    .set IN_REGISTERS, 9

    .macro load_words
    mov     @r13, r4
    of_indexed mov, mov, 2, r13,  r5, r6, r7, r8, r9, r10, r11, r12
    .endm

    products fe224
