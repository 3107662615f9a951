; SPDX-License-Identifier: MIT OR Apache-2.0
;
; A row of a long product without a multiplier: the bits of the one factor make masks of the other.

#include "function.inc"

; name:       uint16_t sunseal_mp_addmul1(uint16_t *acc, const uint16_t *a, uint16_t b, size_t n)
; registers:  r12 = acc, r13 = a, r14 = b, turned through 16 bits for every word, r15 = words left,
;             r11 = word of a, r9:r8 = product, r7 = mask, r10 = carry
; stack:      10 bytes with the return address
; cycles:     18 + 160 n
    function sunseal_mp_addmul1
    pushm.w #4, r10
    mov     #0, r10
1:  mov     @r13+, r11
    mov     #0, r8
    mov     #0, r9
    .rept 16
    rla     r8
    rlc     r9
    rla     r14
    subc    r7, r7                  ; bit ? 0 : -1, and the bit stays in the carry
    adc     r14
    inv     r7
    and     r11, r7
    add     r7, r8
    adc     r9
    .endr
    add     r10, r8
    adc     r9
    add     r8, 0(r12)
    adc     r9
    mov     r9, r10
    incd    r12
    dec     r15
    jnz     1b
    mov     r10, r12
    popm.w  #4, r10
    ret
