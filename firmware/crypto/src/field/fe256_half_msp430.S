; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Half of a number modulo 2^256 - 2^224 + 2^192 + 2^96 - 1.

#include "half.inc"

    .set N, 16

; name:       void sunseal_fe256_half(uint16_t *r, const uint16_t *a)
; registers:  r12 = r, r13 = a, r11 = word, r15 and r14 = words of p, or 0
; stack:      2 bytes with the return address
; cycles:     169
; clobbers:   r11-r15
    function sunseal_fe256_half
    odd_masks
    .set WORD, 0
    .rept 6
    add_word r15
    .endr
    .rept 6
    add_word #0
    .endr
    add_word r14
    add_word #0
    add_word r15
    add_word r15
    halve_words
    ret
    .size sunseal_fe256_half, . - sunseal_fe256_half
