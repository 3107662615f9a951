; SPDX-License-Identifier: MIT OR Apache-2.0
;
; SHA-1's compression, FIPS 180-4, section 6.1.2.
;
; The schedule lies upwards in the stack. a b c d e stay in registers and never move: their names do, five
; rounds a turn.

#include "sha_avr.inc"

; One round: e += rotl(a, 5) + f(b, c, d) + K + W; b = rotl(b, 30). W at Y + at, K in the symbols KONSTANT,
; temporary r25..r22, r30 = 32
    .macro round kind, at, a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3, e0, e1, e2, e3
    load_word r22, r23, r24, r25, Y, \at
    subi    r22, lo8(-KONSTANT)
    sbci    r23, hi8(-KONSTANT)
    sbci    r24, hlo8(-KONSTANT)
    sbci    r25, hhi8(-KONSTANT)
    add_word \e0, \e1, \e2, \e3, r22, r23, r24, r25
    mul     \a0, r30                        ; times 32: left by 5
    movw    r22, r0
    mul     \a2, r30
    movw    r24, r0
    mul     \a1, r30
    eor     r23, r0
    eor     r24, r1
    mul     \a3, r30
    eor     r25, r0
    eor     r22, r1
    add_word \e0, \e1, \e2, \e3, r22, r23, r24, r25
    movw    r22, \b0
    movw    r24, \b2
    .ifc \kind, choose                      ; d ^ (b & (c ^ d))
    movw    r22, \c0
    movw    r24, \c2
    of_word eor, r22, r23, r24, r25, \d0, \d1, \d2, \d3
    of_word and, r22, r23, r24, r25, \b0, \b1, \b2, \b3
    .endif
    .ifc \kind, parity                      ; b ^ c ^ d
    of_word eor, r22, r23, r24, r25, \c0, \c1, \c2, \c3
    .endif
    .ifc \kind, majority                    ; (b & c) + (d & (b ^ c))
    of_word and, r22, r23, r24, r25, \c0, \c1, \c2, \c3
    add_word \e0, \e1, \e2, \e3, r22, r23, r24, r25
    movw    r22, \b0
    movw    r24, \b2
    of_word eor, r22, r23, r24, r25, \c0, \c1, \c2, \c3
    of_word and, r22, r23, r24, r25, \d0, \d1, \d2, \d3
    .else
    of_word eor, r22, r23, r24, r25, \d0, \d1, \d2, \d3
    .endif
    add_word \e0, \e1, \e2, \e3, r22, r23, r24, r25
    rotate_right_1 \b0, \b1, \b2, \b3
    rotate_right_1 \b0, \b1, \b2, \b3
    .endm

#define A r2, r3, r4, r5
#define B r6, r7, r8, r9
#define C r10, r11, r12, r13
#define D r14, r15, r16, r17
#define E r18, r19, r20, r21

    .macro twenty_rounds kind, constant
    .set KONSTANT, \constant
    ldi     r31, 4
1:  round   \kind, 1, A, B, C, D, E
    round   \kind, 5, E, A, B, C, D
    round   \kind, 9, D, E, A, B, C
    round   \kind, 13, C, D, E, A, B
    round   \kind, 17, B, C, D, E, A
    adiw    r28, 20
    dec     r31
    breq    2f
    rjmp    1b
2:
    .endm

    .macro eor_memory at
    ldd     r0, Y + \at
    eor     r22, r0
    ldd     r0, Y + \at + 1
    eor     r23, r0
    ldd     r0, Y + \at + 2
    eor     r24, r0
    ldd     r0, Y + \at + 3
    eor     r25, r0
    .endm

    .macro add_state x0, x1, x2, x3
    load_from 3, 22, X+
    ld      r25, X
    add_word r22, r23, r24, r25, \x0, \x1, \x2, \x3
    sbiw    r26, 3
    store_to 4, X+, 22
    .endm

; name:       void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64])
; registers:  r2..r21 = a b c d e; Y = one below where W[t] lies; X = block, then where W[t+16] goes
; stack:      344 bytes with the return address
; cycles:     10519
    function sunseal_sha1_compress
    enter   320
    push    r25
    push    r24
    movw    r30, r24
    load_word r2, r3, r4, r5, Z, 0
    load_word r6, r7, r8, r9, Z, 4
    load_word r10, r11, r12, r13, Z, 8
    load_word r14, r15, r16, r17, Z, 12
    load_word r18, r19, r20, r21, Z, 16
    movw    r26, r22
    movw    r30, r28
    adiw    r30, 1
    ldi     r24, 16
3:  ld      r25, X+
    ld      r23, X+
    ld      r22, X+
    ld      r0, X+
    st      Z+, r0
    st      Z+, r22
    st      Z+, r23
    st      Z+, r25
    dec     r24
    brne    3b
    movw    r26, r30
    push    r29
    push    r28
    ldi     r30, 64
    ; W[t] = rotl(W[t-3] ^ W[t-8] ^ W[t-14] ^ W[t-16], 1)
4:  load_word r22, r23, r24, r25, Y, 1
    eor_memory 9
    eor_memory 33
    eor_memory 53
    rotate_left_1 r22, r23, r24, r25
    store_to 4, X+, 22
    adiw    r28, 4
    dec     r30
    brne    4b
    pop     r28
    pop     r29
    ldi     r30, 32
    twenty_rounds choose, 0x5a827999
    twenty_rounds parity, 0x6ed9eba1
    twenty_rounds majority, 0x8f1bbcdc
    twenty_rounds parity, 0xca62c1d6
    clr     r1
    pop     r26
    pop     r27
    add_state A
    add_state B
    add_state C
    add_state D
    add_state E
    wipe_stack 40
    leave   320
