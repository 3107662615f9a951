; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Ascon's permutation, SP 800-232, section 3. Word 0 of the state stays in r2..r9, lowest byte first; word i
; lies at Z + 8i.

#include "../bytes_avr.inc"

; The substitution on byte \n of each word
    .macro substitute n
    ldd     r18, Z + 8+\n
    ldd     r19, Z + 16+\n
    ldd     r20, Z + 24+\n
    ldd     r21, Z + 32+\n
    .if \n == 0
    eor     r19, r26                ; the round's constant
    .endif
    eor     2+\n, r21
    eor     r21, r20
    eor     r19, r18
    mov     r22, 2+\n
    com     r22
    mov     r24, r22
    or      r24, r21                ; ~(~x4 & x0)
    and     r22, r18                ; ~x0 & x1
    mov     r23, r18
    com     r23
    and     r23, r19
    eor     2+\n, r23
    mov     r23, r19
    com     r23
    and     r23, r20
    eor     r18, r23
    mov     r23, r21
    com     r23
    or      r23, r20                ; ~(~x3 & x4): x2 comes out complemented, as it should
    eor     r19, r23
    eor     r20, r24
    eor     r21, r22
    eor     r18, 2+\n
    eor     2+\n, r21
    eor     r20, r19                ; and the two complements leave x3 as it is
    std     Z + 8+\n, r18
    std     Z + 16+\n, r19
    std     Z + 24+\n, r20
    std     Z + 32+\n, r21
    .endm

; Turning r10..r17
    .macro right_1
    bst     r10, 0
    lsr     r17
    each    ror, 16, 15, 14, 13, 12, 11, 10
    bld     r17, 7
    .endm

    .macro left_1
    lsl     r10
    each    rol, 11, 12, 13, 14, 15, 16, 17
    adc     r10, r1
    .endm

; r10..r17 = the word in \from on
    .macro copy from
    movw    r10, \from
    movw    r12, \from+2
    movw    r14, \from+4
    movw    r16, \from+6
    .endm

; The word in \to on += r10..r17 turned to the right by \bytes
    .macro add_turned to, bytes
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    eor     \to+\n, 10+((\n+\bytes)&7)
    .endr
    .endm

    .macro load word
    load_bytes 8, 18, Z + 8*\word
    copy    18
    .endm

    .macro store word
    store_bytes 8, Z + 8*\word, 18
    .endm

; name:       void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds)
; registers:  r2..r9 = word 0, r18..r25 = another word, r10..r17 = it turned, r26 = constant, Z = state
; stack:      18 bytes with the return address
; cycles:     8672 for 12 rounds
    function sunseal_ascon_permute
    each    push, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    movw    r30, r24
    load_bytes 8, 2, Z
    ; The constant of the last round is 0x4b, each one before it is larger by 15.
    mov     r26, r22
    swap    r26
    sub     r26, r22
    subi    r26, -0x3c
1:  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    substitute \n
    .endr
    ; By 19 = 16 + 3 and 28 = 24 + 4
    copy    2
    .rept 3
    right_1
    .endr
    add_turned 2, 2
    right_1
    add_turned 2, 3
    ; By 61 = 64 - 3 and 39 = 40 - 1
    load    1
    left_1
    add_turned 18, 5
    left_1
    left_1
    add_turned 18, 0
    store   1
    ; By 1 and 6 = 8 - 2
    load    2
    right_1
    add_turned 18, 0
    .rept 3
    left_1
    .endr
    add_turned 18, 1
    store   2
    ; By 10 = 8 + 2 and 17 = 16 + 1
    load    3
    right_1
    add_turned 18, 2
    right_1
    add_turned 18, 1
    store   3
    ; By 7 = 8 - 1 and 41 = 40 + 1
    load    4
    right_1
    add_turned 18, 5
    left_1
    left_1
    add_turned 18, 1
    store   4
    subi    r26, 15
    cpi     r26, 0x3c
    breq    2f
    rjmp    1b
2:  store_bytes 8, Z, 2
    each    pop, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    ret
