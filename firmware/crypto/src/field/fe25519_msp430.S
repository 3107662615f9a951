; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Sums and differences modulo p = 2^255 - 19. Every value below 2^256 goes in and comes out. No branch
; depends on data. Operands may overlap wholly.
;
; The highest words go first: what they have above 2^255 comes back 19 times at the lowest word, so
; that one pass is enough.

#include "sums_msp430.inc"
#include "times19.inc"

; The product of a multiplication, 32 words, least significant first.
    buffer  sunseal_fe25519_product, 64

; The first word = that at r13, which walks on, \op r11; the others the same with the carry.
    .macro take op, opc, first, others:vararg
    mov     @r13+, \first
    \op     r11, \first
    .irp    word, \others
    mov     @r13+, \word
    \opc    #0, \word
    .endr
    .endm

; r12[] = r13[] \op r14[] \op r11, of which the highest word is in r15: first with r11, then with the
; operand; both carries go into word 7, and at the end into the highest.
    .macro words op, opc
    take    \op, \opc,  r4, r5, r6, r7, r8, r9, r10
    carry_\op
    across  \op, \opc, @r14+,  r4, r5, r6, r7, r8, r9, r10
    carries_\op
    mov_indexed 0, r12,  r4, r5, r6, r7, r8, r9, r10
    take    \op, \opc,  r4, r5, r6, r7, r8, r9, r10
    mov     @r13, r13
    \opc    #0, r13
    carry_\op
    across  \op, \opc, @r14+,  r4, r5, r6, r7, r8, r9, r10
    \opc    @r14, r13
    carries_\op
    \op     r11, r15
    mov_indexed 14, r12,  r4, r5, r6, r7, r8, r9, r10, r13, r15
    .endm

; r11 = how often the first chain carries, or borrows; then the second too
    .macro carry_add
    mov     #0, r11
    adc     r11
    .endm

    .macro carries_add
    adc     r11
    .endm

    .macro carry_sub
    subc    r11, r11
    .endm

    .macro carries_sub
    sbc     r11
    inv     r11
    inc     r11
    .endm

; What the highest words have above 2^255, 19 times, to r11, and what they have below it to r15.
    .macro top_add
    mov     30(r13), r15
    add     30(r14), r15
    mov     #0, r11
    rlc     r11
    rla     r15
    rlc     r11                     ; bits above 2^255
    rrc     r15
    .endm

    .macro top_sub
    mov     30(r13), r15
    sub     30(r14), r15
    subc    r11, r11                ; borrow ? -1 : 0
    ; The highest word keeps 2 for the other words to borrow; only where it cannot is p added.
    sub     #2, r15
    sbc     r11                     ; less than 0 ? -1 : 0
    mov     r11, r9
    mov     r15, r10
    and     r9, r10
    rla     r10
    rlc     r11                     ; what is below, times 2^255: -3 to 0
    bic     #0x7fff, r9
    bic     r9, r15
    incd    r15
    inv     r11
    inc     r11
    .endm

; registers:  words in r4..r10, r15 = the highest, r11 = carries
    .macro sum op, opc
    pushm.w #7, r10
    top_\op
    times_19 r11, r10
    words   \op, \opc
    popm.w  #7, r10
    ret
    .endm

    sums    fe25519
