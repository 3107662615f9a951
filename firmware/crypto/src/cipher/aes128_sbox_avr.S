; SPDX-License-Identifier: MIT OR Apache-2.0
;
; AES-128's encryption, the whole state in registers. Two tables in SRAM, each on a page of its own, so that
; an index is the lower half of a pointer: the S-box behind Z, the product with 2 behind X.

#include "../bytes_avr.inc"

; Looked up by secret bytes: see aes.h.
    .section .data.sunseal_aes_pages,"aw",@progbits
    .balign 256
aes_s:
#include "aes_s.inc"
aes_twice:
#include "aes_twice.inc"

; Round key at Y + \key and SubBytes
    .macro substitute s, key
    ldd     r30, Y + \key
    eor     r30, \s
    ld      \s, Z
    .endm

; \to = 2 (X)
    .macro twice_of to, a, b
    mov     r26, \a
    eor     r26, \b
    ld      \to, X
    .endm

; One column, first to fourth row: round key and SubBytes, then MixColumns as, for b0 say, 2 (a0 + a1) + a1 + a2 + a3.
; The four products with 2 add up to nothing, so three are looked up. Afterwards rows 0 to 3 are in \b \a \d \c.
    .macro column a, b, c, d, key_a, key_b, key_c, key_d
    substitute \a, \key_a
    substitute \b, \key_b
    substitute \c, \key_c
    substitute \d, \key_d
    twice_of r10, \b, \c
    twice_of r9, \a, \b
    eor     \d, \c                  ; a2 + a3
    eor     \c, r26                 ; a0 + a1 + a2
    mov     r26, \d
    ld      r11, X
    eor     \b, \d
    eor     \b, r9
    eor     \a, \d
    eor     \a, r10
    eor     \d, \c
    eor     \d, r11
    eor     \c, r9
    eor     \c, r10
    eor     \c, r11
    .endm

; Bytes 0 to 15 of the state; ShiftRows is in which of them make a column. Each round leaves the bytes in other
; registers; after two, every column is where its left neighbour was.
    .macro round at, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15
    column  \s0, \s5, \s10, \s15, \at, \at+5, \at+10, \at+15
    column  \s4, \s9, \s14, \s3, \at+4, \at+9, \at+14, \at+3
    column  \s8, \s13, \s2, \s7, \at+8, \at+13, \at+2, \at+7
    column  \s12, \s1, \s6, \s11, \at+12, \at+1, \at+6, \at+11
    .endm

; The last round: byte \from of the state goes to \to
    .macro last s, from, to
    substitute \s, 16+\from
    ldd     r30, Y + 32+\to
    eor     \s, r30
    .endm

; name:       int sunseal_aes128_sbox_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
; registers:  r0, r18..r25, r2..r8 = state, r9..r11 = products, X, Z = tables, Y = round keys
; stack:      20 bytes with the return address
; cycles:     1807 for one block
    function sunseal_aes128_sbox_encrypt
    each    push, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 28, 29
    movw    r28, r24
1:  mov     r0, r18
    or      r0, r19
    brne    2f
    rjmp    3f
2:  each    push, 18, 19, 22, 23
    movw    r26, r20
    .irp r, r0, r18, r19, r20, r21, r22, r23, r24, r25, r2, r3, r4, r5, r6, r7, r8
    ld      \r, X+
    .endr
    push    r26
    push    r27
    ldi     r27, hi8(aes_twice)
    ldi     r31, hi8(aes_s)
    round    0, r0, r18, r19, r20, r21, r22, r23, r24, r25, r2, r3, r4, r5, r6, r7, r8
    round   16, r22, r0, r8, r3, r2, r21, r20, r7, r6, r25, r24, r19, r18, r5, r4, r23
    round   32, r21, r22, r23, r24, r25, r2, r3, r4, r5, r6, r7, r8, r0, r18, r19, r20
    round   48, r2, r21, r20, r7, r6, r25, r24, r19, r18, r5, r4, r23, r22, r0, r8, r3
    subi    r28, -64
    sbci    r29, -1
    round    0, r25, r2, r3, r4, r5, r6, r7, r8, r0, r18, r19, r20, r21, r22, r23, r24
    round   16, r6, r25, r24, r19, r18, r5, r4, r23, r22, r0, r8, r3, r2, r21, r20, r7
    round   32, r5, r6, r7, r8, r0, r18, r19, r20, r21, r22, r23, r24, r25, r2, r3, r4
    round   48, r18, r5, r4, r23, r22, r0, r8, r3, r2, r21, r20, r7, r6, r25, r24, r19
    subi    r28, -64
    sbci    r29, -1
    round    0, r0, r18, r19, r20, r21, r22, r23, r24, r25, r2, r3, r4, r5, r6, r7, r8
    last    r22, 0, 0
    last    r21, 5, 1
    last    r24, 10, 2
    last    r23, 15, 3
    last    r2, 4, 4
    last    r25, 9, 5
    last    r4, 14, 6
    last    r3, 3, 7
    last    r6, 8, 8
    last    r5, 13, 9
    last    r8, 2, 10
    last    r7, 7, 11
    last    r18, 12, 12
    last    r0, 1, 13
    last    r20, 6, 14
    last    r19, 11, 15
    subi    r28, 128
    sbci    r29, 0
    pop     r31                     ; in
    pop     r30
    pop     r27                     ; out
    pop     r26
    .irp r, r22, r21, r24, r23, r2, r25, r4, r3, r6, r5, r8, r7, r18, r0, r20, r19
    st      X+, \r
    .endr
    pop     r19
    pop     r18
    movw    r20, r30
    movw    r22, r26
    subi    r18, 1
    sbci    r19, 0
    rjmp    1b
3:  each    pop, 29, 28, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    ldi     r24, 0
    ldi     r25, 0
    ret
