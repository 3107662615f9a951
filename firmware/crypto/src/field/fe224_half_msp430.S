; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Half of a number modulo 2^224 - 2^96 + 1.

#include "half.inc"

    .set N, 14

; name:       void sunseal_fe224_half(uint16_t *r, const uint16_t *a)
; registers:  r12 = r, r13 = a, r11 = word, r15 and r14 = words of p, or 0
; stack:      2 bytes with the return address
; cycles:     149
; clobbers:   r11-r15
    function sunseal_fe224_half
    odd_masks
    .set WORD, 0
    add_word r14
    .rept 5
    add_word #0
    .endr
    .rept 8
    add_word r15
    .endr
    halve_words
    ret
    .size sunseal_fe224_half, . - sunseal_fe224_half
