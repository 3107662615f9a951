; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, with the 16 x 16 bit multiplier.

#include "mpy.h"

#include "product8_mpy16.inc"
#include "product16.inc"

#define P sunseal_fe256_product

; Where the product of the distances begins: r4..r11 = Z0 + Z1, inverted where the product is to be
; subtracted, its carry pushed.
    .macro middle
    mov     #P, r12
    load_words8 r12
    mov     #0, r14
    add_words add, r12, 8, r14
    mov     @sp, r12
    xor_words8 r12
    push    r14
    mov     #P+32, r12
    .endm

; name:       void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  see product16.inc
; stack:      24 bytes with the return address; static sunseal_fe256_product, sunseal_product8_halves
; cycles:     2923
; clobbers:   r11-r15, MPY
    function sunseal_fe256_mul
    pushm.w #7, r10
    push    r12
    multiply_halves P, 48
    middle
    mov     #HALVES+32, r14
    call    #sunseal_product8_mul
    br      #sunseal_fe256_join
    .size sunseal_fe256_mul, . - sunseal_fe256_mul

; name:       void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
; registers:  see product16.inc
; stack:      24 bytes with the return address; static sunseal_fe256_product, sunseal_product8_halves
; cycles:     2375
; clobbers:   r11-r15, MPY
    function sunseal_fe256_sqr
    pushm.w #7, r10
    push    r12
    square_halves P, 48
    middle
    call    #sunseal_product8_sqr
    br      #sunseal_fe256_join
    .size sunseal_fe256_sqr, . - sunseal_fe256_sqr

; P = Z0, Z0 + Z1 -+ L, Z1 + Z2 -+ H, Z2 with the carries; before, P = Z0, Z1, the second of them, inverted
; where the product of the distances H:L is subtracted, Z2, and r4..r11 = H, less the carry and inverted
; likewise. Then inverted means 2^256 - 2^128 more.
; registers:  r15 = sign, r14 = carry of Z0 + Z1, r12 = carry
; cycles:     172
; clobbers:   r4-r15
    function sunseal_fe256_join
    pop     r14
    pop     r15
    xor_words8 r15
    mov     r15, r12
    mov     #P+16, r13
    bit     #1, r15
    add_words addc, r13, 8, r12
    .set K, 0
    .rept 8
    mov     &P+32+2*K, r13
    xor     r15, r13
    mov     r13, &P+16+2*K
    .set K, K + 1
    .endr
    mov     #P+48, r13
    rrc     r14
    add_words addc, r13, 8, r12
    store_words8 P+32
    mov     r12, r13
    rla     r13
    subc    r13, r13
    inv     r13                     ; the carry's sign
    add     r12, &P+48
    .set K, 1
    .rept 7
    addc    r13, &P+48+2*K
    .set K, K + 1
    .endr
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_join, . - sunseal_fe256_join
