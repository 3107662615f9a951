; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, with MPY32.

#include "mpy.h"

#include "comba_mpy32.inc"
#include "product8_mpy32.inc"
#include "karatsuba256.inc"

    square_and_reduce fe256, 8

    joining
