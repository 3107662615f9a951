; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Arithmetic modulo p = 2^256 - 2^224 + 2^192 + 2^96 - 1 in Montgomery form. Every value below 2^256
; goes in and comes out. No branch depends on data.

#include "product_avr.inc"

; Four bytes at a time: a limb is the lowest of its registers, CARRY what belongs to the next, signed.
    .set ZERO, 0
    .set CARRY, 1
    .set BYTE, 26

; Bytes of two limbs together, from the lowest on, and what that carries.
    .macro limbs first, next, limb, other
    across  4, \first, \next, \limb, \other
    \next   CARRY, ZERO
    .endm

; The same with the 4 bytes at Z + at.
    .macro limb_at first, next, limb, at
    ldd     BYTE, Z + \at
    \first  \limb, BYTE
    .irp i, 1, 2, 3
    ldd     BYTE, Z + \at + \i
    \next   \limb + \i, BYTE
    .endr
    \next   CARRY, ZERO
    .endm

; limb += CARRY
    .macro take_carry limb
    mov     BYTE, CARRY
    lsl     BYTE
    sbc     BYTE, BYTE
    add     \limb, CARRY
    to_all  3, adc, \limb + 1, BYTE
    adc     BYTE, ZERO
    mov     CARRY, BYTE
    .endm

; The end of a multiplication: the caller's registers and the address of r are on the stack, and Z points
; at the product t. Because p = -1 + 2^96 + 2^192 - 2^224 + 2^256, the multiple m p that clears the low
; half has m = t + m (2^96 + 2^192 - 2^224) modulo 2^256, and (t + m p) / 2^256 is m and what this
; sum carries beyond 2^256.
; registers:  limbs 0 to 5 of m, then of the result, in r2..r25; limbs 6 and 7 of m replace those of t
    .set M0, 2
    .set M1, 6
    .set M2, 10
    .set M3, 14
    .set M4, 18
    .set M5, 22
    function sunseal_avr_reduce_p256
    clr     ZERO
    clr     CARRY
    load_bytes 4, M0, Z + 0
    load_bytes 4, M1, Z + 4
    load_bytes 4, M2, Z + 8
    load_bytes 4, M3, Z + 12
    load_bytes 4, M4, Z + 16
    load_bytes 4, M5, Z + 20
    across  12, add, adc, M3, M0
    adc     CARRY, ZERO
    ; limb 6 of m, then limb 7
    load_bytes 4, 26, Z + 24
    add     r26, CARRY
    to_all  3, adc, 27, ZERO
    sbc     CARRY, CARRY
    neg     CARRY
    limbs   add, adc, 26, M3
    limbs   add, adc, 26, M0
    store_bytes 4, Z + 24, 26
    load_bytes 4, 26, Z + 28
    add     r26, CARRY
    to_all  3, adc, 27, ZERO
    sbc     CARRY, CARRY
    neg     CARRY
    limbs   add, adc, 26, M4
    limbs   add, adc, 26, M1
    limbs   sub, sbc, 26, M0
    store_bytes 4, Z + 28, 26
    ; limb i of the result: t[8 + i] + m[i] + m[i + 2] - m[i + 1] + m[i + 5], as far as m has them
    take_carry M0
    limbs   add, adc, M0, M2
    limbs   sub, sbc, M0, M1
    limbs   add, adc, M0, M5
    limb_at add, adc, M0, 32
    take_carry M1
    limbs   add, adc, M1, M3
    limbs   sub, sbc, M1, M2
    limb_at add, adc, M1, 24
    limb_at add, adc, M1, 36
    take_carry M2
    limbs   add, adc, M2, M4
    limbs   sub, sbc, M2, M3
    limb_at add, adc, M2, 28
    limb_at add, adc, M2, 40
    take_carry M3
    limbs   add, adc, M3, M5
    limbs   sub, sbc, M3, M4
    limb_at add, adc, M3, 44
    take_carry M4
    limb_at add, adc, M4, 24
    limbs   sub, sbc, M4, M5
    limb_at add, adc, M4, 48
    take_carry M5
    limb_at add, adc, M5, 28
    limb_at sub, sbc, M5, 24
    limb_at add, adc, M5, 52
    store_bytes 4, Z + 0, M0
    store_bytes 4, Z + 4, M1
    load_bytes 4, 2, Z + 24
    load_bytes 4, 6, Z + 28
    take_carry 2
    limbs   sub, sbc, 2, 6
    limb_at add, adc, 2, 56
    take_carry 6
    limb_at add, adc, 6, 60
    ; (2^512 + 2^256 p) / 2^256 < 2^256 + p: the carry is 0 or 1, and one subtraction is enough
    pop     r27
    pop     r26
    mov     r29, CARRY
    neg     CARRY
    .set I, 0
    .rept 32
    .if I < 8
    .set S0, 28
    ldd     S0, Z + I
    .elseif I < 24
    .set S0, 2 + I
    .else
    .set S0, I - 22
    .endif
    .if I == 0
    sub     S0, CARRY
    .elseif I < 12 || I >= 28
    sbc     S0, CARRY
    .elseif I == 24
    sbc     S0, r29
    .else
    sbc     S0, ZERO
    .endif
    st      X+, S0
    .set I, I + 1
    .endr
    clr     r1
    restore_all
    ret

    products fe256, 32, sunseal_avr_reduce_p256

; r = a + b - q p, or a - b + q p: q, from 0 to 2, is read from the highest five bytes. For their
; sum u, with 1 for what the rest may carry, the true sum is from (u - 1) 2^216 to (u + 1) 2^216;
; that q suffices, because every sum from p to 2^256 may lose p or not.
;
;     q = 1 or 2    if u carries          2^256 - 2^216 >= p
;     q = 2         if also bits 8 to 39 of u are ones (for a difference: zeros)
;                                         2^257 - 2^224 - 2^216 >= 2p, 2^257 - 2^224 < p + 2^256
;
; To subtract q p is to add q (2^224 - 2^192 - 2^96 + 1), modulo 2^256.
; registers:  Y = a, Z = b, X = r; r22..r25 = a limb; r21 = q; r20 = -(q > 0); r19 = -q; r18 = byte 24 of
;             that number; r16, r17 = the carries of the two sums as masks
    .macro sum_with first, next
    each    push, 16, 17, 28, 29
    movw    r26, r24
    movw    r28, r22
    movw    r30, r20
    sec
    .irp i, 27, 28, 29, 30, 31
    ldd     r22, Y + \i
    ldd     r0, Z + \i
    \next   r22, r0
    .if \i == 28
    mov     r23, r22
    .elseif \i > 28
    .ifc \first, add
    and     r23, r22
    .else
    or      r23, r22
    .endif
    .endif
    .endr
    sbc     r20, r20
    .ifc \first, add
    com     r23
    .endif
    cpi     r23, 1
    sbc     r19, r19
    and     r19, r20                ; -(q == 2)
    add     r19, r20
    mov     r21, r19
    neg     r21
    mov     r18, r19
    add     r18, r20
    clr     r16
    clr     r17
    .set LIMB, 0
    .rept 8
    load_bytes 4, 22, Y + 4*LIMB
    .if LIMB > 0
    lsr     r16
    .endif
    .set I, 0
    .rept 4
    ldd     r0, Z + 4*LIMB + I
    .if LIMB + I == 0
    \first  r22, r0
    .else
    \next   22 + I, r0
    .endif
    .set I, I + 1
    .endr
    .if LIMB < 7
    sbc     r16, r16
    .endif
    .if LIMB == 7
    mov     r20, r21
    lsr     r20                     ; 1 if q is 2
    .endif
    lsr     r17
    .set I, 4*LIMB
    .rept 4
    .if I == 0
    .set S0, 21
    .elseif I == 12
    .set S0, 19
    .elseif I == 24
    .set S0, 18
    .elseif (I > 12 && I < 28) || I == 28
    .set S0, 20
    .else
    .set S0, 1
    .endif
    \next   22 + I % 4, S0
    st      X+, 22 + I % 4
    .set I, I + 1
    .endr
    .if LIMB < 7
    sbc     r17, r17
    .endif
    .set LIMB, LIMB + 1
    .endr
    each    pop, 29, 28, 17, 16
    ret
    .endm

    sums    fe256
