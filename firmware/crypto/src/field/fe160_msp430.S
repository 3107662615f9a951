; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Sums, differences and the reduction modulo p = 2^160 - c, c = 2^31 + 1. Every value below 2^160
; goes in and comes out. No branch depends on data. Operands may overlap wholly.

#include "sums_msp430.inc"

; The product of a multiplication, 20 words, least significant first.
    buffer  sunseal_fe160_product, 40

; r14 = -1 where \op has left at the top, else 0
    .macro left op
    subc    r14, r14
    .ifc    \op, add
    inv     r14
    .endif
    .endm

; r12[] = r13[] \op r14[], words 0 to 9 in r4..r11, r15 and r13: what leaves at the top is worth c; if that leaves again, c once more stays in the three lowest
; words.
    .macro sum op, opc
    pushm.w #7, r10
    mov_from r13,  r4, r5, r6, r7, r8, r9, r10, r11, r15
    mov     @r13, r13
    across  \op, \opc, @r14+,  r4, r5, r6, r7, r8, r9, r10, r11, r15
    \opc    @r14, r13
    left    \op
    push    r14
    and     #1, r14
    \op     r14, r4
    mov     @sp, r14
    bic     #0x7fff, r14            ; bic leaves the carry alone
    \opc    r14, r5
    across  \opc, \opc, #0,  r6, r7, r8, r9, r10, r11, r15, r13
    left    \op
    mov     r14, 0(sp)
    and     #1, r14
    \op     r14, r4
    pop     r14
    bic     #0x7fff, r14
    \opc    r14, r5
    \opc    #0, r6
    mov_indexed 0, r12,  r4, r5, r6, r7, r8, r9, r10, r11, r15, r13
    popm.w  #7, r10
    ret
    .endm

    sums    fe160

; The end of every multiplication: reduces sunseal_fe160_product and returns to the caller of the
; multiplication, which has pushed r4-r10 and then r.
; registers:  the high words in r4..r13
; cycles:     213
    function sunseal_fe160_reduce
    ; low += high
    mov     #sunseal_fe160_product+20, r14
    mov_from r14,  r4, r5, r6, r7, r8, r9, r10, r11, r12
    mov     @r14, r13
    add_absolute sunseal_fe160_product,  r4, r5, r6, r7, r8, r9, r10, r11, r12, r13
    mov     #0, r15
    adc     r15
    ; low += 2^31 high: the half of high two words up, its lowest bit in word 1
    clrc
    rrc_each r13, r12, r11, r10, r9, r8, r7, r6, r5, r4
    mov     #0, r14
    rrc     r14
    add_absolute sunseal_fe160_product+2,  r14, r4, r5, r6, r7, r8, r9, r10, r11
    ; h = r13:r12, below 2^32, has left at the top: + h + 2^31 h
    addc    r15, r12
    adc     r13
    mov     #sunseal_fe160_product, r15
    mov_from r15,  r4, r5, r6, r7
    mov     #0, r8
    mov     #0, r9
    pairs   add, addc, r12, r4,  r13, r5
    adc_each r6, r7, r8
    clrc
    rrc_each r13, r12, r9
    pairs   add, addc, r9, r5,  r12, r6,  r13, r7
    adc     r8
    mov_from r15,  r9, r10, r11, r12, r13
    mov     @r15, r14
    add     r8, r9
    adc_each r10, r11, r12, r13, r14
    ; A carry now leaves less than 2^63 behind: c once more ends in word 3.
    subc    r8, r8
    inv     r8
    mov     r8, r15
    and     #1, r8
    and     #0x8000, r15
    pairs   add, addc, r8, r4,  r15, r5
    adc     r6
    adc     r7
    pop     r15
    mov_indexed 0, r15,  r4, r5, r6, r7, r9, r10, r11, r12, r13, r14
    popm.w  #7, r10
    ret
