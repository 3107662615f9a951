; SPDX-License-Identifier: MIT OR Apache-2.0
;
; The exchange of two long numbers under a mask.

#include "function.inc"

    .macro exchange_word
    mov     @r12+, r11
    xor     @r13+, r11
    and     r14, r11
    xor     r11, -2(r12)
    xor     r11, -2(r13)
    .endm

; name:       void sunseal_mp_swap(uint16_t *a, uint16_t *b, uint16_t mask, size_t n)
; registers:  r12 = a, r13 = b, r14 = mask, r15 = words left, four at a time, r11 = what differs
; stack:      2 bytes with the return address
; cycles:     4 + 56 n/4
    function sunseal_mp_swap
1:  exchange_word
    exchange_word
    exchange_word
    exchange_word
    sub     #4, r15
    jnz     1b
    ret
