; SPDX-License-Identifier: MIT OR Apache-2.0
;
; SHA-512's compression, FIPS 180-4, section 6.4.2.
;
; The schedule lies downwards in the stack, W79 .. W1 W0, with a b c d e f g h above W0. Round t writes the
; new a over W[t], just below the old a: then all eight have moved on by one without being moved. Turning by
; whole bytes is another order of naming them. Ch and Maj are taken byte by byte: eor and and keep the carry.

#include "sha_avr.inc"

#define K(word) .quad word

    .section .progmem.data.sunseal_sha512_k,"a",@progbits
sunseal_sha512_k:
#include "sha512_k.inc"

#define T r18, r19, r20, r21, r22, r23, r24, r25
#define U r2, r3, r4, r5, r6, r7, r8, r9
#define V r10, r11, r12, r13, r14, r15, r16, r17
; Turned right by so many bits
#define U_16 r4, r5, r6, r7, r8, r9, r2, r3
#define U_24 r5, r6, r7, r8, r9, r2, r3, r4
#define V_8 r11, r12, r13, r14, r15, r16, r17, r10

    .macro right_1 x0, x1, x2, x3, x4, x5, x6, x7
    bst     \x0, 0
    lsr     \x7
    each    ror, \x6, \x5, \x4, \x3, \x2, \x1, \x0
    bld     \x7, 7
    .endm

    .macro left_1 x0, x1, x2, x3, x4, x5, x6, x7
    lsl     \x0
    each    rol, \x1, \x2, \x3, \x4, \x5, \x6, \x7
    adc     \x0, r1
    .endm

; to ^= x
    .macro eor_number t0, t1, t2, t3, t4, t5, t6, t7, x0, x1, x2, x3, x4, x5, x6, x7
    of_word eor, \t0, \t1, \t2, \t3, \x0, \x1, \x2, \x3
    of_word eor, \t4, \t5, \t6, \t7, \x4, \x5, \x6, \x7
    .endm

    .macro load_number base, at, x0, x1, x2, x3, x4, x5, x6, x7
    load_word \x0, \x1, \x2, \x3, \base, \at
    load_word \x4, \x5, \x6, \x7, \base, \at + 4
    .endm

; T += x
    .macro add_number x0, x1, x2, x3, x4, x5, x6, x7
    add_word r18, r19, r20, r21, \x0, \x1, \x2, \x3
    of_word adc, r22, r23, r24, r25, \x4, \x5, \x6, \x7
    .endm

; T += the number at base + at
    .macro add_from base, at
    across_at 8, add, adc, 18, \base + \at
    .endm

    .macro copy_u_to_v
    movw    r10, r2
    movw    r12, r4
    movw    r14, r6
    movw    r16, r8
    .endm

; name:       void sunseal_sha512_compress(uint64_t state[8], const uint8_t block[128])
; registers:  Y = where W[t], then a lies; Z = W[t-15], then constants; r0, r26, r27 = parts
; stack:      727 bytes with the return address
; cycles:     55566
    function sunseal_sha512_compress
    enter_with_state 704, 641, 64
    movw    r26, r22
    ldi     r24, 128                        ; words 0 to 15 of the block, downwards
2:  ld      r0, X+
    st      -Y, r0
    dec     r24
    brne    2b
    movw    r30, r28
    adiw    r30, 56
    adiw    r30, 56
    sbiw    r28, 8
    ; W[t] = sigma0(W[t-15]) + W[t-16] + W[t-7] + sigma1(W[t-2])
    ldi     r24, 64
    push    r24
3:  load_number Z, 0, U
    copy_u_to_v
    right_1 U
    eor_number U, V_8
    left_1  V                               ; shift by 7: left by 1, and a byte on
    ldi     r26, 0x01
    and     r10, r26
    eor_number U, V_8
    movw    r18, r2
    movw    r20, r4
    movw    r22, r6
    movw    r24, r8
    add_from Z, 8
    add_from Y, 56
    load_number Y, 16, U
    copy_u_to_v
    right_1 U                               ; by 19: by 3, and two bytes on
    right_1 U
    right_1 U
    left_1  V                               ; shift by 6: left by 2, and a byte on
    left_1  V
    mov     r26, r10
    andi    r26, 0x03
    across  6, eor, eor, 4, 11
    eor     r2, r17
    eor     r3, r26
    left_1  V                               ; by 61: left by 3
    eor_number U_16, V
    add_number U_16
    store_word Y, 0, r18, r19, r20, r21
    store_word Y, 4, r22, r23, r24, r25
    sbiw    r28, 8
    sbiw    r30, 8
    pop     r26
    dec     r26
    push    r26
    breq    4f
    rjmp    3b
4:  pop     r26
    subi    r28, lo8(-640)                  ; from below W79 to W0
    sbci    r29, hi8(-640)
    ldi     r30, lo8(sunseal_sha512_k)
    ldi     r31, hi8(sunseal_sha512_k)
    ; T = h + W + K + Ch + Sigma1(e); after the loads of W, a lies at Y
5:  load_from 8, 18, Y+
    across_from 8, add, adc, 18, Z+, lpm
    add_from Y, 56
    load_number Y, 32, U
    clc
    .set AT, 0
    .irp    u, 2, 3, 4, 5, 6, 7, 8, 9
    ldd     r26, Y + 40 + AT                ; Ch = g ^ (e & (f ^ g))
    ldd     r27, Y + 48 + AT
    eor     r26, r27
    and     r26, r\u
    eor     r26, r27
    adc     \u + 16, r26
    .set AT, AT + 1
    .endr
    copy_u_to_v                             ; Sigma1 turns by 18 = 16 + 2, by 41 = 40 + 1, by 14 = 16 - 2
    right_1 U
    eor_number U, r13, r14, r15, r16, r17, r10, r11, r12
    right_1 U
    left_1  V
    left_1  V
    eor_number U, V
    add_number U_16
    .set AT, 24
    .irp    t, 18, 19, 20, 21, 22, 23, 24, 25 ; e = d + T1
    ldd     r0, Y + AT
    .ifc \t, 18
    add     r0, r\t
    .else
    adc     r0, r\t
    .endif
    std     Y + AT, r0
    .set AT, AT + 1
    .endr
    ; a = T1 + Maj + Sigma0(a)
    load_number Y, 0, U
    clc
    .set AT, 0
    .irp    u, 2, 3, 4, 5, 6, 7, 8, 9
    ldd     r26, Y + 8 + AT                 ; Maj = b ^ ((a ^ b) & (b ^ c))
    ldd     r27, Y + 16 + AT
    eor     r27, r26
    mov     r0, r26
    eor     r0, r\u
    and     r27, r0
    eor     r27, r26
    adc     \u + 16, r27
    .set AT, AT + 1
    .endr
    copy_u_to_v                             ; Sigma0 turns by 28 = 24 + 4, by 34 = 32 + 2, by 39 = 40 - 1
    right_1 U
    right_1 U
    eor_number U_24, r14, r15, r16, r17, r10, r11, r12, r13
    right_1 U
    right_1 U
    left_1  V
    eor_number U_24, r15, r16, r17, r10, r11, r12, r13, r14
    add_number U_24
    .irp    t, 25, 24, 23, 22, 21, 20, 19, 18
    st      -Y, r\t
    .endr
    sbiw    r28, 8
    ldi     r26, hi8(sunseal_sha512_k + 640)
    cpi     r30, lo8(sunseal_sha512_k + 640)
    cpc     r31, r26
    breq    6f
    rjmp    5b
6:  pop     r26
    pop     r27
    adiw    r28, 8
    ldi     r30, 8
7:  load_from 8, 18, X+
    sbiw    r26, 8
    add_from Y, 0
    store_to 8, X+, 18
    adiw    r28, 8
    dec     r30
    brne    7b
    wipe_stack 88
    leave   704
