; SPDX-License-Identifier: MIT OR Apache-2.0

#include "../bytes_avr.inc"

; name:       uint16_t sunseal_mp_addmul1(uint16_t *acc, const uint16_t *a, uint16_t b, size_t n)
; registers:  Z = acc, X = a, r20, r21 = b, r18 = words left, r22, r23 = word of a, r24, r25 = carry, r19,
;             r28 = upper bytes of the sum, r29 = 0
; stack:      4 bytes with the return address
; cycles:     17 + 42 n
    function sunseal_mp_addmul1
    push    r28
    push    r29
    movw    r30, r24
    movw    r26, r22
    each    clr, 24, 25, 29
1:  ld      r22, X+
    ld      r23, X+
    ; r28:r19:r25:r24 = acc + carry + a b, which fits
    ld      r0, Z
    ldd     r1, Z + 1
    add     r24, r0
    adc     r25, r1
    clr     r19
    adc     r19, r29
    clr     r28
    mul     r23, r21
    add     r19, r0
    adc     r28, r1
    mul     r22, r20
    add     r24, r0
    adc     r25, r1
    adc     r19, r29
    adc     r28, r29
    mul     r22, r21
    add     r25, r0
    adc     r19, r1
    adc     r28, r29
    mul     r23, r20
    add     r25, r0
    adc     r19, r1
    adc     r28, r29
    st      Z+, r24
    st      Z+, r25
    mov     r24, r19
    mov     r25, r28
    dec     r18
    brne    1b
    clr     r1
    pop     r29
    pop     r28
    ret
