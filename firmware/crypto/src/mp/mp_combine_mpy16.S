; SPDX-License-Identifier: MIT OR Apache-2.0
;
; A sum of three products of a signed word and a long number, with the 16 x 16 bit
; multiply-accumulate that MPY32 has too.

#include "function.inc"
#include "../words.inc"
#include "../field/mpy.h"
#include "magnitude_msp430.inc"

; name:       void sunseal_mp_combine(uint16_t *r, const struct sunseal_mp_term terms[3], size_t n)
; registers:  r4, r5, r6 = magnitudes, r7, r8, r9 = signs, r10, r11, r13 = words, r12 = r,
;             r14 = the word before, r15 = temporary; words left on the stack
; stack:      18 bytes with the return address
; cycles:     68 + 55 n
; clobbers:   r11-r15, MPY
    .macro term factor, words, sign
    mov     \factor, &MAC
    mov     @\words+, r15
    xor     \sign, r15
    mov     r15, &OP2
    .endm

    function sunseal_mp_combine
    pushm.w #7, r10
    push    r14
    mov_from r13,  r4, r10, r5, r11, r6
    mov     @r13, r13
    magnitude r4, r7
    magnitude r5, r8
    magnitude r6, r9
    ; the complement of a number is its negative less one
    mov     r4, r14
    and     r7, r14
    mov     r5, r15
    and     r8, r15
    add     r15, r14
    mov     r6, r15
    and     r9, r15
    add     r15, r14
    mov     r14, &RESLO
    mov     #0, &RESHI
    ; the lowest word gives its upper bits to the word that is stored first
    term    r4, r10, r7
    term    r5, r11, r8
    term    r6, r13, r9
    mov     &RESLO, r14
    mov     &RESHI, &RESLO
    mov     #0, &RESHI
    dec     0(sp)
1:  term    r4, r10, r7
    term    r5, r11, r8
    term    r6, r13, r9
    mov     &RESLO, r15
    rla     r14
    rlc     r15
    rla     r14
    rlc     r15
    mov     r15, 0(r12)
    incd    r12
    mov     &RESLO, r14
    mov     &RESHI, &RESLO
    mov     #0, &RESHI
    dec     0(sp)
    jnz     1b
    ; sign extension
    mov     r14, r15
    rla     r15
    subc    r15, r15
    inv     r15
    rla     r14
    rlc     r15
    rla     r14
    rlc     r15
    mov     r15, 0(r12)
    incd    sp
    popm.w  #7, r10
    ret
