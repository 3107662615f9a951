; SPDX-License-Identifier: MIT OR Apache-2.0

#include "function.inc"

; name:       void sunseal_rsa_pick(uint16_t *r, const uint16_t *table, uint16_t index,
;                                   uint16_t entries, uint16_t count)
; registers:  sixteen bytes of the entry in r2..r17, r0 = byte, r1 = entries left, r18 = index, counted down,
;             r19 = mask, r20 = index, r21 = entries, r23:r22 = bytes to the same bytes of the next entry,
;             r25:r24 = these bytes of entry 0, r28 = sixteens left, X = r, Z walks over the table
; stack:      19 bytes with the return address
    function sunseal_rsa_pick
    push    r2
    push    r3
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    push    r12
    push    r13
    push    r14
    push    r15
    push    r16
    push    r17
    push    r28
    movw    r26, r24
    movw    r24, r22
    mov     r21, r18
    movw    r22, r16
    mov     r28, r16                ; count words are count/8 sixteens of bytes
    lsr     r28
    lsr     r28
    lsr     r28
    lsl     r22
    rol     r23
    subi    r22, 16
    sbci    r23, 0
1:  movw    r30, r24
    mov     r18, r20
    mov     r1, r21
    .set BYTE, 2
    .rept 16
    clr     BYTE
    .set BYTE, BYTE + 1
    .endr
2:  subi    r18, 1                  ; borrows at the wanted entry only
    sbc     r19, r19                ; borrow ? -1 : 0
    .set BYTE, 2
    .rept 16
    ld      r0, Z+
    and     r0, r19
    or      BYTE, r0
    .set BYTE, BYTE + 1
    .endr
    add     r30, r22
    adc     r31, r23
    dec     r1
    brne    2b
    .set BYTE, 2
    .rept 16
    st      X+, BYTE
    .set BYTE, BYTE + 1
    .endr
    adiw    r24, 16
    dec     r28
    breq    3f
    rjmp    1b
3:
    pop     r28
    pop     r17
    pop     r16
    pop     r15
    pop     r14
    pop     r13
    pop     r12
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
    pop     r3
    pop     r2
    ret
    .size sunseal_rsa_pick, . - sunseal_rsa_pick
