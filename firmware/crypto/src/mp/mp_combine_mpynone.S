; SPDX-License-Identifier: MIT OR Apache-2.0
;
; A sum of three products of a signed word and a long number without a multiplier: the bits of the factors
; make masks of the words, and the three products share their doublings.

#include "function.inc"
#include "../words.inc"
#include "magnitude_msp430.inc"

; r11:r10 += the highest bit of factor ? word : 0; turns the factor by one bit
    .macro masked_add factor, word
    rla     \factor
    subc    r12, r12                ; bit ? 0 : -1, and the bit stays in the carry
    adc     \factor
    inv     r12
    and     \word, r12
    add     r12, r10
    adc     r11
    .endm

    .macro next_word pointer, sign, to
    mov     \pointer(sp), r13
    mov     @r13+, \to
    mov     r13, \pointer(sp)
    xor     \sign(sp), \to
    .endm

; r = r10, and the two highest bits of r12 below
    .macro store_shifted
    rla     r12
    rlc     r10
    rla     r12
    rlc     r10
    mov     16(sp), r13
    mov     r10, 0(r13)
    .endm

; name:       void sunseal_mp_combine(uint16_t *r, const struct sunseal_mp_term terms[3], size_t n)
; registers:  r4, r5, r6 = magnitudes, r7, r8, r9 = words, r11:r10 = sum, r12 = mask, r13 = pointer,
;             r14 = bits left, r15 = what the words before carry
; stack:      36 bytes with the return address
; cycles:     77 + 489 n
    function sunseal_mp_combine
    pushm.w #7, r10
    push    r12                     ; 16(sp): r
    push    r14                     ; 14(sp): words left
    mov     @r13+, r4
    push    @r13+                   ; 12(sp), 10(sp), 8(sp): the numbers
    mov     @r13+, r5
    push    @r13+
    mov     @r13+, r6
    push    @r13
    magnitude r4, r7
    push    r7                      ; 6(sp), 4(sp), 2(sp): signs
    magnitude r5, r8
    push    r8
    magnitude r6, r9
    push    r9
    ; the complement of a number is its negative less one
    pairs   and, and, r4, r7,  r5, r8,  r6, r9
    mov     r7, r15
    add     r8, r15
    add     r9, r15
    sub     #2, sp                  ; 0(sp): the word before
    ; the lowest word gives its upper bits to the word that is stored first
    call    #combine_word
    mov     r10, 0(sp)
    dec     14(sp)
1:  call    #combine_word
    mov     @sp, r12
    mov     r10, 0(sp)
    store_shifted
    incd    16(sp)
    dec     14(sp)
    jnz     1b
    ; sign extension
    mov     @sp, r12
    mov     r12, r10
    rla     r10
    subc    r10, r10
    inv     r10
    store_shifted
    add     #18, sp
    popm.w  #7, r10
    ret

; r10 = next word of the sum
combine_word:
    next_word 14, 8, r7
    next_word 12, 6, r8
    next_word 10, 4, r9
    mov     #0, r10
    mov     #0, r11
    mov     #16, r14
2:  rla     r10
    rlc     r11
    masked_add r4, r7
    masked_add r5, r8
    masked_add r6, r9
    dec     r14
    jnz     2b
    add     r15, r10
    adc     r11
    mov     r11, r15
    ret
