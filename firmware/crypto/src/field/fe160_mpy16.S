; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^160 - 2^31 - 1 with the 16 x 16 bit multiplier.

#include "mpy.h"

#include "comba_mpy16.inc"
#include "../words.inc"

    .set N, 10
    .set IN_REGISTERS, 10

    .macro load_words
    mov_from r13,  r4, r5, r6, r7, r8, r9, r10, r11, r12
    mov     @r13, r13
    .endm

    products fe160
