; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Sums, differences and the Montgomery reduction modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1. Every
; value below 2^256 goes in and comes out. No branch depends on data. Operands may overlap wholly.

#include "sums_msp430.inc"

; The product of a multiplication, 32 words, least significant first.
    buffer  sunseal_fe256_product, 64

; r12[] = r13[] op r14[], the two highest words in r11 and r15
    .macro words op, opc
    .set WORD, 0
    .rept 14
    mov     @r13+, r15
    .if WORD
    \opc    @r14+, r15
    .else
    \op     @r14+, r15
    .endif
    mov     r15, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    mov     @r13+, r11
    \opc    @r14+, r11
    mov     @r13, r15
    \opc    @r14, r15
    .endm

; r12[] op q (2^256 - p), given r10 = q ? -1 : 0, r13 = -q: 2^256 - p is 2^224 - 2^192 - 2^96 + 1
    .macro fold op, opc
    mov     r13, r14
    inv     r14
    inc     r14
    mov     r10, r9
    add     r13, r9
    mov     r10, r8
    add     r14, r8
    \op     r14, 0(r12)
    \opc    #0, 2(r12)
    \opc    #0, 4(r12)
    \opc    #0, 6(r12)
    \opc    #0, 8(r12)
    \opc    #0, 10(r12)
    \opc    r13, 12(r12)
    \opc    r10, 14(r12)
    \opc    r10, 16(r12)
    \opc    r10, 18(r12)
    \opc    r10, 20(r12)
    \opc    r10, 22(r12)
    \opc    r9, 24(r12)
    \opc    r10, 26(r12)
    \opc    r8, r11
    \opc    #0, r15
    mov     r11, 28(r12)
    mov     r15, 30(r12)
    .endm

; A carry is worth one q; one more where the rest is at least p - 2^192, for which the two highest words have all their
; bits. The same for a borrow; once more where the rest is below 2^224.
; registers:  r15 = word; then see fold
    .macro sum op, opc
    pushm.w #3, r10
    words   \op, \opc
    subc    r10, r10
    .ifc    \op, add
    inv     r10                     ; carry ? -1 : 0
    mov     r11, r13
    and     r15, r13
    inc     r13
    .else
    mov     r11, r13
    bis     r15, r13
    .endif
    cmp     #1, r13
    subc    r13, r13                ; all bits, or none ? -1 : 0
    and     r10, r13
    add     r10, r13
    fold    \op, \opc
    popm.w  #3, r10
    ret
    .endm

    sums    fe256

; A chain of additions: r4..r9 op the words of M from \at on, with the carry that \carry keeps in bit 0
    .macro chain op, at, carry
    mov     #sunseal_fe256_product+\at, r13
    rrc     \carry
    across  \op, \op, @r13+,  r4, r5, r6, r7, r8, r9
    rlc     \carry
    .endm

    .macro load_six
    mov_from r14,  r4, r5, r6, r7, r8, r9
    .endm

    .macro store_six at
    mov_absolute sunseal_fe256_product+\at,  r4, r5, r6, r7, r8, r9
    .endm

; The end of every multiplication: sunseal_fe256_product / 2^256 modulo p, to the caller of the
; multiplication, which has pushed r4-r10 and then r. p is -1 modulo 2^96: with the multiple M p that
; clears the lower half, M = m[0..15], word i becomes t[i] + m[i-6] + m[i-12] - m[i-14] + m[i-16], and for
; i < 16 that is m[i] itself. Each of the four shifted copies of M has a carry of its own.
; registers:  r4..r9 = words, r14 walks over t, r13 over m, carries in r15 (6 words up), r10 (12), r11 (14),
;             r12 (16)
; cycles:     438
    function sunseal_fe256_reduce
    mov     #sunseal_fe256_product, r14
    load_six
    add_from r14,  r4, r5, r6, r7, r8, r9
    store_six 12
    mov_from r14,  r10, r11, r12, r13
    pairs   addc, addc, r4, r10,  r5, r11,  r6, r12,  r7, r13
    rlc     r15
    add_of  sunseal_fe256_product,  r10, r11, r12, r13
    rlc     r4
    sub     &sunseal_fe256_product, r12
    subc    &sunseal_fe256_product+2, r13
    rlc     r5
    mov_absolute sunseal_fe256_product+24,  r10, r11, r12, r13
    mov     r4, r10
    mov     r5, r11
    mov     #0, r12
    load_six                        ; words 16 to 21
    chain   addc, 20, r15
    chain   addc, 8, r10
    chain   subc, 4, r11
    chain   addc, 0, r12
    store_six 32
    load_six                        ; words 22 to 27
    rrc     r15
    adc_each r4, r5, r6, r7, r8, r9
    rlc     r15
    chain   addc, 20, r10
    chain   subc, 16, r11
    chain   addc, 12, r12
    store_six 44
    mov     @r14+, r4               ; words 28 to 31
    mov_from r14,  r5, r6, r7
    mov     #0, r8
    rrc     r15
    adc     r8
    rrc     r10
    adc     r8
    add     r8, r4
    adc_each r5, r6, r7
    mov     #0, r8
    adc     r8
    mov     #sunseal_fe256_product+24, r13
    rrc     r12
    addc_from r13,  r4, r5, r6, r7
    adc     r8
    sub     #4, r13
    rrc     r11
    across  subc, subc, @r13+,  r4, r5
    sbc     r6
    sbc     r7
    sbc     r8                      ; the sum is below 2^256 + p: one subtraction of p
    pop     r12
    mov     r8, r9
    inv     r9
    inc     r9
    mov     #sunseal_fe256_product+32, r14
    .set WORD, 0
    .rept 12
    mov     @r14+, r10
    .if WORD == 0
    sub     r9, r10
    .elseif WORD < 6
    subc    r9, r10
    .else
    sbc     r10
    .endif
    mov     r10, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    subc    r8, r4
    sbc     r5
    pairs   subc, subc, r9, r6,  r9, r7
    mov_indexed 24, r12,  r4, r5, r6, r7
    popm.w  #7, r10
    ret
