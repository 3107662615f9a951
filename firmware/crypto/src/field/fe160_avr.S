; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Arithmetic modulo p = 2^160 - c, c = 2^31 + 1. Every value below 2^160 goes in and comes out. No branch
; depends on data.

#include "product_avr.inc"

; At sunseal_avr_product: the 40 bytes of a product, then 20 of M (see karatsuba_avr.inc).
    .set LOW, 0
    .set HIGH, 20
    .set MIDDLE, 40

; The reduction: the lower 20 bytes of the product at Z, the upper in HI; the caller's registers and the
; address of r are on the stack. The result is low + high + 2^31 high, and what leaves that above.
; registers:  HI = r2..r21, later the result's bytes 4 to 19 and, h, what leaves; bytes 0 to 3 in
;             r26..r29
    .set HI, 2
    .set ZERO, 25
    .macro reduce
    clr     ZERO
    .set I, 0
    .rept 20
    ldd     r0, Z + I
    .if I == 0
    add     r0, HI
    .else
    adc     r0, HI + I
    .endif
    std     Z + I, r0
    .set I, I + 1
    .endr
    sbc     r24, r24
    neg     r24
    ; 2^31 high: its half four bytes up, and its lowest bit in byte 3
    lsr     HI + 19
    down    19, ror, HI
    clr     r23
    ror     r23
    load_bytes 4, 26, Z
    add     r29, r23
    across_at 16, adc, adc, HI, Z + 4
    ; h = r21..r18, at most 2^31 + 1: h + 2^31 h into r18..r21, r22, r23, r0, r1
    adc     r18, r24
    to_all  3, adc, 19, ZERO
    movw    r22, r18
    movw    r0, r20
    lsr     r1
    each    ror, 0, 23, 22
    clr     r24
    ror     r24
    add     r21, r24
    adc     r22, ZERO
    adc     r23, ZERO
    adc     r0, ZERO
    adc     r1, ZERO
    across  4, add, adc, 26, 18
    adc     HI, r22
    adc     HI + 1, r23
    adc     HI + 2, r0
    adc     HI + 3, r1
    to_all  12, adc, HI + 4, ZERO
    ; A carry now leaves less than 2^63 behind: c once more ends in byte 7.
    sbc     r24, r24
    mov     r23, r24
    andi    r23, 0x80
    neg     r24
    add     r26, r24
    adc     r27, ZERO
    adc     r28, ZERO
    adc     r29, r23
    to_all  4, adc, HI, ZERO
    pop     r31
    pop     r30
    store_bytes 4, Z, 26
    store_bytes 16, Z + 4, HI
    clr     r1
    restore_all
    ret
    .endm

; name:       void sunseal_fe160_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  Y = a, X = b, Z = product; A, B = halves in r2..r11, r12..r21
; stack:      22 bytes with the return address
; cycles:     2461
    .set A, 2
    .set B, 12
    .set SUM, 22
    .macro load_low k, n
    .if \k < \n
    ldd     A + \k, Y + \k
    ld      B + \k, X+
    .endif
    .endm
    .macro load_high k, n
    .if \k < \n
    ldd     A + \k, Y + \n + \k
    ld      B + \k, X+
    .endif
    .endm
    .macro store_low k
    std     Z + LOW + \k, S0
    .endm
    .macro store_high k
    std     Z + HIGH + \k, S0
    .endm
    .macro store_middle k
    std     Z + MIDDLE + \k, S0
    .endm

; r[] = the 10 bytes of M from byte at, complemented by r26; T[] added with carry from and to r27
    .macro middle_and_t r, at
    .set I, 0
    .rept 10
    ldd     \r + I, Z + MIDDLE + \at + I
    eor     \r + I, r26
    .set I, I + 1
    .endr
    lsr     r27
    across  10, adc, adc, \r, T
    sbc     r27, r27
    .endm

    function sunseal_fe160_mul
    save_all
    push    r24
    push    r25
    movw    r28, r22
    movw    r26, r20
    ldi     r30, lo8(sunseal_avr_product)
    ldi     r31, hi8(sunseal_avr_product)
    clr     ZERO
    columns 10, turning, load_low, store_low
    columns 10, turning, load_high, store_high
    ; the differences of the halves, in place
    across_at 10, sub, sbc, A, Y
    sbc     r22, r22
    sbiw    r26, 20
    across_from 10, sub, sbc, B, X+
    sbc     r23, r23
    negate_if A, 10, r22
    negate_if B, 10, r23
    mov     r26, r22
    eor     r26, r23
    com     r26                     ; -1: subtract M
    columns 10, turning, nothing, store_middle
    ; T = high L + low H. Bytes 10 to 19: T + low L -+ low M, bytes 20 to 29: T + high H -+ high M.
    .set T, 12
    pair_at 10, add, adc, T, Z + LOW + 10, Z + HIGH
    sbc     r24, r24                ; T's carry, negative as all carries here
    mov     r27, r26
    middle_and_t HI, 0
    .set I, 0
    .rept 10
    ldd     r0, Z + LOW + I
    .if I == 0
    add     HI, r0
    .else
    adc     HI + I, r0
    .endif
    std     Z + LOW + 10 + I, HI + I
    .set I, I + 1
    .endr
    sbc     r23, r23
    add     r23, r27
    add     r23, r24                ; the three carries into T
    neg     r23
    add     T, r23
    to_all  9, adc, T + 1, ZERO
    sbc     r23, r23
    clr     r27
    middle_and_t HI, 10
    .set I, 0
    .rept 10
    ldd     T + I, Z + HIGH + 10 + I
    .if I == 0
    add     HI, T
    .else
    adc     HI + I, T + I
    .endif
    .set I, I + 1
    .endr
    sbc     r22, r22
    add     r22, r23
    add     r22, r24
    add     r22, r27
    neg     r22
    add     r22, r26                ; not negative
    add     T, r22
    to_all  9, adc, T + 1, ZERO
    reduce

; name:       void sunseal_fe160_sqr(uint16_t *r, const uint16_t *a)
; registers:  r2..r21 = a, Z = product
; stack:      22 bytes with the return address
; cycles:     1793
    .set TWICE, 22
    .set SUM, 25
    .set ZERO, 28
    function sunseal_fe160_sqr
    save_all
    push    r24
    push    r25
    movw    r30, r22
    load_bytes 20, A, Z
    ldi     r30, lo8(sunseal_avr_product)
    ldi     r31, hi8(sunseal_avr_product)
    clr     ZERO
    square_columns 20
    load_bytes 20, HI, Z + 20
    .set ZERO, 25
    reduce

; r = a + b or a - b: what leaves at the top is worth c; if that leaves again, what is left is so near
; to 0 or 2^160 that c once more ends in byte 3.
; registers:  Y = r, X = a, Z = b; the sum in r6..r25
    .set S, 6
; c, at bytes 0 and 3, onto the sum or from it, where the carry is set; r26 and r27 are used.
    .macro c_where_it_left first, next
    sbc     r26, r26
    mov     r27, r26
    andi    r26, 1
    andi    r27, 0x80
    \first  S, r26
    \next   S + 1, r1
    \next   S + 2, r1
    \next   S + 3, r27
    .endm

    .macro sum_with first, next
    each    push, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29
    movw    r28, r24
    movw    r26, r22
    movw    r30, r20
    .set I, 0
    .rept 20
    ld      S + I, X+
    ld      r0, Z+
    .if I == 0
    \first  S, r0
    .else
    \next   S + I, r0
    .endif
    .set I, I + 1
    .endr
    c_where_it_left \first, \next
    to_all  16, \next, S + 4, r1
    c_where_it_left \first, \next
    \next   S + 4, r1
    store_bytes 20, Y, S
    each    pop, 29, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6
    ret
    .endm

    sums    fe160
