; SPDX-License-Identifier: MIT OR Apache-2.0
;
; MPY32 holds the 16-bit multiplier's registers: the same code serves.

#include "mp_addmul_mpy16.S"
