; SPDX-License-Identifier: MIT OR Apache-2.0

#include "function.inc"

; name:       void sunseal_mp_swap(uint16_t *a, uint16_t *b, uint16_t mask, size_t n)
; registers:  X = a, Z = b, r20 = mask, r18 = words left, r22, r23 = bytes, r0 = their difference
; stack:      2 bytes with the return address
; cycles:     5 + 29 n
    function sunseal_mp_swap
    movw    r26, r24
    movw    r30, r22
1:  .rept 2
    ld      r22, X
    ld      r23, Z
    mov     r0, r22
    eor     r0, r23
    and     r0, r20
    eor     r22, r0
    eor     r23, r0
    st      X+, r22
    st      Z+, r23
    .endr
    dec     r18
    brne    1b
    ret
