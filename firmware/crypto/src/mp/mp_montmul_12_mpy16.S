; SPDX-License-Identifier: MIT OR Apache-2.0
;
; The Montgomery product of 12 words with the 16 x 16 bit multiplier, in rows as in
; ../field/product8_mpy16.S, by halves of 6 words: all four products of a and b, then twice a half of q, each
; of its words found when its row begins, and its product with the upper half of the modulus.

#include "../field/mpy.h"

#include "function.inc"
#include "../words.inc"

; \low and \high, of which \op starts or goes on with a chain, += the product with \factor
    .macro product factor, op, low, high
    mov     \factor, &OP2
    \op     &RESLO, \low
    addc    @r15, \high
    .endm

; c0..c5 += the row's word times the six of the factor with the even words, whose carry goes to c6, then with
; the odd ones; c6 is the register of c0, which \keep has seen to.
    .macro row c0, c1, c2, c3, c4, c5, keep:vararg
    product @r14+, add, \c0, \c1
    product @r14+, addc, \c2, \c3
    product r10, addc, \c4, \c5
    \keep
    mov     #0, \c0
    adc     \c0
    product @r14+, add, \c1, \c2
    product @r14+, addc, \c3, \c4
    product r11, addc, \c5, \c0
    sub     #8, r14
    .endm

    .macro rows kind, at, c0, c1, c2, c3, c4, c5
    \kind   \at, \c0, \c1, \c2, \c3, \c4, \c5
    .if \at < 10
    rows    \kind, \at+2, \c1, \c2, \c3, \c4, \c5, \c0
    .endif
    .endm

; 0(r12)... = the lowest words, r4..r9 the highest, of r4..r9 + the 6 words at r13 times the factor; r13 stands
; behind them.
    .macro row_of at, c0, c1, c2, c3, c4, c5
    mov     @r13+, &MPY
    row     \c0, \c1, \c2, \c3, \c4, \c5, mov \c0, \at(r12)
    .endm

    .section .text.sunseal_mp_montmul_12,"ax",%progbits
multiply6:
    rows    row_of, 0, r4, r5, r6, r7, r8, r9
    ret

; 0(r12)... = the 6 words q that, times the factor, clear the 6 lowest of the sum; r4..r9 = the others;
; r13 = n0
    .macro row_of_quotient at, c0, c1, c2, c3, c4, c5
    mov     r13, &MPY
    mov     \c0, &OP2
    mov     &RESLO, \at(r12)
    mov     &RESLO, &MPY
    row     \c0, \c1, \c2, \c3, \c4, \c5
    .endm

clear6:
    rows    row_of_quotient, 0, r4, r5, r6, r7, r8, r9
    ret

; Offsets from the stack pointer.
    .set FACTOR, 0                  ; words 0, 2, 1, 3 of the rows' factor; 4 and 5 are in r10 and r11
    .set Q, 8
    .set T, 20                      ; the product
    .set CARRY, 68
    .set CARRY_UP, 70
    .set R, 72
    .set A, 74
    .set B, 76
    .set M, 78                      ; the modulus' words, then n0

; The rows' factor = the 6 words at \of, from byte \at on
    .macro factor of, at
    mov     \of(sp), r14
    .if \at
    add     #\at, r14
    .endif
    mov     @r14+, FACTOR(sp)
    mov     @r14+, FACTOR+4(sp)
    mov     @r14+, FACTOR+2(sp)
    mov     @r14+, FACTOR+6(sp)
    mov     @r14+, r10
    mov     @r14, r11
    mov     sp, r14
    .endm

    .macro into at
    mov     sp, r12
    add     #\at, r12
    .endm

; r4..r9 \op the 6 words at \at(sp), the first with \first
    .macro with first, op, at
    \first  \at(sp), r4
    \op     \at+2(sp), r5
    \op     \at+4(sp), r6
    \op     \at+6(sp), r7
    \op     \at+8(sp), r8
    \op     \at+10(sp), r9
    .endm

    .macro store_six at
    mov_indexed \at, sp,  r4, r5, r6, r7, r8, r9
    .endm

    .macro carry_to at
    mov     #0, \at(sp)
    adc     \at(sp)
    .endm

    .macro add_carry
    add     CARRY(sp), r4
    adc     r5
    adc     r6
    adc     r7
    adc     r8
    adc     r9
    .endm

; Two blocks of T from \at on are cleared of the lower one; what is above the upper stays in registers.
    .macro reduce at
    factor  M, 0
    with    mov, mov, T+\at
    mov     M+2(sp), r13
    into    Q
    call    #clear6
    with    add, addc, T+\at+12
    carry_to CARRY
    factor  M, 12
    mov     sp, r13
    add     #Q, r13
    into    T+\at+12
    call    #multiply6
    add_carry
    .endm

; name:       void sunseal_mp_montmul_12(uint16_t *r, const uint16_t *a, const uint16_t *b,
;                                        const struct sunseal_mp_modulus *m)
; registers:  words in r4..r9, two of the rows' factor in r10 and r11, r12, r13, r14, r15 = address of RESHI
; stack:      100 bytes with the return addresses
; cycles:     3897
; clobbers:   r11-r15, MPY
    .global sunseal_mp_montmul_12
    .type sunseal_mp_montmul_12,%function
sunseal_mp_montmul_12:
    pushm.w #7, r10
    push    10(r15)
    push    @r15
    push    r14
    push    r13
    push    r12
    sub     #R, sp
    mov     #RESHI, r15
    factor  B, 0
    across  mov, mov, #0,  r4, r5, r6, r7, r8, r9
    mov     A(sp), r13
    into    T
    call    #multiply6
    add     #12, r12
    call    #multiply6
    store_six T+24
    factor  B, 12
    with    mov, mov, T+12
    mov     A(sp), r13
    call    #multiply6
    with    add, addc, T+24
    carry_to CARRY
    add     #12, r12
    call    #multiply6
    add_carry
    store_six T+36
    reduce  0
    with    add, addc, T+24
    carry_to CARRY_UP
    store_six T+24
    reduce  12
    rrc     CARRY_UP(sp)
    with    addc, addc, T+36
    mov     #0, r10
    adc     r10
    ; the number is r10, r4..r9, T[12..17]: once less m, and m again where that was too much
    mov     M(sp), r14
    mov     R(sp), r12
    mov     sp, r13
    add     #T+24, r13
    .set WORD, 0
    .rept 6
    mov     @r13+, r11
    .if WORD
    subc    @r14+, r11
    .else
    sub     @r14+, r11
    .endif
    mov     r11, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    .irp    word, r4, r5, r6, r7, r8, r9
    subc    @r14+, \word
    .endr
    sbc     r10
    inv     r10                     ; 0 where m is added, else -1
    sub     #24, r14
    clrc
    .set WORD, 0
    .rept 6
    mov     @r14+, r11
    bic     r10, r11
    addc    r11, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    .irp    word, r4, r5, r6, r7, r8, r9
    mov     @r14+, r11
    bic     r10, r11
    addc    r11, \word
    mov     \word, 2*WORD(r12)
    .set WORD, WORD + 1
    .endr
    .set WORD, 0
    .rept R/2
    mov     #0, 2*WORD(sp)
    .set WORD, WORD + 1
    .endr
    add     #R+10, sp
    popm.w  #7, r10
    ret
    .size sunseal_mp_montmul_12, . - sunseal_mp_montmul_12
