; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Products of 8 words with MPY32, in rows of limbs of 2 words; as product8_mpy16.S. RES0 to RES3 are read
; through r15, each no sooner after OP2H than SLAU208, table "Result Availability", asks for.

#include "mpy.h"

#include "product8.inc"

    .set LIMB, 4

; Four words, of which \op starts or goes on with a chain, += the product
    .macro result op, w0, w1, w2, w3
    \op     @r15+, \w0
    addc_from r15,  \w1, \w2, \w3
    mov     #RES0, r15
    .endm

    .macro product op, w0, w1, w2, w3
    mov     @r14+, &OP2L
    mov     @r14+, &OP2H
    result  \op, \w0, \w1, \w2, \w3
    .endm

; \low, \high = the carry
    .macro carry_into low, high
    mov     #0, \low
    mov     #0, \high
    adc     \low
    .endm

; c0..c7 += the row's limb times the limbs with the even places, whose carry goes to c9:c8, then with the odd
; ones; those are the registers of c1:c0, which \keep has seen to.
    .macro row c0, c1, c2, c3, c4, c5, c6, c7, keep
    product add, \c0, \c1, \c2, \c3
    product addc, \c4, \c5, \c6, \c7
    .ifnb \keep
    mov     \c0, \keep(r12)
    mov     \c1, \keep+2(r12)
    .endif
    carry_into \c0, \c1
    product add, \c2, \c3, \c4, \c5
    product addc, \c6, \c7, \c0, \c1
    .endm

; The row of the next limb at r13; the lowest limb of the sum goes to \at(r12).
    .macro row_of at, c0, c1, c2, c3, c4, c5, c6, c7
    mov     @r13+, &MPY32L
    mov     @r13+, &MPY32H
    row     \c0, \c1, \c2, \c3, \c4, \c5, \c6, \c7, \at
    .endm

; The row of the limb that clears the lowest of the sum; it goes to \at(r12).
    .macro row_of_quotient at, c0, c1, c2, c3, c4, c5, c6, c7
    mov     @r13, &MPY32L
    mov     2(r13), &MPY32H
    mov     \c0, &OP2L
    mov     \c1, &OP2H
    mov     &RES0, \at(r12)
    mov     &RES1, \at+2(r12)
    mov     &RES0, &MPY32L
    mov     &RES1, &MPY32H
    row     \c0, \c1, \c2, \c3, \c4, \c5, \c6, \c7
    .endm

; The row's limb, the next one at r13.
    .macro limb
    mov     @r13, &MPY32L
    mov     2(r13), &MPY32H
    .endm

; += its square
    .macro square op, w0, w1, w2, w3
    mov     @r13+, &OP2L
    mov     @r13+, &OP2H
    result  \op, \w0, \w1, \w2, \w3
    .endm

; += it times twice the next limb, \j, without what twice the row's limb lifts into it
    .macro neighbour j, op, w0, w1, w2, w3
    mov     &DOUBLE+4*\j, r14
    bic     #1, r14
    mov     r14, &OP2L
    mov     &DOUBLE+4*\j+2, &OP2H
    result  \op, \w0, \w1, \w2, \w3
    .endm

; += it times limb \j of twice the number
    .macro twice j, w0, w1, w2, w3
    mov     &DOUBLE+4*\j, &OP2L
    mov     &DOUBLE+4*\j+2, &OP2H
    result  addc, \w0, \w1, \w2, \w3
    .endm

; Adds the square of the 8 words at r13, of which DOUBLE is twice.
    .macro square_rows
    limb
    square  add, r4, r5, r6, r7
    twice   2, r8, r9, r10, r11
    mov     r4, 0(r12)
    mov     r5, 2(r12)
    carry_into r4, r5
    neighbour 1, add, r6, r7, r8, r9
    twice   3, r10, r11, r4, r5
    mov     r6, 4(r12)
    mov     r7, 6(r12)
    limb
    neighbour 2, add, r10, r11, r4, r5
    carry_into r6, r7
    square  add, r8, r9, r10, r11
    twice   3, r4, r5, r6, r7
    mov_indexed 8, r12,  r8, r9, r10, r11
    limb
    square  add, r4, r5, r6, r7
    carry_into r8, r9
    neighbour 3, add, r6, r7, r8, r9
    limb
    mov     #0, r10
    mov     #0, r11
    square  add, r8, r9, r10, r11
    lift    r4, r5, r6, r7, r8, r9
    adc     r10
    adc     r11
    add     #4, r13
    .endm

    products
