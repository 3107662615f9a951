; SPDX-License-Identifier: MIT OR Apache-2.0

#include "../bytes_avr.inc"

; name:       void sunseal_rsa_pick(uint16_t *r, const uint16_t *table, uint16_t index,
;                                   uint16_t entries, uint16_t count)
; registers:  sixteen bytes of the entry in r2..r17, r0 = byte, r1 = entries left, r18 = index, counted down,
;             r19 = mask, r20 = index, r21 = entries, r23:r22 = bytes to the same bytes of the next entry,
;             r25:r24 = these bytes of entry 0, r28 = sixteens left, X = r, Z walks over the table
; stack:      19 bytes with the return address
    function sunseal_rsa_pick
    each    push, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28
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
    to_all  16, clr, 2
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
    store_to 16, X+, 2
    adiw    r24, 16
    dec     r28
    breq    3f
    rjmp    1b
3:
    each    pop, 28, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2
    ret
