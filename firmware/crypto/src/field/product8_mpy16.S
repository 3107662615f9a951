; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Products of 8 words with the 16 x 16 bit multiplier, in rows: a word of one factor times all words of the
; other, added to a sum that stays in registers. The products with even words lie side by side, and so do
; those with odd ones: each is one chain of carries, which moves leave alone. RESHI is read through r15, in the
; second instruction after OP2 (SLAU049, "Indirect Addressing of RESLO": not in the first).

#include "mpy.h"

#include "product8.inc"

; \low and \high, of which \op starts or goes on with a chain, += the product with the next word
    .macro product op, low, high
    mov     @r14+, &OP2
    \op     &RESLO, \low
    addc    @r15, \high
    .endm

; c0..c7 += the row's word times the words with the even places, whose carry goes to c8, then with the odd
; ones; c8 is the register of c0, which \keep has seen to.
    .macro row c0, c1, c2, c3, c4, c5, c6, c7, keep:vararg
    product add, \c0, \c1
    product addc, \c2, \c3
    product addc, \c4, \c5
    product addc, \c6, \c7
    \keep
    mov     #0, \c0
    adc     \c0
    product add, \c1, \c2
    product addc, \c3, \c4
    product addc, \c5, \c6
    product addc, \c7, \c0
    .endm

; The row of the next word at r13; the lowest word of the sum goes to \at(r12).
    .macro row_of at, c0, c1, c2, c3, c4, c5, c6, c7
    mov     @r13+, &MPY
    row     \c0, \c1, \c2, \c3, \c4, \c5, \c6, \c7, mov \c0, \at(r12)
    .endm

; The row of the word that clears the lowest of the sum; it goes to \at(r12).
    .macro row_of_quotient at, c0, c1, c2, c3, c4, c5, c6, c7
    mov     @r13, &MPY
    mov     \c0, &OP2
    mov     &RESLO, \at(r12)
    mov     &RESLO, &MPY
    row     \c0, \c1, \c2, \c3, \c4, \c5, \c6, \c7
    .endm

    .macro rows kind
    \kind   0, r4, r5, r6, r7, r8, r9, r10, r11
    sub     #16, r14
    \kind   2, r5, r6, r7, r8, r9, r10, r11, r4
    sub     #16, r14
    \kind   4, r6, r7, r8, r9, r10, r11, r4, r5
    sub     #16, r14
    \kind   6, r7, r8, r9, r10, r11, r4, r5, r6
    sub     #16, r14
    \kind   8, r8, r9, r10, r11, r4, r5, r6, r7
    sub     #16, r14
    \kind   10, r9, r10, r11, r4, r5, r6, r7, r8
    sub     #16, r14
    \kind   12, r10, r11, r4, r5, r6, r7, r8, r9
    sub     #16, r14
    \kind   14, r11, r4, r5, r6, r7, r8, r9, r10
    .endm

; r12[8], and above them r4..r11, = r4..r11 + the 8 words at r13 times 8 words at r14, whose even words come
; first; afterwards r13 and r14 stand behind the factors.
; registers:  r4..r11 = sum, r12, r13, r14, r15 = address of RESHI
; stack:      2 bytes with the return address
; cycles:     666
; clobbers:   r4-r11, r13, r14, MPY
    function sunseal_product8_mul
    rows    row_of
    ret
    .size sunseal_product8_mul, . - sunseal_product8_mul

; r4..r11 = (r4..r11 + q times the 8 words at r14)/2^128, q to r12[8]; the word at r13 is -1 over the lowest of
; those at r14, which come in the order of sunseal_product8_mul; afterwards r14 stands behind them.
; registers:  r4..r11 = sum, r12, r13, r14, r15 as there
; stack:      2 bytes with the return address
; cycles:     746
; clobbers:   r4-r11, r14, MPY
    function sunseal_product8_clear
    rows    row_of_quotient
    ret
    .size sunseal_product8_clear, . - sunseal_product8_clear

; \low, \high += the square of the row's word
    .macro square op, low, high
    mov     @r13+, &OP2
    \op     &RESLO, \low
    addc    @r15, \high
    .endm

; \low, \high += the row's word times twice the next one, \j, without what twice the row's word lifts into it
    .macro neighbour j, op, low, high
    mov     &DOUBLE+2*\j, r14
    bic     #1, r14
    mov     r14, &OP2
    \op     &RESLO, \low
    addc    @r15, \high
    .endm

; \low, \high += the row's word times word \j of twice the number
    .macro twice j, low, high
    mov     &DOUBLE+2*\j, &OP2
    addc    &RESLO, \low
    addc    @r15, \high
    .endm

    .macro carry_into word
    mov     #0, \word
    adc     \word
    .endm

; r12[8], and above them r4..r11, = r4..r11 + the square of the 8 words at r13; afterwards r13 stands behind
; them. A row is a_i (a_i + twice all that is above it); the 2^128 of the latter come at the end.
; registers:  r4..r11 = sum, r12, r13, r14 = word, r15 = address of RESHI
; stack:      2 bytes with the return address; static sunseal_product8_halves
; cycles:     529
; clobbers:   r4-r11, r12, r13, r14, MPY
    function sunseal_product8_sqr
    store_double
    ; word 0
    mov     @r13, &MPY
    square  add, r4, r5
    twice   2, r6, r7
    twice   4, r8, r9
    twice   6, r10, r11
    mov     r4, 0(r12)
    carry_into r4
    neighbour 1, add, r5, r6
    twice   3, r7, r8
    twice   5, r9, r10
    twice   7, r11, r4
    mov     r5, 2(r12)
    ; word 1
    mov     @r13, &MPY
    neighbour 2, add, r7, r8
    twice   4, r9, r10
    twice   6, r11, r4
    carry_into r5
    square  add, r6, r7
    twice   3, r8, r9
    twice   5, r10, r11
    twice   7, r4, r5
    mov     r6, 4(r12)
    mov     r7, 6(r12)
    ; word 2
    mov     @r13, &MPY
    square  add, r8, r9
    twice   4, r10, r11
    twice   6, r4, r5
    carry_into r6
    neighbour 3, add, r9, r10
    twice   5, r11, r4
    twice   7, r5, r6
    mov     r8, 8(r12)
    mov     r9, 10(r12)
    ; word 3
    mov     @r13, &MPY
    neighbour 4, add, r11, r4
    twice   6, r5, r6
    carry_into r7
    square  add, r10, r11
    twice   5, r4, r5
    twice   7, r6, r7
    mov     r10, 12(r12)
    mov     r11, 14(r12)
    ; word 4
    mov     @r13, &MPY
    square  add, r4, r5
    twice   6, r6, r7
    carry_into r8
    neighbour 5, add, r5, r6
    twice   7, r7, r8
    ; word 5
    mov     @r13, &MPY
    neighbour 6, add, r7, r8
    carry_into r9
    square  add, r6, r7
    twice   7, r8, r9
    ; word 6
    mov     @r13, &MPY
    square  add, r8, r9
    carry_into r10
    neighbour 7, add, r9, r10
    ; word 7
    mov     @r13, &MPY
    mov     #0, r11
    square  add, r10, r11
    lift    r4, r5, r6, r7, r8, r9, r10
    adc     r11
    incd    r13
    ret
    .size sunseal_product8_sqr, . - sunseal_product8_sqr
