; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^255 - 19 with MPY32.

#include "product8_mpy32.inc"
#include "karatsuba25519.inc"

; name:       void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a)
; registers:  r12 = r, r13 walks over a, r15:r14 = highest limb, r11:r10 = what the limbs below carry
; stack:      4 bytes with the return address
; cycles:     274
; clobbers:   r11-r15, MPY32
    function sunseal_fe25519_mul121665
    push    r10
    mov     #121665 & 0xffff, &MPY32L
    mov     #121665 >> 16, &MPY32H
    mov     28(r13), &OP2L
    mov     30(r13), &OP2H
    mov     &RES0, r14
    mov     &RES1, r15
    mov     &RES2, r10
    mov     &RES3, r11
    rla     r15
    rlc     r10
    rlc     r11                     ; 18 bits above 2^255
    clrc
    rrc     r15
    mov     #19, &MPY
    mov     r10, &OP2
    mov     r11, r10
    rla     r10
    add     r10, r11
    rla     r10
    rla     r10
    rla     r10
    add     r10, r11
    mov     &RESLO, r10
    add     &RESHI, r11
    mov     #121665 & 0xffff, &MPY32L
    mov     #121665 >> 16, &MPY32H
    .set K, 0
    .rept 7
    mov     @r13+, &OP2L
    mov     @r13+, &OP2H
    add     &RES0, r10
    addc    &RES1, r11
    mov     r10, 4*K(r12)
    mov     r11, 4*K+2(r12)
    mov     &RES2, r10
    mov     &RES3, r11
    adc     r10
    adc     r11
    .set K, K + 1
    .endr
    pairs   add, addc, r10, r14,  r11, r15
    mov     r14, 28(r12)
    mov     r15, 30(r12)
    pop     r10
    ret
