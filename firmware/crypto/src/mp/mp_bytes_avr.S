; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Words are little-endian here, so that both ways are the bytes in reverse. Numbers are shorter than 256
; bytes.

#include "function.inc"

; name:       void sunseal_mp_from_bytes(uint16_t *r, const uint8_t *bytes, size_t count, size_t n)
; registers:  X = r, Z = end of bytes, r18 = bytes of r left, r20 = bytes left
; stack:      2 bytes with the return address
; cycles:     23 + 14 n at most
    function sunseal_mp_from_bytes
    movw    r26, r24
    movw    r30, r22
    add     r30, r20
    adc     r31, r21
    lsl     r18
    rol     r19
    cp      r20, r18
    cpc     r21, r19
    brlo    1f
    movw    r20, r18
1:  sub     r18, r20
    rjmp    3f
2:  ld      r0, -Z
    st      X+, r0
3:  subi    r20, 1
    brcc    2b
    rjmp    5f
4:  st      X+, r1
5:  subi    r18, 1
    brcc    4b
    ret

; name:       void sunseal_mp_to_bytes(uint8_t *bytes, const uint16_t *a, size_t count)
; registers:  X = a, Z = end of bytes, r20 = bytes left
; stack:      2 bytes with the return address
; cycles:     12 + 7 count
    function sunseal_mp_to_bytes
    movw    r30, r24
    movw    r26, r22
    add     r30, r20
    adc     r31, r21
    rjmp    2f
1:  ld      r0, X+
    st      -Z, r0
2:  subi    r20, 1
    brcc    1b
    ret
