; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Ascon's permutation, SP 800-232, section 3. Word i of the state lies at 8i(r15), its lowest 16 bits first.

#include "function.inc"
#include "../words.inc"

; The substitution on 16 bits of each word, at \at
    .macro substitute at
    .if \at
    mov     \at(r15), r4
    .else
    mov     @r15, r4
    .endif
    mov     8+\at(r15), r5
    mov     16+\at(r15), r6
    mov     24+\at(r15), r7
    mov     32+\at(r15), r8
    .if \at == 0
    xor     r14, r6                 ; the round's constant
    .endif
    xor     r8, r4
    xor     r7, r8
    xor     r5, r6
    mov     r5, r9
    bic     r4, r9                  ; ~x0 & x1
    mov     r4, r10
    bic     r8, r10                 ; ~x4 & x0
    mov     r6, r11
    bic     r5, r11
    xor     r11, r4
    mov     r7, r11
    bic     r6, r11
    xor     r11, r5
    mov     r8, r11
    bic     r7, r11
    xor     r11, r6
    xor     r10, r7
    xor     r9, r8
    xor     r4, r5
    xor     r8, r4
    xor     r6, r7
    inv     r6
    mov     r4, \at(r15)
    mov     r5, 8+\at(r15)
    mov     r6, 16+\at(r15)
    mov     r7, 24+\at(r15)
    mov     r8, 32+\at(r15)
    .endm

; Turning 64 bits in four registers, the lowest first
    .macro right_1 a, b, c, d
    bit     #1, \a
    rrc     \d
    rrc     \c
    rrc     \b
    rrc     \a
    .endm

    .macro left_1 a, b, c, d
    rla     \a
    rlc     \b
    rlc     \c
    rlc     \d
    adc     \a
    .endm

    .macro exchange_low a, b
    mov     \a, r12
    xor.b   \b, r12                 ; the upper byte becomes 0
    xor     r12, \a
    xor     r12, \b
    .endm

    .macro right_8 a, b, c, d
    exchange_low \a, \b
    exchange_low \b, \c
    exchange_low \c, \d
    swpb    \a
    swpb    \b
    swpb    \c
    swpb    \d
    .endm

; The next word, at r13
    .macro load
    mov_from r13,  r4, r5, r6, r7
    .endm

    .macro copy
    pairs   mov, mov, r4, r8,  r5, r9,  r6, r10,  r7, r11
    .endm

; Word \at += two turned words, their registers in the order of its 16-bit parts
    .macro add_word at, a, b, c, d, e, f, g, h
    pairs   xor, xor, \a, \e,  \b, \f,  \c, \g,  \d, \h
    to_indexed xor, xor, \at, r15,  \e, \f, \g, \h
    .endm

; name:       void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds)
; registers:  r15 = state, r14 = constant, r13 walks over the words, others hold parts
; stack:      16 bytes with the return address
; cycles:     6342 for 12 rounds, 6598 on a classic CPU
    function sunseal_ascon_permute
    pushm.w #7, r10
    mov     r12, r15
    ; The constant of the last round is 0x4b, each one before it is larger by 15.
    and     #0xff, r13
    mov     r13, r14
    rla     r14
    rla     r14
    rla     r14
    rla     r14
    sub     r13, r14
    add     #0x3c, r14
1:  substitute 0
    substitute 2
    substitute 4
    substitute 6
    mov     r15, r13
    ; By 19 = 16 + 3 and 28 = 32 - 4
    load
    copy
    .rept 3
    right_1 r4, r5, r6, r7
    .endr
    .rept 4
    left_1  r8, r9, r10, r11
    .endr
    add_word 0, r5, r6, r7, r4, r10, r11, r8, r9
    ; By 61 = 64 - 3 and 39 = 32 + 8 - 1
    load
    left_1  r4, r5, r6, r7
    copy
    right_8 r8, r9, r10, r11
    left_1  r4, r5, r6, r7
    left_1  r4, r5, r6, r7
    add_word 8, r4, r5, r6, r7, r10, r11, r8, r9
    ; By 1 and 6
    load
    right_1 r4, r5, r6, r7
    copy
    .rept 5
    right_1 r8, r9, r10, r11
    .endr
    add_word 16, r4, r5, r6, r7, r8, r9, r10, r11
    ; By 10 = 8 + 2 and 17 = 16 + 1
    load
    right_1 r4, r5, r6, r7
    copy
    right_1 r8, r9, r10, r11
    right_8 r8, r9, r10, r11
    add_word 24, r5, r6, r7, r4, r8, r9, r10, r11
    ; By 7 = 8 - 1 and 41 = 32 + 8 + 1
    load
    right_8 r4, r5, r6, r7
    copy
    left_1  r4, r5, r6, r7
    right_1 r8, r9, r10, r11
    add_word 32, r4, r5, r6, r7, r10, r11, r8, r9
    sub     #15, r14
    cmp     #0x3c, r14
    jeq     2f
    br      #1b
2:  popm.w  #7, r10
    ret
