; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Sums, differences and the Montgomery reduction modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1. Every
; value below 2^256 goes in and comes out. No branch depends on data. Operands may overlap wholly.

#include "function.inc"

; The product of a multiplication, 32 words, least significant first.
    .section .bss.sunseal_fe256_product,"aw",@nobits
    .balign 2
    .global sunseal_fe256_product
    .type sunseal_fe256_product,@object
sunseal_fe256_product:
    .skip 64
    .size sunseal_fe256_product, 64

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

; name:       void sunseal_fe256_add(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  r12 = r, r13 = a, r14 = b, r15 = word; then see fold
; stack:      8 bytes with the return address
; cycles:     200
; clobbers:   r11-r15
    function sunseal_fe256_add
    pushm.w #3, r10
    words   add, addc
    ; A carry is worth one q; one more where the rest is at least p - 2^192, for which the two
    ; highest words have all their bits.
    subc    r10, r10
    inv     r10                     ; carry ? -1 : 0
    mov     r11, r13
    and     r15, r13
    inc     r13
    cmp     #1, r13
    subc    r13, r13                ; all bits ? -1 : 0
    and     r10, r13
    add     r10, r13
    fold    add, addc
    popm.w  #3, r10
    ret
    .size sunseal_fe256_add, . - sunseal_fe256_add

; name:       void sunseal_fe256_sub(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  as sunseal_fe256_add
; stack:      8 bytes with the return address
; cycles:     198
; clobbers:   r11-r15
    function sunseal_fe256_sub
    pushm.w #3, r10
    words   sub, subc
    ; The same for a borrow; once more where the rest is below 2^224.
    subc    r10, r10                ; borrow ? -1 : 0
    mov     r11, r13
    bis     r15, r13
    cmp     #1, r13
    subc    r13, r13                ; no bits ? -1 : 0
    and     r10, r13
    add     r10, r13
    fold    sub, subc
    popm.w  #3, r10
    ret
    .size sunseal_fe256_sub, . - sunseal_fe256_sub

; t[\at..] += r4.. and so on: a block M of three limbs at limbs 3 and 6 above its own, with the
; carry r15 left for limb 9
    .macro add_block_twice at
    mov     &sunseal_fe256_product+\at, r4
    mov     &sunseal_fe256_product+\at+2, r5
    mov     &sunseal_fe256_product+\at+4, r6
    mov     &sunseal_fe256_product+\at+6, r7
    mov     &sunseal_fe256_product+\at+8, r8
    mov     &sunseal_fe256_product+\at+10, r9
    add     r4, &sunseal_fe256_product+\at+12
    addc    r5, &sunseal_fe256_product+\at+14
    addc    r6, &sunseal_fe256_product+\at+16
    addc    r7, &sunseal_fe256_product+\at+18
    addc    r8, &sunseal_fe256_product+\at+20
    addc    r9, &sunseal_fe256_product+\at+22
    addc    r4, &sunseal_fe256_product+\at+24
    addc    r5, &sunseal_fe256_product+\at+26
    addc    r6, &sunseal_fe256_product+\at+28
    addc    r7, &sunseal_fe256_product+\at+30
    addc    r8, &sunseal_fe256_product+\at+32
    addc    r9, &sunseal_fe256_product+\at+34
    mov     #0, r15
    adc     r15
    .endm

; (r12, r13, r10, r11, r14, r4, r8, r9) = M (2^32 - 1) for M = r9..r4
    .macro times_2_32_minus_1
    mov     #0, r12
    mov     #0, r13
    mov     r4, r10
    mov     r5, r11
    mov     r6, r14
    sub     r4, r12
    subc    r5, r13
    subc    r6, r10
    subc    r7, r11
    mov     r7, r4
    subc    r8, r14
    subc    r9, r4
    sbc     r8
    sbc     r9
    .endm

; The end of every multiplication: sunseal_fe256_product / 2^256 modulo p, to the caller of the
; multiplication, which has pushed r4-r10 and then r. p is -1 modulo 2^96, so the multiple M p that
; clears the lowest three limbs is those limbs: p = 2^96 (2^96 + 1) + 2^224 (2^32 - 1) - 1.
; cycles:     484
; clobbers:   r11-r15
    function sunseal_fe256_reduce
    add_block_twice 0
    times_2_32_minus_1              ; for limbs 7 to 10
    add     r15, r14                ; carry for limb 9
    adc     r4
    adc     r8
    adc     r9
    add     r12, &sunseal_fe256_product+28
    addc    r13, &sunseal_fe256_product+30
    addc    r10, &sunseal_fe256_product+32
    addc    r11, &sunseal_fe256_product+34
    addc    r14, &sunseal_fe256_product+36
    addc    r4, &sunseal_fe256_product+38
    addc    r8, &sunseal_fe256_product+40
    addc    r9, &sunseal_fe256_product+42
    mov     #0, r14
    adc     r14
    push    r14                     ; for limb 11
    add_block_twice 12
    times_2_32_minus_1              ; for limbs 10 to 13
    add     r15, r14                ; carry for limb 12
    adc     r4
    adc     r8
    adc     r9
    pop     r15
    add     r15, r10                ; carry for limb 11
    adc     r11
    adc     r14
    adc     r4
    adc     r8
    adc     r9
    add     r12, &sunseal_fe256_product+40
    addc    r13, &sunseal_fe256_product+42
    addc    r10, &sunseal_fe256_product+44
    addc    r11, &sunseal_fe256_product+46
    addc    r14, &sunseal_fe256_product+48
    addc    r4, &sunseal_fe256_product+50
    addc    r8, &sunseal_fe256_product+52
    addc    r9, &sunseal_fe256_product+54
    mov     #0, r15
    adc     r15                     ; for limb 14
    ; the last two limbs, at limbs 9, 12 and, times 2^32 - 1, 13
    mov     &sunseal_fe256_product+24, r4
    mov     &sunseal_fe256_product+26, r5
    mov     &sunseal_fe256_product+28, r6
    mov     &sunseal_fe256_product+30, r7
    mov     #0, r8
    mov     #0, r9
    mov     r4, r10
    mov     r5, r11
    mov     r6, r12
    mov     r7, r13
    sub     r4, r8
    subc    r5, r9
    subc    r6, r10
    subc    r7, r11
    sbc     r12
    sbc     r13
    add     r15, r10                ; carry for limb 14
    adc     r11
    adc     r12
    adc     r13
    add     r4, &sunseal_fe256_product+36
    addc    r5, &sunseal_fe256_product+38
    addc    r6, &sunseal_fe256_product+40
    addc    r7, &sunseal_fe256_product+42
    addc    #0, &sunseal_fe256_product+44
    addc    #0, &sunseal_fe256_product+46
    addc    r4, &sunseal_fe256_product+48
    addc    r5, &sunseal_fe256_product+50
    addc    r6, &sunseal_fe256_product+52
    addc    r7, &sunseal_fe256_product+54
    adc     r10
    adc     r11
    adc     r12
    adc     r13
    mov     #0, r15
    add     r8, &sunseal_fe256_product+52
    addc    r9, &sunseal_fe256_product+54
    addc    r10, &sunseal_fe256_product+56
    addc    r11, &sunseal_fe256_product+58
    addc    r12, &sunseal_fe256_product+60
    addc    r13, &sunseal_fe256_product+62
    adc     r15                     ; the sum is below 2^256 + p: one subtraction of p
    inv     r15
    inc     r15
    mov     r15, r13
    and     #1, r13
    pop     r12
    mov     #sunseal_fe256_product+32, r14
    .set WORD, 0
    .rept 16
    mov     @r14+, r4
    .if WORD == 0
    sub     r15, r4
    .elseif WORD < 6
    subc    r15, r4
    .elseif WORD == 12
    subc    r13, r4
    .elseif WORD >= 14
    subc    r15, r4
    .else
    sbc     r4
    .endif
    mov     r4, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    popm.w  #7, r10
    ret
    .size sunseal_fe256_reduce, . - sunseal_fe256_reduce
