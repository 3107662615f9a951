; SPDX-License-Identifier: MIT OR Apache-2.0

#include "function.inc"

; name:       uint16_t sunseal_mp_is_zero(const uint16_t *a, size_t n)
; registers:  Z = a, r22 = words left, r0 = byte, r23 = all bytes together
; stack:      2 bytes with the return address
; cycles:     8 + 9 n
    function sunseal_mp_is_zero
    movw    r30, r24
    clr     r23
1:  ld      r0, Z+
    or      r23, r0
    ld      r0, Z+
    or      r23, r0
    dec     r22
    brne    1b
    cpi     r23, 1                  ; borrows from 0 only
    sbc     r24, r24
    mov     r25, r24
    ret
