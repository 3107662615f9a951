; SPDX-License-Identifier: MIT OR Apache-2.0
;
; The Montgomery product of 16 words with MPY32.

#include "../field/mpy.h"

#include "../field/product8_mpy32.inc"
#include "montmul_16.inc"
