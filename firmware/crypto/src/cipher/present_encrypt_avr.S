; SPDX-License-Identifier: MIT OR Apache-2.0
;
; PRESENT, bitsliced within the block: present.h says how. A slice is a pair of registers, named by the
; number of its lower one; all are above r15, where masks can be constants.

#include "../bytes_avr.inc"
#include "present_avr.inc"

    .macro both operation, to, from
    \operation \to, \from
    \operation \to+1, \from+1
    .endm

    .macro add_key to
    ld      r0, Y+
    eor     \to, r0
    ld      r0, Y+
    eor     \to+1, r0
    .endm

; Round key and S-box (Courtois, Hulme and Mourouzis, eprint 2011/475): bits 0 to 3 in \a \b \c \d before,
; in \t \c \d \u after, and \a \b are free. So four rounds bring every slice back to its registers.
    .macro substitute a, b, c, d, t, u
    add_key \a
    add_key \b
    add_key \c
    add_key \d
    both    eor, \b, \c             ; T1
    movw    \t, \c
    both    and, \t, \b
    both    eor, \d, \t             ; T3
    movw    \t, \a
    both    eor, \t, \d             ; bit 0
    movw    \u, \b
    both    and, \u, \d
    both    eor, \b, \t
    both    eor, \u, \c
    movw    \c, \a
    both    or, \c, \u
    both    eor, \c, \b             ; bit 1
    com     \a
    com     \a+1
    both    eor, \a, \u
    movw    \u, \c
    both    eor, \u, \a             ; bit 3
    both    or, \b, \a
    both    eor, \d, \b             ; bit 2
    .endm

; The axis that comes in, bits 0 to 3, two more pairs
    .macro round which, a, b, c, d, t, u
    turn_\which \a, \b, \c, \d, \t
    substitute \a, \b, \c, \d, \t, \u
    .endm

; Bits 4l + h become bits 4h + l; then the last round key, and out big-endian.
    .macro store_word w, t
    swap_byte_in_itself \w, \t
    swap_byte_in_itself \w+1, \t
    mov     \t, \w+1                ; by 6: by a byte to the right, and 2 to the left
    lsl     \t
    lsl     \t
    eor     \t, \w
    andi    \t, 0xcc
    eor     \w, \t
    lsr     \t
    lsr     \t
    eor     \w+1, \t
    add_key \w
    st      -X, \w
    st      -X, \w+1
    .endm

    .macro swap_byte_in_itself w, t
    mov     \t, \w
    lsr     \t
    lsr     \t
    lsr     \t
    eor     \t, \w
    andi    \t, 0x0a
    eor     \w, \t
    lsl     \t
    lsl     \t
    lsl     \t
    eor     \w, \t
    .endm

; name:       int sunseal_present_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
; registers:  r18..r27, r30, r31 = slices and scratch, Y = round keys, r17 = count, r8..r15 = arguments
; stack:      13 bytes with the return address
; cycles:     3590 for one block
    function sunseal_present_encrypt
    each    push, 28, 29, 17
    each    push, 15, 14, 13, 12, 11, 10, 9, 8
    movw    r14, r24
    movw    r12, r22
    movw    r10, r20
    movw    r8, r18
1:  cp      r8, r1
    cpc     r9, r1
    brne    2f
    rjmp    6f
2:  movw    r28, r10
    ld      r31, Y+
    ld      r30, Y+
    ld      r25, Y+
    ld      r24, Y+
    ld      r23, Y+
    ld      r22, Y+
    ld      r27, Y+
    ld      r26, Y+
    movw    r10, r28
    movw    r28, r14
    ldi     r17, 8
    ; Round 1 is the second of the loop: 31 = 8 * 4 - 1.
    rjmp    4f
3:  round   fours, 18, 20, 22, 24, 26, 30
4:  round   ones,  26, 22, 24, 30, 18, 20
    round   fours, 18, 24, 30, 20, 26, 22
    round   ones,  26, 30, 20, 22, 18, 24
    dec     r17
    breq    5f
    rjmp    3b
5:  movw    r26, r12
    adiw    r26, 8
    movw    r12, r26
    store_word 18, 30
    store_word 20, 30
    store_word 22, 30
    store_word 24, 30
    sec
    sbc     r8, r1
    sbc     r9, r1
    rjmp    1b
6:  each    pop, 8, 9, 10, 11, 12, 13, 14, 15
    each    pop, 17, 29, 28
    ldi     r24, 0
    ldi     r25, 0
    ret
