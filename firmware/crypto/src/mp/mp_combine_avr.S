; SPDX-License-Identifier: MIT OR Apache-2.0
;
; A sum of three products of a signed word and a long number. No branch depends on data.

#include "../bytes_avr.inc"

; factor, at a register, becomes its magnitude, its sign a mask
    .macro magnitude factor, sign
    mov     \sign, \factor + 1
    lsl     \sign
    sbc     \sign, \sign
    eor     \factor, \sign
    eor     \factor + 1, \sign
    sub     \factor, \sign
    sbc     \factor + 1, \sign
    .endm

; r21..r18 += |factor| (word ^ sign)
    .macro term factor, sign, words
    ld      r22, \words+
    ld      r23, \words+
    eor     r22, \sign
    eor     r23, \sign
    mul     r23, \factor + 1
    add     r20, r0
    adc     r21, r1
    mul     r22, \factor
    add     r18, r0
    adc     r19, r1
    adc     r20, ZERO
    adc     r21, ZERO
    mul     r22, \factor + 1
    add     r19, r0
    adc     r20, r1
    adc     r21, ZERO
    mul     r23, \factor
    add     r19, r0
    adc     r20, r1
    adc     r21, ZERO
    .endm

; r18..r20 += |factor| & sign: the complement of a number is its negative less one
    .macro complement factor, sign
    mov     r22, \factor
    mov     r23, \factor + 1
    and     r22, \sign
    and     r23, \sign
    add     r18, r22
    adc     r19, r23
    adc     r20, ZERO
    .endm

; r = sum(factor * words) / 2^14 of two or three terms
; registers:  r2, r4, r6 = magnitudes (two bytes each), r8, r9, r10 = signs, r11 = ZERO, r12 = r, X, Y, Z =
;             words, Z also r while r14 keeps it, r16 = words left, r17 = upper byte of the word before,
;             r18..r21 = sum; T flag: no word before
    .set ZERO, 11
    .macro combine terms
    save_all
    clr     ZERO
    movw    r12, r24
    mov     r16, r20
    movw    r30, r22
    load_bytes 2, 2, Z
    load_bytes 2, 26, Z + 2
    load_bytes 2, 4, Z + 4
    load_bytes 2, 28, Z + 6
    to_all  4, clr, 18
    .if \terms == 3
    ldd     r6, Z + 8
    ldd     r7, Z + 9
    ldd     r0, Z + 10
    ldd     r31, Z + 11
    mov     r30, r0
    magnitude 6, r10
    complement 6, r10
    .else
    movw    r30, r12
    .endif
    magnitude 2, r8
    magnitude 4, r9
    complement 2, r8
    complement 4, r9
    set
1:  term    2, r8, X
    term    4, r9, Y
    .if \terms == 3
    term    6, r10, Z
    .endif
    brts    2f
    ; this word and the two highest bits of the one before
    movw    r22, r18
    .rept 2
    lsl     r17
    rol     r22
    rol     r23
    .endr
    .if \terms == 3
    movw    r14, r30
    movw    r30, r12
    .endif
    st      Z+, r22
    st      Z+, r23
    .if \terms == 3
    movw    r12, r30
    movw    r30, r14
    .endif
2:  clt
    mov     r17, r19
    movw    r18, r20
    clr     r20
    clr     r21
    dec     r16
    breq    3f
    rjmp    1b
3:  ; sign extension
    mov     r23, r17
    lsl     r23
    sbc     r23, r23
    mov     r22, r23
    .rept 2
    lsl     r17
    rol     r22
    .endr
    .if \terms == 3
    movw    r30, r12
    .endif
    st      Z, r22
    std     Z + 1, r23
    clr     r1
    restore_all
    ret
    .endm

; name:       void sunseal_mp_combine(uint16_t *r, const struct sunseal_mp_term terms[3], size_t n)
; stack:      20 bytes with the return address
; cycles:     151 + 103 n
    function sunseal_mp_combine
    combine 3

; name:       void sunseal_mp_combine_two(uint16_t *r, const struct sunseal_mp_term terms[3], size_t n)
; stack:      20 bytes with the return address
; cycles:     132 + 73 n
    function sunseal_mp_combine_two
    combine 2
