; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Sums, differences and the reduction modulo p = 2^224 - 2^96 + 1. Every value below 2^224 goes in and
; comes out. No branch depends on data. Operands may overlap wholly.

#include "sums_msp430.inc"

; The product of a multiplication, 28 words, least significant first.
    buffer  sunseal_fe224_product, 56

; Words 0 to 6 of r13[] \op r14[] in r4..r10, words 7 to 13 in r12[]
    .macro words op, opc
    mov     @r13+, r4
    \op     @r14+, r4
    .irp    word, r5, r6, r7, r8, r9, r10
    mov     @r13+, \word
    \opc    @r14+, \word
    .endr
    .set WORD, 7
    .rept 7
    mov     @r13+, r15
    \opc    @r14+, r15
    mov     r15, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    .endm

; r4..r10 \op 2^96 - 1 times the bit of which r15 is the mask
    .macro low_words op, opc
    across  \op, \opc, r15,  r4, r5, r6, r7, r8, r9
    \opc    #0, r10
    .endm

    .macro high_words opc
    .set WORD, 7
    .rept 7
    \opc    #0, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    .endm

; r12[] = r13[] \op r14[], words 0 to 6 in r4..r10, r15 = word, then mask: 2^224 is worth 2^96 - 1; if that leaves at the top again, what is left is below 2^97, and once more
; stays in words 0 to 6.
    .macro sum op, opc
    pushm.w #7, r10
    words   \op, \opc
    left    \op
    low_words \op, \opc
    high_words \opc
    left    \op
    low_words \op, \opc
    mov_indexed 0, r12,  r4, r5, r6, r7, r8, r9, r10
    popm.w  #7, r10
    ret
    .endm

; r15 = -1 where \op has left at the top, else 0
    .macro left op
    subc    r15, r15
    .ifc    \op, add
    inv     r15
    .endif
    .endm

    sums    fe224

; r4 = -c, r5 = c > 0 ? -1 : 0, r12 = c + r5 for c = r15, signed and small: words 0, 1 to 5 and 6 of
; c (2^96 - 1)
    .macro fold_words
    mov     r15, r4
    inv     r4
    inc     r4
    mov     r4, r5
    rla     r5
    subc    r5, r5
    inv     r5
    mov     r15, r12
    add     r5, r12
    .endm

; The end of every multiplication: reduces sunseal_fe224_product and returns to the caller of the
; multiplication, which has pushed r4-r10 and then r.
; With high = h0 + 2^128 h1 the value is low - (h0 + h1) - 2^128 h1 + 2^96 (h0 + h1).
; registers:  h0 + h1 in r4..r11 and r15, then words 8 to 13 in r6..r11
; cycles:     262
    function sunseal_fe224_reduce
    mov     #sunseal_fe224_product+28, r14
    mov_from r14,  r4, r5, r6, r7, r8, r9, r10, r11
    add_from r14,  r4, r5, r6, r7, r8, r9
    adc     r10
    adc     r11
    mov     #0, r15
    adc     r15
    sub_absolute sunseal_fe224_product,  r4, r5, r6, r7, r8, r9, r10, r11
    subc    r12, r12                ; borrow ? -1 : 0
    to_memory add, addc, sunseal_fe224_product+12,  r4, r5
    adc     r12
    sub     r15, r12                ; what comes to word 8, -2 to 1
    mov     r12, r13
    rla     r13
    subc    r13, r13
    inv     r13
    add     r12, r6
    across  addc, addc, r13,  r7, r8, r9, r10, r11, r15
    sub     #12, r14
    sub_from r14,  r6, r7, r8, r9, r10, r11
    sbc     r15
    add_of  sunseal_fe224_product+16,  r6, r7, r8, r9, r10, r11
    adc     r15                     ; times 2^224, -2 to 2
    fold_words
    mov     r15, r13
    rla     r13
    subc    r13, r13
    inv     r13                     ; c < 0 ? -1 : 0
    add_absolute sunseal_fe224_product,  r4, r5, r5, r5, r5, r5, r12, r13
    across  addc, addc, r13,  r6, r7, r8, r9, r10, r11
    mov     r13, r15
    adc     r15                     ; -1 to 1, and then words 0 to 6 hold the rest
    fold_words
    mov     r12, r13
    pop     r12
    mov     #sunseal_fe224_product, r14
    mov     @r14+, r15
    add     r4, r15
    mov     r15, 0(r12)
    .set WORD, 1
    .rept 5
    mov     @r14+, r15
    addc    r5, r15
    mov     r15, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    mov     @r14+, r15
    addc    r13, r15
    mov     r15, 12(r12)
    mov     @r14, 14(r12)
    mov_indexed 16, r12,  r6, r7, r8, r9, r10, r11
    popm.w  #7, r10
    ret
