; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Half of a number modulo 2^160 - 2^31 - 1.

#include "half.inc"

    .set N, 10

; name:       void sunseal_fe160_half(uint16_t *r, const uint16_t *a)
; registers:  r12 = r, r13 = a, r11 = word, r15 and r14 = words of p, or 0
; stack:      2 bytes with the return address
; cycles:     112
; clobbers:   r11-r15
    function sunseal_fe160_half
    odd_masks
    mov     r15, r14
    bic     #0x8000, r14
    .set WORD, 0
    add_word r15
    add_word r14
    .rept 8
    add_word r15
    .endr
    halve_words
    ret
    .size sunseal_fe160_half, . - sunseal_fe160_half
