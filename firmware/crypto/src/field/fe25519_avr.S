; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Arithmetic modulo p = 2^255 - 19. Every value below 2^256 goes in and comes out, and products are
; reduced modulo 2p = 2^256 - 38. No branch depends on data.
;
; No carry runs twice through a number: what the highest bytes are worth beyond 2^255 is taken off and
; added below, times 19, before the rest is computed, and bit 255 has room for what that still carries.

#include "product_avr.inc"

; Eight bytes of low + 38 high, from byte at: products of even bytes in EVEN, of odd ones in ODD, then
; the sum in EVEN.
; registers:  Z = product, r28 = 38, r29 = carry of the sum with low as a mask; r17:r16 comes from the
;             eight bytes below
    .set EVEN, 2
    .set ODD, 10
    .macro eight at
    .irp i, 0, 2, 4, 6
    ldd     r0, Z + 32 + \at + \i
    mul     r0, r28
    movw    EVEN + \i, r0
    .if \i == 0
    add     EVEN, r16               ; a product is so small that its two bytes hold the sum
    adc     EVEN + 1, r17
    .endif
    ldd     r0, Z + 33 + \at + \i
    mul     r0, r28
    movw    ODD + \i, r0
    .endr
    across  7, add, adc, EVEN + 1, ODD
    mov     r16, ODD + 7
    clr     r17
    adc     r16, r17
    lsr     r29
    across_at 8, adc, adc, EVEN, Z + \at
    sbc     r29, r29
    .endm

; The end of a multiplication: the caller's registers and the address of r are on the stack, and Z points
; at the product.
    function sunseal_avr_reduce_25519
    ldi     r28, 38
    each    clr, 29, 16, 17
    eight   24
    .set I, 0
    .rept 4
    movw    18 + 2*I, EVEN + 2*I
    .set I, I + 1
    .endr
    sub     r16, r29
    lsl     r25
    rol     r16                     ; at most 79
    lsr     r25
    ldi     r17, 19
    mul     r16, r17
    movw    r16, r0
    clr     r29
    pop     r27
    pop     r26
    .irp at, 0, 8, 16
    eight   \at
    store_to 8, X+, EVEN
    .endr
    clr     r1
    sub     r16, r29
    add     r18, r16
    st      X+, r18
    .irp r, 19, 20, 21, 22, 23, 24, 25
    adc     r\r, r1
    st      X+, r\r
    .endr
    restore_all
    ret

    products fe25519, 32, sunseal_avr_reduce_25519

; r = a + b - q p, or a - b + q p. With t the sum or difference of the highest bytes, the true one is
; from t 2^248 to (t + 2) 2^248, or from (t - 1) 2^248 to (t + 1) 2^248; then these q keep r below 2^256:
;
;     a + b   t = 0 to 127: 0    128 to 255: 1    256 to 383: 2     384 to 510: 3
;     a - b   t = 128 to 255: 0  0 to 127: 1      -128 to -1: 2     -255 to -129: 3
;
; registers:  Y = a, Z = b, X = r; r18..r25 = eight bytes; r17 = q; r16, r15 = carries as masks
    .macro sum_with first, next
    each    push, 15, 16, 17, 28, 29
    movw    r26, r24
    movw    r28, r22
    movw    r30, r20
    ldd     r17, Y + 31
    ldd     r0, Z + 31
    \first  r17, r0
    sbc     r16, r16
    neg     r16
    lsl     r17
    rol     r16
    .ifc \first, sub
    ldi     r17, 1
    eor     r16, r17
    .endif
    mov     r17, r16
    ldi     r18, 19
    mul     r17, r18
    mov     r15, r0
    clr     r1
    clr     r16
    .set BLOCK, 0
    .rept 4
    load_bytes 8, 18, Y + 8*BLOCK
    .if BLOCK > 0
    lsr     r16
    .endif
    .if BLOCK == 0
    across_at 8, \first, \next, 18, Z
    .else
    across_at 8, \next, \next, 18, Z + 8*BLOCK
    .endif
    .if BLOCK < 3
    sbc     r16, r16
    .endif
    .if BLOCK == 0
    \first  r18, r15
    .else
    lsr     r15
    \next   r18, r1
    .endif
    to_all  7, \next, 19, r1
    .if BLOCK < 3
    sbc     r15, r15
    .else
    ror     r17                     ; its lowest bit is bit 255
    clr     r17
    ror     r17
    eor     r25, r17
    .endif
    store_to 8, X+, 18
    .set BLOCK, BLOCK + 1
    .endr
    each    pop, 29, 28, 17, 16, 15
    ret
    .endm

    sums    fe25519

; name:       void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a)
; registers:  Z = a, X = r; three bytes of a in turn from r18, three of the column from r21; r2 = 0,
;             r24, r25 = bytes 0, 1 of 121665, of which byte 2 is 1; r30 and r31 later q
; stack:      5 bytes with the return address
; cycles:     653
    .set ZERO, 2
    .set SUM, 21
    .macro turn k
    .set A0, 18 + (\k) % 3
    .set A1, 18 + (\k + 2) % 3
    .set A2, 18 + (\k + 1) % 3
    turning \k
    .endm

    function sunseal_fe25519_mul121665
    each    push, 2, 28, 29
    movw    r26, r24
    movw    r30, r22
    clr     ZERO
    ldi     r24, lo8(121665)
    ldi     r25, hi8(121665)
    ; q = 121665 times the three highest bytes, over 2^23 (they weigh 2^232): what is beyond 2^255, but
    ; for less than 2^249
    load_bytes 3, 18, Z + 29
    clr     r23
    mul     r18, r24
    mov     r21, r1
    clr     r22
    mac     r19, r24, r21, r22, r23
    mac     r18, r25, r21, r22, r23
    clr     r21
    mac     r20, r24, r22, r23, r21
    mac     r19, r25, r22, r23, r21
    add     r22, r18
    adc     r23, ZERO
    adc     r21, ZERO
    clr     r28
    mac     r20, r25, r23, r21, r28
    add     r23, r19
    adc     r21, r20
    adc     r28, ZERO
    lsl     r22
    each    rol, 23, 21, 28
    mov     r29, r23                ; q = r28:r21:r23, r29 its lowest byte
    ; 19 q, which begins the lowest column
    ldi     r20, 19
    mul     r21, r20
    movw    r18, r0
    mul     r28, r20
    mov     r28, r0
    mul     r23, r20
    mov     r21, r0
    mov     r22, r1
    add     r22, r18
    mov     r23, r28
    adc     r23, r19
    .set K, 0
    .rept 32
    turn    K
    ldd     A0, Z + K
    .if K > 0
    clr     S2
    .endif
    mac     A0, r24, S0, S1, S2
    .if K > 0
    mac     A1, r25, S0, S1, S2
    .endif
    .if K > 1
    add     S0, A2
    adc     S1, ZERO
    adc     S2, ZERO
    .endif
    .if K == 31
    lsr     r29
    clr     r29
    ror     r29
    eor     S0, r29
    .endif
    st      X+, S0
    .set K, K + 1
    .endr
    clr     r1
    each    pop, 29, 28, 2
    ret
