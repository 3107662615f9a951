; SPDX-License-Identifier: MIT OR Apache-2.0
;
; The Montgomery product of 16 words with the 16 x 16 bit multiplier.

#include "../field/mpy.h"

#include "../field/product8_mpy16.inc"
#include "montmul_16.inc"
