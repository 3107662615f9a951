; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^255 - 19 with the 16 x 16 bit multiplier.

#include "mpy.h"

#include "comba16.inc"
#include "times19.inc"

    .set N, 16
    .set IN_REGISTERS, 9

    .macro load_words
    mov     @r13, r4
    mov     2(r13), r5
    mov     4(r13), r6
    mov     6(r13), r7
    mov     8(r13), r8
    mov     10(r13), r9
    mov     12(r13), r10
    mov     14(r13), r11
    mov     16(r13), r12
    .endm

; name:       void sunseal_fe25519_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  words 0 to 8 of a in r4..r12, r13 = a, r14 walks over b, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe25519_product
; cycles:     3631
; clobbers:   r11-r15, MPY
    function sunseal_fe25519_mul
    pushm.w #7, r10
    push    r12
    load_words
    multiply_columns sunseal_fe25519_product
    br      #sunseal_fe25519_fold
    .size sunseal_fe25519_mul, . - sunseal_fe25519_mul

; name:       void sunseal_fe25519_sqr(uint16_t *r, const uint16_t *a)
; registers:  words 0 to 8 of a in r4..r12, r13 = a, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe25519_product
; cycles:     2604
; clobbers:   r11-r15, MPY
    function sunseal_fe25519_sqr
    pushm.w #7, r10
    push    r12
    load_words
    square_columns sunseal_fe25519_product
    br      #sunseal_fe25519_fold
    .size sunseal_fe25519_sqr, . - sunseal_fe25519_sqr

; The end of every multiplication: reduces sunseal_fe25519_product and returns to the caller of the
; multiplication, which has pushed r4-r10 and then r. Low + 38 high; the highest word goes first: what it
; has above 2^255 comes back 19 times at the lowest. The result is below 2^255 + 2^247.
; registers:  r5 = highest word, r4 = word, r15 = carry, r13 and r14 walk over low and high
; cycles:     341
; clobbers:   r11-r15, MPY
    function sunseal_fe25519_fold
    mov     #38, &MPY
    mov     &sunseal_fe25519_product+62, &OP2
    mov     &sunseal_fe25519_product+30, r5
    add     &RESLO, r5
    mov     &RESHI, r15
    adc     r15
    rla     r5
    rlc     r15
    clrc
    rrc     r5
    times_19 r15, r6
    pop     r12
    mov     #sunseal_fe25519_product, r13
    mov     #sunseal_fe25519_product+32, r14
    .set K, 0
    .rept 15
    mov     @r14+, &OP2
    mov     @r13+, r4
    add     r15, r4
    mov     &RESHI, r15
    adc     r15
    add     &RESLO, r4
    adc     r15
    mov     r4, 2*K(r12)
    .set K, K + 1
    .endr
    add     r15, r5
    mov     r5, 30(r12)
    popm.w  #7, r10
    ret
    .size sunseal_fe25519_fold, . - sunseal_fe25519_fold

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
    mov     #0, r10
    mov     #0, r11
    mov     #0, r14
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
    .size sunseal_fe25519_mul121665, . - sunseal_fe25519_mul121665
