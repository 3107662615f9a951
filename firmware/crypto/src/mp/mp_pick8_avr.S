; SPDX-License-Identifier: MIT OR Apache-2.0

#include "../bytes_avr.inc"

; The bytes of the wanted of eight entries, from Z on, to X; Z stays.
; registers:  r12.. = bytes, r20 = index, counted down in r22, r23 = mask, r0 = byte, r24 = size of an entry less
;             these bytes
    .macro gather count
    movw    r16, r30
    mov     r22, r20
    .irp i, 0, 1, 2, 3
    .if \i < \count
    clr     12 + \i
    .endif
    .endr
    .rept 8
    subi    r22, 1                  ; borrows at the wanted entry only
    sbc     r23, r23
    .irp i, 0, 1, 2, 3
    .if \i < \count
    ld      r0, Z+
    and     r0, r23
    or      12 + \i, r0
    .endif
    .endr
    add     r30, r24
    adc     r31, r25
    .endr
    .irp i, 0, 1, 2, 3
    .if \i < \count
    st      X+, 12 + \i
    .endif
    .endr
    movw    r30, r16
    .endm

; name:       void sunseal_mp_pick8(uint16_t *r, const uint16_t *table, uint16_t index, size_t n)
; registers:  as above; X = r, r18 = pairs of words left, r19 = a word is left, r16 = table
; stack:      8 bytes with the return address
; cycles:     47 + 181 n/2 for an even n
    function sunseal_mp_pick8
    each    push, 12, 13, 14, 15, 16, 17
    movw    r26, r24
    movw    r30, r22
    clr     r25
    mov     r24, r18
    mov     r19, r18
    andi    r19, 1
    lsl     r24
    rol     r25
    sbiw    r24, 4
    lsr     r18
    rjmp    2f
1:  gather  4
    adiw    r30, 4
2:  subi    r18, 1
    brcs    3f
    rjmp    1b
3:  sbrs    r19, 0
    rjmp    4f
    adiw    r24, 2
    gather  2
4:  each    pop, 17, 16, 15, 14, 13, 12
    ret
