; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Products of 8 words with the 16 x 16 bit multiplier, in rows: a word of one factor times all words of the
; other, added to a sum that stays in registers. The products with even words lie side by side, and so do
; those with odd ones: each is one chain of carries, which moves leave alone. RESHI is read through r15, in the
; second instruction after OP2 (SLAU049, "Indirect Addressing of RESLO": not in the first).

#include "mpy.h"

#include "product8.inc"

    .set LIMB, 2

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

; Adds the square of the 8 words at r13, of which DOUBLE is twice.
    .macro square_rows
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
    .endm

    products
