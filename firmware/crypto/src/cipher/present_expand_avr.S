; SPDX-License-Identifier: MIT OR Apache-2.0
;
; PRESENT's key register, CHES 2007, section 3: its highest byte is in r17, the lowest of 80 bits in r8, of 128 in r2.

#include "../bytes_avr.inc"

; To the right by a bit, from the highest byte down to \low
    .macro right_1 low, more:vararg
    bst     \low, 0
    lsr     r17
    each    ror, 16, 15, 14, 13, 12, 11, 10, 9, \more
    bld     r17, 7
    .endm

; r23 = the S-box of both halves of r17 (Courtois, Hulme and Mourouzis, eprint 2011/475): bits 3 to 0 of each are
; moved to the highest place, in r18 to r21.
    .macro substitute
    mov     r18, r17
    mov     r19, r17
    lsl     r19
    mov     r20, r19
    lsl     r20
    mov     r21, r20
    lsl     r21
    eor     r20, r19
    mov     r22, r19
    and     r22, r20
    eor     r18, r22
    mov     r23, r21
    eor     r23, r18                ; bit 0
    mov     r22, r20
    and     r22, r18
    eor     r20, r23
    eor     r22, r19
    mov     r19, r21
    or      r19, r22
    eor     r19, r20                ; bit 1
    com     r21
    eor     r22, r21
    or      r20, r22
    eor     r20, r18                ; bit 2
    eor     r22, r19                ; bit 3
    andi    r23, 0x88
    .irp bit, 19, 20, 22
    lsr     r23
    andi    \bit, 0x88
    or      r23, \bit
    .endr
    .endm

    .macro load_key registers:vararg
    .irp r, \registers
    ld      \r, X+
    .endr
    .endm

; name:       void sunseal_present_expand(uint16_t round_keys[32][4], const uint8_t *key, uint8_t key_bytes)
; registers:  r2..r17 = key register, r18..r23 = bits of the S-box, r24 = round, Z = round keys
; stack:      18 bytes with the return address
; cycles:     3462 of 80 bits, 4219 of 128
    function sunseal_present_expand
    each    push, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    movw    r30, r24
    movw    r26, r22
    ldi     r24, 1
    load_key 17, 16, 15, 14, 13, 12, 11, 10, 9, 8
    cpi     r20, 10
    breq    1f
    rjmp    3f
1:  store_to 8, Z+, 10          ; a round key is the 64 highest bits
    cpi     r24, 32
    brne    2f
    rjmp    6f
    ; To the left by 61: to the right by 16 and 3
2:  movw    r18, r8
    movw    r8, r10
    movw    r10, r12
    movw    r12, r14
    movw    r14, r16
    movw    r16, r18
    .rept 3
    right_1 r8, 8
    .endr
    substitute
    eor     r23, r17
    andi    r23, 0xf0
    eor     r17, r23
    ; The counter to bits 15 on
    mov     r18, r24
    ldi     r19, 0
    lsr     r18
    ror     r19
    eor     r10, r18
    eor     r9, r19
    inc     r24
    rjmp    1b
3:  load_key 7, 6, 5, 4, 3, 2
5:  store_to 8, Z+, 10
    cpi     r24, 32
    brne    4f
    rjmp    6f
    ; By 64 and 3
4:  .irp low, 2, 4, 6, 8
    movw    r18, \low
    movw    \low, \low+8
    movw    \low+8, r18
    .endr
    .rept 3
    right_1 r2, 8, 7, 6, 5, 4, 3, 2
    .endr
    substitute
    mov     r17, r23
    ; The counter to bits 62 on
    mov     r18, r24
    ldi     r19, 0
    .rept 2
    lsr     r18
    ror     r19
    .endr
    eor     r10, r18
    eor     r9, r19
    inc     r24
    rjmp    5b
6:  each    pop, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    ret
