; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Ascon's permutation, SP 800-232, section 3. Word i of the state lies at Z + 8i, lowest byte first. Word 0 is in registers
; throughout, word 4 from the end of a round to the substitution of the next, word 1 from there to its own turns.

#include "../bytes_avr.inc"

; The substitution on byte \n of each word. Byte \n of word 4 is in r18 + \n; that of word 1 goes to the register
; above it, which held word 4's byte before: bytes come from the highest down.
    .macro substitute n
    ldd     19+\n, Z + 8+\n
    ldd     r10, Z + 16+\n
    ldd     r11, Z + 24+\n
    .if \n == 0
    eor     r10, r27                ; the round's constant
    .endif
    eor     2+\n, 18+\n
    eor     18+\n, r11
    eor     r10, 19+\n
    mov     r12, 2+\n
    com     r12
    mov     r14, r12
    or      r14, 18+\n              ; ~(~x4 & x0)
    and     r12, 19+\n              ; ~x0 & x1
    mov     r13, 19+\n
    com     r13
    and     r13, r10
    eor     2+\n, r13
    mov     r13, r10
    com     r13
    and     r13, r11
    eor     19+\n, r13
    mov     r13, 18+\n
    com     r13
    or      r13, r11                ; ~(~x3 & x4): x2 comes out complemented, as it should
    eor     r10, r13
    eor     r11, r14
    eor     18+\n, r12
    eor     19+\n, 2+\n
    eor     2+\n, 18+\n
    eor     r11, r10                ; and the two complements leave x3 as it is
    std     Z + 16+\n, r10
    std     Z + 24+\n, r11
    std     Z + 32+\n, 18+\n
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
    .macro copy_odd from
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    mov     10+\n, \from+\n
    .endr
    .endm

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
; registers:  r2..r9 = word 0, r18..r25 = another word, r19..r26 = word 1, r10..r17 = one turned, r27 = constant,
;             Z = state
; stack:      18 bytes with the return address
; cycles:     7984 for 12 rounds
    function sunseal_ascon_permute
    each    push, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    movw    r30, r24
    ; The constant of the last round is 0x4b, each one before it is larger by 15.
    mov     r27, r22
    swap    r27
    sub     r27, r22
    subi    r27, -0x3c
    load_bytes 8, 2, Z
    load_bytes 8, 18, Z + 32
1:  .irp n, 7, 6, 5, 4, 3, 2, 1, 0
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
    copy_odd 19
    left_1
    add_turned 19, 5
    left_1
    left_1
    add_turned 19, 0
    store_bytes 8, Z + 8, 19
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
    subi    r27, 15
    cpi     r27, 0x3c
    breq    2f
    rjmp    1b
2:  store_bytes 8, Z, 2
    store_bytes 8, Z + 32, 18
    each    pop, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    ret
