; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Montgomery's product for the orders, four bytes at a time. No branch depends on a or b; on the modulus
; some do.

#include "../field/product_avr.inc"

; The fields of struct sunseal_mp_modulus.
    .set WORDS, 0
    .set COUNT, 6
    .set N0, 9

    .macro point pointer, symbol
    ldi     \pointer, lo8(\symbol)
    ldi     \pointer + 1, hi8(\symbol)
    .endm

; A row: the number at Z += limb times the number at X, of r25 limbs.
; registers:  limb = r2..r5, the last four bytes from X in r6..r9, column = r10..r12, r13 = 0; r25 = limbs
;             left; in the end Z is behind the row, and r18..r21 is what leaves there
    .set LIMB, 2
    .set LAST, 6
    .set SUM, 10
    .set ZERO, 13
    .set TOP, 18
    function sunseal_avr_row
    each    clr, 6, 7, 8, 9, 10, 11, 12
1:  .irp j, 0, 1, 2, 3
    turning \j
    ld      LAST + \j, X+
    ldd     r0, Z + \j
    add     S0, r0
    adc     S1, ZERO
    adc     S2, ZERO
    mac     LAST + \j, LIMB, S0, S1, S2
    mac     LAST + (\j + 3) % 4, LIMB + 1, S0, S1, S2
    mac     LAST + (\j + 2) % 4, LIMB + 2, S0, S1, S2
    mac     LAST + (\j + 1) % 4, LIMB + 3, S0, S1, S2
    std     Z + \j, S0
    .if \j < 3
    clr     S0
    .endif
    .endr
    mov     SUM, SUM + 1
    mov     SUM + 1, SUM + 2
    clr     SUM + 2
    adiw    r30, 4
    dec     r25
    breq    2f
    rjmp    1b
2:  mac     LAST + 3, LIMB + 1, SUM, SUM + 1, SUM + 2
    mac     LAST + 2, LIMB + 2, SUM, SUM + 1, SUM + 2
    mac     LAST + 1, LIMB + 3, SUM, SUM + 1, SUM + 2
    mov     TOP, SUM
    clr     SUM
    mac     LAST + 3, LIMB + 2, SUM + 1, SUM + 2, SUM
    mac     LAST + 2, LIMB + 3, SUM + 1, SUM + 2, SUM
    mov     TOP + 1, SUM + 1
    mul     LAST + 3, LIMB + 3
    add     SUM + 2, r0
    adc     SUM, r1
    mov     TOP + 2, SUM + 2
    mov     TOP + 3, SUM
    ret

; name:       void sunseal_mp_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b,
;                                     const struct sunseal_mp_modulus *m)
; registers:  Y = b, Z = product, r16 = a, r24 = rows left, r23 = limbs
; stack:      26 bytes with the return address
; cycles:     9 471 of 12 words for the order of secp160r1
    function sunseal_mp_montmul
    save_all
    each    push, 24, 25, 18, 19
    movw    r16, r22
    movw    r28, r20
    movw    r30, r18
    ldd     r23, Z + COUNT
    lsr     r23
    mov     r24, r23
    point   30, sunseal_avr_product
    clr     ZERO
    mov     r25, r23
1:  .rept 4
    st      Z+, ZERO
    .endr
    dec     r25
    brne    1b
    point   30, sunseal_avr_product
2:  load_from 4, LIMB, Y+
    movw    r26, r16
    mov     r25, r23
    call    sunseal_avr_row
    store_bytes 4, Z, TOP
    ; the next row begins four bytes above this one
    mov     r0, r23
    dec     r0
    lsl     r0
    lsl     r0
    sub     r30, r0
    sbc     r31, ZERO
    dec     r24
    brne    2b
    jmp     sunseal_avr_redc

; name:       void sunseal_mp_montmul_12(uint16_t *r, const uint16_t *a, const uint16_t *b,
;                                        const struct sunseal_mp_modulus *m), and _14, _16
; stack:      34 bytes with the return address
; cycles:     7 621 for the order of secp160r1, 10 300 for that of P-224, 12 793 for that of P-256
    .macro montmul_by product
    save_all
    each    push, 24, 25, 18, 19
    call    \product
    jmp     sunseal_avr_redc
    .endm

    function sunseal_mp_montmul_12
    montmul_by sunseal_avr_product_24

    function sunseal_mp_montmul_14
    montmul_by sunseal_avr_product_28

    function sunseal_mp_montmul_16
    montmul_by sunseal_avr_product_32

; The rest: reduces sunseal_avr_product modulo m, and wipes it; the caller's registers, r and m are on the
; stack.
;
; Orders are a power of two and something of half its length: their upper limbs are 0 or 2^32 - 1, the
; highest may be 1. These are written as digits -1, 0 and 1, with 2^32 - 1 as -1 and 1 for the next limb,
; and a row adds or subtracts its multiplier there instead of multiplying. What such a limb carries
; waits beside its digit for the next row, which works on the limb above.
;
; Of each digit that is not 0: four times its place above the one before, or above the first of the upper
; limbs; the digit; its carry as a mask.
; registers:  Y = m, r14 = general limbs, r15 = digits, r17 = four times the limbs from the last digit to the
;             highest limb's next, r23 = limbs, r24 = rows left, r16 = what the general limbs carry as a mask;
;             of a row: X = digits, r25 = digits left, r22 = digit, r18 = carry
    .set DIGITS, sunseal_avr_middle

; X = the general limbs' end
    .macro above limbs
    ldd     r26, Y + WORDS
    ldd     r27, Y + WORDS + 1
    mov     r0, \limbs
    lsl     r0
    lsl     r0
    add     r26, r0
    adc     r27, ZERO
    .endm

    function sunseal_avr_redc
    clr     r1
    clr     ZERO
    pop     r29
    pop     r28
    ldd     r23, Y + COUNT
    lsr     r23
    above   r23
    mov     r14, r23
    clr     r15
    clr     r22                     ; 1: the highest is 1, so that no 1 may come from below
1:  .irp i, 3, 2, 1, 0
    ld      18 + \i, -X
    .endr
    cp      r14, r23
    brne    2f
    cpi     r18, 1
    brne    2f
    dec     r18
    inc     r22
2:  cp      r20, r19
    brne    3f
    cp      r21, r19
    brne    3f
    cp      r18, r19
    brne    3f
    inc     r18
    cpi     r18, 2
    brsh    3f
    cp      r18, r22
    brlo    3f
    inc     r15
    dec     r14
    mov     r0, r14
    dec     r0
    brne    1b                      ; one at least is general
3:  above   r14
    point   30, DIGITS
    clr     r17
    clr     r22
    mov     r25, r15
    clr     r15
    rjmp    6f
4:  ld      r18, X
    adiw    r26, 4
    add     r22, r18                ; 255 is -1
    lsl     r18
    sbc     r18, r18
    tst     r22
    breq    5f
    st      Z+, r17
    st      Z+, r22
    st      Z+, ZERO
    clr     r17
    inc     r15
5:  mov     r22, r18
    neg     r22
    subi    r17, -4
6:  subi    r25, 1
    brcc    4b
    tst     r22
    breq    7f
    st      Z+, r17
    st      Z+, r22
    st      Z+, ZERO
    clr     r17
    inc     r15
7:
    point   30, sunseal_avr_product
    mov     r24, r23
    clr     r16
    ; the multiplier: the lowest limb times n0, modulo 2^32
8:  .irp i, 0, 1, 2, 3
    ldd     LAST + \i, Z + \i
    ldd     TOP + \i, Y + N0 + \i
    .endr
    mul     LAST, TOP
    movw    LIMB, r0
    mul     LAST, TOP + 2
    movw    LIMB + 2, r0
    mul     LAST + 1, TOP + 1
    add     LIMB + 2, r0
    adc     LIMB + 3, r1
    mul     LAST + 2, TOP
    add     LIMB + 2, r0
    adc     LIMB + 3, r1
    mul     LAST, TOP + 1
    add     LIMB + 1, r0
    adc     LIMB + 2, r1
    adc     LIMB + 3, ZERO
    mul     LAST + 1, TOP
    add     LIMB + 1, r0
    adc     LIMB + 2, r1
    adc     LIMB + 3, ZERO
    .irp i, 0, 1, 2, 3
    mul     LAST + \i, TOP + 3 - \i
    add     LIMB + 3, r0
    .endr
    push    r30
    push    r31
    ldd     r26, Y + WORDS
    ldd     r27, Y + WORDS + 1
    mov     r25, r14
    call    sunseal_avr_row
    load_bytes 4, LAST, Z
    lsr     r16
    .irp i, 0, 1, 2, 3
    adc     LAST + \i, TOP + \i
    .endr
    sbc     r16, r16
    store_bytes 4, Z, LAST
    point   26, DIGITS
    mov     r25, r15
    rjmp    12f
9:  ld      r0, X+
    add     r30, r0
    adc     r31, ZERO
    load_bytes 4, LAST, Z
    ld      r22, X+
    ld      r18, X
    tst     r22
    brmi    10f
    lsr     r18
    .irp i, 0, 1, 2, 3
    adc     LAST + \i, LIMB + \i
    .endr
    rjmp    11f
10: lsr     r18
    .irp i, 0, 1, 2, 3
    sbc     LAST + \i, LIMB + \i
    .endr
11: sbc     r18, r18
    st      X+, r18
    store_bytes 4, Z, LAST
12: subi    r25, 1
    brcc    9b
    pop     r31
    pop     r30
    adiw    r30, 4
    dec     r24
    breq    13f
    rjmp    8b

    ; what waits goes up; r16 is then what leaves at the top
13: push    r30
    push    r31
    mov     r0, r14
    lsl     r0
    lsl     r0
    add     r30, r0
    adc     r31, ZERO
    neg     r16
    point   26, DIGITS
14: clr     r18
    clr     r22
    mov     r25, r17
    subi    r25, -4                 ; of the last limbs all
    sub     r15, ZERO
    breq    15f
    ld      r25, X+
    ld      r22, X+
    ld      r18, X+
    subi    r25, -4
    tst     r22
    brmi    15f
    neg     r18
15: subi    r25, 4
    breq    16f
    mov     r19, r16
    lsl     r19
    sbc     r19, r19
    load_bytes 4, LAST, Z
    add     LAST, r16
    .irp i, 1, 2, 3
    adc     LAST + \i, r19
    .endr
    adc     r19, ZERO
    mov     r16, r19
    store_to 4, Z+, LAST
    rjmp    15b
16: add     r16, r18
    dec     r15
    brpl    14b
    pop     r31
    pop     r30

    ; less m once, if that leaves no borrow, or one that r16 pays
    movw    r18, r30
    ldd     r26, Y + WORDS
    ldd     r27, Y + WORDS + 1
    movw    r20, r26
    mov     r25, r23
    clc
17: .rept 4
    ld      r0, Z+
    ld      r22, X+
    sbc     r0, r22
    .endr
    dec     r25
    brne    17b
    sbc     r24, r24
    com     r24
    neg     r16
    or      r24, r16
    movw    r30, r18
    movw    r26, r20
    pop     r29
    pop     r28
    mov     r25, r23
    clc
18: .rept 4
    ld      r22, X+
    and     r22, r24
    ld      r0, Z+
    sbc     r0, r22
    st      Y+, r0
    .endr
    dec     r25
    brne    18b
    point   30, sunseal_avr_product
19: .rept 8
    st      Z+, ZERO
    .endr
    dec     r23
    brne    19b
    clr     r1
    restore_all
    ret
