; SPDX-License-Identifier: MIT OR Apache-2.0
;
; XTEA's encryption. A 32-bit number is four registers, named by the number of its lowest one.

#include "../bytes_avr.inc"

    .macro add32 to, from
    across  4, add, adc, \to, \from
    .endm

; w += ((v << 4 ^ v >> 5) + v) ^ round key. r22:r21..r18 becomes v << 3 with its 35 bits: v << 4 is one step
; more, and v >> 5 is v << 3 without its lowest byte.
    .macro half_round v, w
    movw    r18, \v
    movw    r20, \v+2
    clr     r22
    .rept 3
    lsl     r18
    to_all  4, rol, 19
    .endr
    mov     r23, r19
    movw    r26, r20
    lsl     r18
    to_all  3, rol, 19
    eor     r18, r23
    eor     r19, r26
    eor     r20, r27
    eor     r21, r22
    add32   18, \v
    .irp n, 18, 19, 20, 21
    ld      r0, Z+
    eor     r\n, r0
    .endr
    add32   \w, 18
    .endm

; name:       int sunseal_xtea_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
; registers:  r12..r15, r4..r7 = block, r18..r23, X = scratch, Z = round keys, r24 = count, Y = in, then out,
;             r8..r11, r16, r17, r2, r3 = arguments
; stack:      20 bytes with the return address
; cycles:     3269 for one block
    function sunseal_xtea_encrypt
    save_all
    movw    r16, r24
    movw    r8, r22
    movw    r10, r20
    movw    r2, r18
1:  cp      r2, r1
    cpc     r3, r1
    brne    2f
    rjmp    4f
2:  movw    r28, r10
    .irp n, 15, 14, 13, 12, 7, 6, 5, 4
    ld      r\n, Y+
    .endr
    movw    r10, r28
    movw    r30, r16
    ldi     r24, 16
3:  .rept 2
    half_round 4, 12
    half_round 12, 4
    .endr
    dec     r24
    breq    5f
    rjmp    3b
5:  movw    r28, r8
    .irp n, 15, 14, 13, 12, 7, 6, 5, 4
    st      Y+, r\n
    .endr
    movw    r8, r28
    sec
    sbc     r2, r1
    sbc     r3, r1
    rjmp    1b
4:  restore_all
    ldi     r24, 0
    ldi     r25, 0
    ret
