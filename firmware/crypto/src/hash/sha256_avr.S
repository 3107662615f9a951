; SPDX-License-Identifier: MIT OR Apache-2.0
;
; SHA-256's compression, FIPS 180-4, section 6.2.2.
;
; The schedule lies downwards in the stack, W63 .. W1 W0, with a b c d e f g h above W0. Round t writes the
; new a over W[t], just below the old a: then all eight have moved on by one without being moved. a and e,
; and b ^ c, stay in registers too; two rounds make one turn, so that these need not move either.

#include "sha_avr.inc"

#define K(word) .long word

    .section .progmem.data.sunseal_sha256_k,"a",@progbits
sunseal_sha256_k:
#include "sha256_k.inc"

; W[t] = sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16], t..t+3 = W[t-16] before and W[t] after;
; leaves W[t-15] in n, changes r16..r23
    .macro schedule t0, t1, t2, t3, n0, n1, n2, n3
    load_word \n0, \n1, \n2, \n3, Y, 60
    movw    r16, \n0
    movw    r18, \n2
    rotate_right_1 r16, r17, r18, r19
    rotate_right_1 r16, r17, r18, r19
    movw    r20, r18                        ; by 18: by 2, and the halves exchanged
    movw    r22, r16
    lsr     r19                             ; shift by 3
    down    3, ror, 16
    andi    r19, 0x1f
    of_word eor, r20, r21, r22, r23, r16, r17, r18, r19
    movw    r16, \n0
    movw    r18, \n2
    rotate_left_1 r16, r17, r18, r19        ; by 7: left by 1, and a byte on
    of_word eor, r20, r21, r22, r23, r17, r18, r19, r16
    add_word \t0, \t1, \t2, \t3, r20, r21, r22, r23
    add_memory \t0, \t1, \t2, \t3, Y, 28
    load_word r16, r17, r18, r19, Y, 8
    rotate_right_1 r16, r17, r18, r19
    movw    r20, r18                        ; by 17
    movw    r22, r16
    rotate_right_1 r16, r17, r18, r19
    eor     r20, r17                        ; shift by 10: by 2, and a byte on
    eor     r21, r18
    mov     r24, r19
    andi    r24, 0x3f
    eor     r22, r24
    rotate_right_1 r16, r17, r18, r19
    of_word eor, r20, r21, r22, r23, r18, r19, r16, r17 ; by 19
    add_word \t0, \t1, \t2, \t3, r20, r21, r22, r23
    store_word Y, 0, \t0, \t1, \t2, \t3
    sbiw    r28, 4
    .endm

; One round. a, e = r8..r11 and b ^ c = x before; t = the new a, u = the new b ^ c, e behind it
    .macro round a0, a1, a2, a3, t0, t1, t2, t3, x0, x1, x2, x3, u0, u1, u2, u3
    ; T1 = h + Ch + K + W + Sigma1(e); Ch = g ^ (e & (f ^ g))
    load_word \t0, \t1, \t2, \t3, Y, 32
    load_word \u0, \u1, \u2, \u3, Y, 24
    load_word r20, r21, r22, r23, Y, 28
    of_word eor, \u0, \u1, \u2, \u3, r20, r21, r22, r23
    of_word and, \u0, \u1, \u2, \u3, r8, r9, r10, r11
    of_word eor, \u0, \u1, \u2, \u3, r20, r21, r22, r23
    add_word \t0, \t1, \t2, \t3, \u0, \u1, \u2, \u3
    lpm     r0, Z+
    add     \t0, r0
    lpm     r0, Z+
    adc     \t1, r0
    lpm     r0, Z+
    adc     \t2, r0
    lpm     r0, Z+
    adc     \t3, r0
    add_memory \t0, \t1, \t2, \t3, Y, 0
    movw    \u0, r8                         ; Sigma1: by 11 = 8 + 3, by 25 = 24 + 1, by 6 = 8 - 2
    movw    \u2, r10
    movw    r20, r8
    movw    r22, r10
    rotate_right_1 \u0, \u1, \u2, \u3
    rotate_right_1 \u0, \u1, \u2, \u3
    of_word eor, \u1, \u2, \u3, \u0, r11, r8, r9, r10
    rotate_right_1 \u1, \u2, \u3, \u0
    rotate_left_1 r20, r21, r22, r23
    rotate_left_1 r20, r21, r22, r23
    of_word eor, \u1, \u2, \u3, \u0, r21, r22, r23, r20
    add_word \t0, \t1, \t2, \t3, \u1, \u2, \u3, \u0
    load_word r8, r9, r10, r11, Y, 16       ; e = d + T1
    add_word r8, r9, r10, r11, \t0, \t1, \t2, \t3
    store_word Y, 16, r8, r9, r10, r11
    movw    \u0, \a0                        ; Sigma0: by 13 = 16 - 3, by 22 = 24 - 2, by 2
    movw    \u2, \a2
    movw    r20, \a0
    movw    r22, \a2
    rotate_left_1 \u2, \u3, \u0, \u1
    of_word eor, \u2, \u3, \u0, \u1, \a3, \a0, \a1, \a2
    rotate_left_1 \u2, \u3, \u0, \u1
    rotate_left_1 \u2, \u3, \u0, \u1
    rotate_right_1 r20, r21, r22, r23
    rotate_right_1 r20, r21, r22, r23
    of_word eor, \u2, \u3, \u0, \u1, r20, r21, r22, r23
    add_word \t0, \t1, \t2, \t3, \u2, \u3, \u0, \u1
    load_word r20, r21, r22, r23, Y, 8      ; Maj = b ^ ((a ^ b) & (b ^ c))
    movw    \u0, \a0
    movw    \u2, \a2
    of_word eor, \u0, \u1, \u2, \u3, r20, r21, r22, r23
    of_word and, \x0, \x1, \x2, \x3, \u0, \u1, \u2, \u3
    of_word eor, \x0, \x1, \x2, \x3, r20, r21, r22, r23
    add_word \t0, \t1, \t2, \t3, \x0, \x1, \x2, \x3
    store_word Y, 0, \t0, \t1, \t2, \t3
    sbiw    r28, 4
    .endm

; name:       void sunseal_sha256_compress(uint32_t state[8], const uint8_t block[64])
; registers:  Y = where W[t], then a lies; Z = constants; others as the macros have them; r25:r24 = state,
;             which the stack keeps
; stack:      310 bytes with the return address
; cycles:     20744
    function sunseal_sha256_compress
    enter_with_state 288, 257, 32
    movw    r26, r22                        ; words 0 to 15 of the block, downwards
    sbiw    r28, 4
    ldi     r24, 16
2:  ld      r19, X+
    ld      r18, X+
    ld      r17, X+
    ld      r16, X+
    store_word Y, 0, r16, r17, r18, r19
    sbiw    r28, 4
    dec     r24
    brne    2b
    adiw    r28, 4
    load_word r8, r9, r10, r11, Y, 60
    sbiw    r28, 4
    ldi     r25, 24
3:  schedule r8, r9, r10, r11, r12, r13, r14, r15
    schedule r12, r13, r14, r15, r8, r9, r10, r11
    dec     r25
    breq    4f
    rjmp    3b
4:  inc     r29                             ; from below W63 to W0
    ldi     r30, lo8(sunseal_sha256_k)
    ldi     r31, hi8(sunseal_sha256_k)
    load_word r2, r3, r4, r5, Y, 4
    load_word r8, r9, r10, r11, Y, 20
    load_word r24, r25, r26, r27, Y, 8
    load_word r20, r21, r22, r23, Y, 12
    of_word eor, r24, r25, r26, r27, r20, r21, r22, r23
5:  round   r2, r3, r4, r5, r12, r13, r14, r15, r24, r25, r26, r27, r16, r17, r18, r19
    round   r12, r13, r14, r15, r2, r3, r4, r5, r16, r17, r18, r19, r24, r25, r26, r27
    cpi     r30, lo8(sunseal_sha256_k)      ; 256 bytes on
    breq    6f
    rjmp    5b
6:  pop     r26
    pop     r27
    adiw    r28, 4
    ldi     r24, 8
8:  load_from 3, 16, X+
    ld      r19, X
    add_memory r16, r17, r18, r19, Y, 0
    sbiw    r26, 3
    store_to 4, X+, 16
    adiw    r28, 4
    dec     r24
    brne    8b
    wipe_stack 36
    leave   288
