; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^255 - 19 with MPY32.

#include "mpy.h"

#include "comba32.inc"
#include "function.inc"
#include "times19.inc"

; name:       void sunseal_fe25519_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  limbs 0 to 3 of b in r4..r11, half of limb 4 in r12, r13 = b, r14 walks over a,
;             r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe25519_product
; cycles:     1942
; clobbers:   r11-r15, MPY32
    function sunseal_fe25519_mul
    .set IN_REGISTERS, 9
    pushm.w #7, r10
    push    r12
    mov     r13, r15
    mov     r14, r13
    mov     @r14+, r4
    mov     @r14+, r5
    mov     @r14+, r6
    mov     @r14+, r7
    mov     @r14+, r8
    mov     @r14+, r9
    mov     @r14+, r10
    mov     @r14+, r11
    mov     @r14, r12
    mov     r15, r14
    multiply_limbs sunseal_fe25519_product, 8
    br      #sunseal_fe25519_fold
    .size sunseal_fe25519_mul, . - sunseal_fe25519_mul

; name:       void sunseal_fe25519_sqr(uint16_t *r, const uint16_t *a)
; registers:  limbs 0 to 4 of a in r4..r13, r14 = a, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe25519_product
; cycles:     1659
; clobbers:   r11-r15, MPY32
    function sunseal_fe25519_sqr
    .set IN_REGISTERS, 10
    pushm.w #7, r10
    push    r12
    mov     r13, r14
    mov     @r13+, r4
    mov     @r13+, r5
    mov     @r13+, r6
    mov     @r13+, r7
    mov     @r13+, r8
    mov     @r13+, r9
    mov     @r13+, r10
    mov     @r13+, r11
    mov     @r13+, r12
    mov     @r13, r13
    square_limbs sunseal_fe25519_product, 8
    br      #sunseal_fe25519_fold
    .size sunseal_fe25519_sqr, . - sunseal_fe25519_sqr

; The end of every multiplication: reduces sunseal_fe25519_product and returns to the caller of the
; multiplication, which has pushed r4-r10 and then r. Low + 38 high; the highest limb goes first: what it
; has above 2^255 comes back 19 times at the lowest word. The result is below 2^255 + 2^231.
; registers:  r5:r4 = highest limb, r7:r6 = limb, r15 = carry, r13 and r14 walk over low and high
; cycles:     304
; clobbers:   r11-r15, MPY32
    function sunseal_fe25519_fold
    mov     #38, &MPY
    mov     &sunseal_fe25519_product+60, &OP2L
    mov     &sunseal_fe25519_product+62, &OP2H
    mov     &sunseal_fe25519_product+28, r4
    mov     &sunseal_fe25519_product+30, r5
    add     &RES0, r4
    addc    &RES1, r5
    mov     &RES2, r15
    adc     r15
    mov     r5, r6
    rla     r6
    rlc     r15
    and     #0x7fff, r5
    times_19 r15, r6
    pop     r12
    mov     #sunseal_fe25519_product, r13
    mov     #sunseal_fe25519_product+32, r14
    .set K, 0
    .rept 7
    mov     @r14+, &OP2L
    mov     @r14+, &OP2H
    mov     @r13+, r6
    mov     @r13+, r7
    add     r15, r6
    adc     r7
    mov     &RES2, r15
    adc     r15
    add     &RES0, r6
    addc    &RES1, r7
    adc     r15
    mov     r6, 4*K(r12)
    mov     r7, 4*K+2(r12)
    .set K, K + 1
    .endr
    add     r15, r4
    adc     r5
    mov     r4, 28(r12)
    mov     r5, 30(r12)
    popm.w  #7, r10
    ret
    .size sunseal_fe25519_fold, . - sunseal_fe25519_fold

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
    add     r10, r14
    addc    r11, r15
    mov     r14, 28(r12)
    mov     r15, 30(r12)
    pop     r10
    ret
    .size sunseal_fe25519_mul121665, . - sunseal_fe25519_mul121665
