; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Arithmetic modulo p = 2^224 - 2^96 + 1. Every value below 2^224 goes in and comes out. No branch
; depends on data.

#include "product_avr.inc"

; r[] = or (with another op) r[] op the n bytes at Z + at
    .macro bytes_at first, next, r, at, n
    across_at \n, \first, \next, \r, Z + \at
    .endm

    .macro load r, at, n
    load_bytes \n, \r, Z + \at
    .endm

; The registers of the result: bytes 0 to 11, 12 to 23, 24 to 27.
    .set V0, 14
    .set V12, 2
    .set V24, 26
    .macro register name, byte
    .if \byte < 12
    .set \name, V0 + \byte
    .elseif \byte < 24
    .set \name, V12 + \byte - 12
    .else
    .set \name, V24 + \byte - 24
    .endif
    .endm

; result += carry (2^96 - 1), carry from -3 to 3 in r1, for its first n bytes; the new carry to r1.
; registers:  r31 = -carry, r30 = its sign, r0 = byte 12, r1 = the bytes above
    .macro fold n
    mov     r31, r1
    neg     r31
    mov     r30, r31
    lsl     r30
    sbc     r30, r30
    mov     r0, r1
    add     r0, r30
    lsl     r1
    sbc     r1, r1
    .set I, 0
    .rept \n
    register S0, I
    .if I == 0
    add     S0, r31
    .elseif I < 12
    adc     S0, r30
    .elseif I == 12
    adc     S0, r0
    .else
    adc     S0, r1
    .endif
    .set I, I + 1
    .endr
    .if \n == 28
    clr     r0
    adc     r1, r0
    .endif
    .endm

; The end of a multiplication: the caller's registers and the address of r are on the stack, and Z points
; at the product t. With 2^224 = 2^96 - 1 twice, in limbs of four bytes, and S = t[7..9] + t[11..13]:
;
;     result[0..2]  t[0..2] - S
;     result[3..5]  t[3..5] + S - t[10..12]
;     result[6]     t[6] + t[10] - t[13]
;
; and what that carries.
    function sunseal_avr_reduce_p224
    load    V12, 28, 12
    bytes_at add, adc, V12, 44, 12
    sbc     r26, r26                ; the carry of S, negative
    load    V0, 0, 12
    across  12, sub, sbc, V0, V12
    sbc     r27, r27
    add     r27, r26                ; the carry into byte 12, from -2 to 0
    bytes_at add, adc, V12, 12, 12
    sbc     r1, r1
    add     r1, r26
    neg     r1
    mov     r28, r27
    lsl     r28
    sbc     r28, r28
    add     V12, r27
    to_all  11, adc, V12 + 1, r28
    clr     r29
    adc     r28, r29
    add     r1, r28
    bytes_at sub, sbc, V12, 40, 12
    sbc     r1, r29                 ; the carry into byte 24, from -2 to 2
    load    V24, 24, 4
    mov     r0, r1
    lsl     r0
    sbc     r0, r0
    add     V24, r1
    to_all  3, adc, V24 + 1, r0
    mov     r1, r0
    sbc     r0, r0
    sub     r1, r0
    bytes_at add, adc, V24, 40, 4
    sbc     r0, r0
    sub     r1, r0
    bytes_at sub, sbc, V24, 52, 4
    sbc     r0, r0
    add     r1, r0
    fold    28
    fold    14                      ; next to 0 or 2^224 is now what has carried: this ends in byte 13
    pop     r31
    pop     r30
    .set I, 0
    .rept 28
    register S0, I
    std     Z + I, S0
    .set I, I + 1
    .endr
    clr     r1
    restore_all
    ret

    products fe224, 28, sunseal_avr_reduce_p224

; r = a + b or a - b: what leaves at the top is worth 2^96 - 1; if that leaves again, what is left is
; so near to 0 or 2^224 that 2^96 - 1 once more ends in byte 12.
; registers:  Z = a, then b, then r; the sum in r2..r29
    .macro sum_with first, next
    save_all
    push    r24
    push    r25
    movw    r30, r22
    push    r20
    push    r21
    load    2, 0, 28
    pop     r31
    pop     r30
    bytes_at \first, \next, 2, 0, 28
    .irp n, 28, 13
    sbc     r0, r0
    \first  2, r0
    to_all  11, \next, 3, r0
    to_all  \n - 12, \next, 14, r1
    .endr
    pop     r31
    pop     r30
    store_bytes 28, Z, 2
    restore_all
    ret
    .endm

    sums    fe224
