; SPDX-License-Identifier: MIT OR Apache-2.0
;
; The choice among the eight points of a window.

#include "function.inc"
#include "../words.inc"
#include "pick.inc"

; name:       void sunseal_mp_pick8(uint16_t *r, const uint16_t *table, uint16_t index, size_t n)
; registers:  see pick.inc
; stack:      20 bytes with the return address
; cycles:     25 + 208 n/4
    pick    sunseal_mp_pick8, 8
