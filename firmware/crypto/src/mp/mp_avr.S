; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Sums, differences, selection of long numbers. No branch depends on data.

#include "../bytes_avr.inc"

; name:       uint16_t sunseal_mp_add(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n)
; registers:  Y = r, X = a, Z = b, r18 = words left, r22 = byte
; stack:      4 bytes with the return address
; cycles:     18 + 17 n
    .macro sum next
    push    r28
    push    r29
    movw    r28, r24
    movw    r26, r22
    movw    r30, r20
    clc
1:  .rept 2
    ld      r22, X+
    ld      r0, Z+
    \next   r22, r0
    st      Y+, r22
    .endr
    dec     r18                     ; leaves the carry alone
    brne    1b
    sbc     r24, r24
    neg     r24
    clr     r25
    pop     r29
    pop     r28
    ret
    .endm

    function sunseal_mp_add
    sum     adc

; name:       uint16_t sunseal_mp_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n)
; registers:  as sunseal_mp_add
; stack:      4 bytes with the return address
; cycles:     18 + 17 n
    function sunseal_mp_sub
    sum     sbc

; name:       void sunseal_mp_select(uint16_t *r, const uint16_t *a, uint16_t mask, size_t n)
; registers:  X = r, Z = a, r20 = mask, r18 = words left, r0, r22 = bytes
; stack:      2 bytes with the return address
; cycles:     5 + 21 n
    function sunseal_mp_select
    movw    r26, r24
    movw    r30, r22
1:  .rept 2
    ld      r0, X
    ld      r22, Z+
    eor     r22, r0
    and     r22, r20
    eor     r22, r0
    st      X+, r22
    .endr
    dec     r18
    brne    1b
    ret

; name:       void sunseal_mp_pick(uint16_t *r, const SUNSEAL_FLASH uint16_t *table, uint16_t index,
;                                  size_t n)
; registers:  X = r, Z walks over the table, r18..r25 = eight bytes of the entry, r16 = index, counted
;             down, r17 = entries left, r28 = n/4 left, r14 = bytes from the end of eight bytes to their
;             like in the next entry, r12 = table, r10 = index, r0 = mask, r1 = byte
; stack:      10 bytes with the return address
; cycles:     47 + 1490 n/4
    .set BYTES, 18
    function sunseal_mp_pick
    each    push, 10, 12, 13, 14, 15, 16, 17, 28
    movw    r26, r24
    movw    r12, r22
    mov     r10, r20
    mov     r28, r18
    lsr     r28
    lsr     r28
    movw    r14, r18
    lsl     r14
    rol     r15
    ldi     r16, 8
    sub     r14, r16
    sbc     r15, r1
1:  movw    r30, r12
    mov     r16, r10
    ldi     r17, 16
    .irp i, 0, 2, 4, 6
    clr     BYTES + \i
    clr     BYTES + 1 + \i
    .endr
2:  .rept 2
    subi    r16, 1                  ; borrows at the wanted entry only
    sbc     r0, r0
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    lpm     r1, Z+
    and     r1, r0
    or      BYTES + \i, r1
    .endr
    add     r30, r14
    adc     r31, r15
    .endr
    dec     r17
    brne    2b
    store_to 8, X+, BYTES
    ldi     r16, 8
    add     r12, r16
    clr     r1
    adc     r13, r1
    dec     r28
    breq    3f
    rjmp    1b
3:  each    pop, 28, 17, 16, 15, 14, 13, 12, 10
    ret
