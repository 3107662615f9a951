; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^255 - 19 with the 16 x 16 bit multiplier.

#include "product8_mpy16.inc"
#include "karatsuba25519.inc"

; name:       void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a)
; registers:  r12 = r, r13 walks over a, r11:r10 = what the words below carry, r14 = the word before, which
;             2^16 of 121665 lifts, r9 = word, r15 = highest word
; stack:      6 bytes with the return address
; cycles:     428
; clobbers:   r11-r15, MPY
    function sunseal_fe25519_mul121665
    push    r10
    push    r9
    mov     #121665 & 0xffff, &MPY
    across  mov, mov, #0,  r10, r11, r14
    .set K, 0
    .rept 16
    mov     @r13+, r9
    mov     r9, &OP2
    add     r14, r10
    adc     r11
    add     &RESLO, r10
    addc    &RESHI, r11
    .if K < 15
    mov     r10, 2*K(r12)
    .else
    mov     r10, r15
    .endif
    mov     r11, r10
    mov     #0, r11
    adc     r11
    mov     r9, r14
    .set K, K + 1
    .endr
    ; the 18 bits above 2^255 come back 19 times
    add     r14, r10
    adc     r11
    rla     r15
    rlc     r10
    rlc     r11
    rrc     r15
    mov     #19, &MPY
    mov     r10, &OP2
    times_19 r11, r9
    add     &RESHI, r11
    add     &RESLO, 0(r12)
    addc    r11, 2(r12)
    .set K, 2
    .rept 13
    adc     2*K(r12)
    .set K, K + 1
    .endr
    adc     r15
    mov     r15, 30(r12)
    pop     r9
    pop     r10
    ret
