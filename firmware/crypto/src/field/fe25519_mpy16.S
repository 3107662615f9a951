; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^255 - 19 with the 16 x 16 bit multiplier: one level of subtractive
; Karatsuba. With x = 2^128, a = a1 x + a0 and Z = b1 a1 x + b0 a0, which is 3 halves Z2, Z1, Z0 long,
; a b = Z x + Z - (a0 - a1)(b0 - b1) x. The second product of Z takes over what the first one leaves in
; registers.

#include "mpy.h"

#include "function.inc"
#include "times19.inc"
#include "words8.inc"

; Z, then the lower half of the difference's product
#define Z sunseal_fe25519_product
; The halves of the second factor and their distance, split; then the distance of the first one's halves.
#define HALVES sunseal_fe25519_halves
    .section .bss.HALVES,"aw",%nobits
    .balign 2
    .global HALVES
    .type HALVES,%object
HALVES:
    .skip 64
    .size HALVES, 64

; name:       void sunseal_fe25519_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  words in r4..r11, r12 = where a product goes, r13 = a, r14 = b, r15 = sign, then address of RESHI
; stack:      22 bytes with the return address; static sunseal_fe25519_product, sunseal_fe25519_halves
; cycles:     2688
; clobbers:   r11-r15, MPY
    function sunseal_fe25519_mul
    pushm.w #7, r10
    push    r12
    load_words8 r14
    store_split HALVES
    distance8 r14, r15
    store_split HALVES+32
    sub     #16, r14
    copy_split r14, HALVES+16
    load_words8 r13
    distance8 r13, r12
    store_words8 HALVES+48
    xor     r12, r15
    inv     r15
    push    r15                     ; -1 where the product of the differences is to be subtracted, else 0
    sub     #32, r13
    mov     #0, r4
    clear_r5_to_r11
    mov     #Z, r12
    mov     #HALVES, r14
    mov     #RESHI, r15
    call    #sunseal_product8_mul
    add     #16, r12
    call    #sunseal_product8_mul
    store_words8 Z+32
    mov     #HALVES+48, r13
    add     #32, r12
    mov     #38, r4
    and     @sp, r4
    clear_r5_to_r11
    call    #sunseal_product8_mul
    br      #sunseal_fe25519_fold
    .size sunseal_fe25519_mul, . - sunseal_fe25519_mul

; name:       void sunseal_fe25519_sqr(uint16_t *r, const uint16_t *a)
; registers:  words in r4..r11, r12 = where a square goes, r13 = a, r15 = sign, then address of RESHI
; stack:      22 bytes with the return address; static sunseal_fe25519_product, sunseal_fe25519_halves,
;             sunseal_product8_double
; cycles:     2140
; clobbers:   r11-r15, MPY
    function sunseal_fe25519_sqr
    pushm.w #7, r10
    push    r12
    push    #-1
    load_words8 r13
    distance8 r13, r15
    store_words8 HALVES+48
    sub     #32, r13
    mov     #0, r4
    clear_r5_to_r11
    mov     #Z, r12
    mov     #RESHI, r15
    call    #sunseal_product8_sqr
    mov     #Z+16, r12
    call    #sunseal_product8_sqr
    store_words8 Z+32
    mov     #HALVES+48, r13
    mov     #Z+48, r12
    mov     #38, r4
    clear_r5_to_r11
    call    #sunseal_product8_sqr
    br      #sunseal_fe25519_fold
    .size sunseal_fe25519_sqr, . - sunseal_fe25519_sqr

; \low, \high += 38 word \k of Z
    .macro times_38 k, op, low, high
    mov     &Z+2*\k, &OP2
    \op     &RESLO, \low
    addc    @r15, \high
    .endm

; The end of every multiplication: returns to the caller of the multiplication, which has pushed r4-r10, r and
; the sign, left Z and the lower half L of the differences' product P in memory and its upper half H in
; registers. Where P is subtracted it has 38 more; then ~P + 1 is -P + 2^256 - 38, and 2^256 x = 38 x.
; r = Z0 + 38 (Z1 + Z2 + H) + x (Z0 + Z1 + L + 38 Z2). The highest word goes first: what it has above 2^255
; comes back 19 times at the lowest. The result is below 2^255 + 2^246.
; registers:  r15 = sign, r14 = carry
; cycles:     397
; clobbers:   r11-r15, MPY
    function sunseal_fe25519_fold
    pop     r15
    mov     #38, &MPY
    mov     &Z+46, &OP2
    mov     &Z+62, r13
    xor     r15, r13
    mov     &RESHI, r14
    add     &RESLO, r13
    adc     r14
    add     &Z+14, r13
    adc     r14
    add     &Z+30, r13
    adc     r14
    rla     r13
    rlc     r14
    clrc
    rrc     r13
    mov     r13, &Z+62
    times_19 r14, r13
    ; r4..r11 = Z1 + Z2 + H, r12 = its carry
    xor_words8 r15
    mov     #0, r12
    mov     #Z+16, r13
    add_words add, r13, 8, r12
    add_words add, r13, 8, r12
    .irp    word, r4, r5, r6, r7, r8, r9, r10, r11
    mov     \word, &OP2
    mov     &RESLO, \word
    .ifc    \word, r4
    add     r14, \word
    .else
    addc    r14, \word
    .endif
    mov     &RESHI, r14
    .endr
    adc     r14
    mov     r12, &OP2
    add     &RESLO, r14
    mov     #Z, r13
    add_words add, r13, 8, r14
    pop     r12
    mov     r4, 0(r12)
    mov     r5, 2(r12)
    mov     r6, 4(r12)
    mov     r7, 6(r12)
    mov     r8, 8(r12)
    mov     r9, 10(r12)
    mov     r10, 12(r12)
    mov     r11, 14(r12)
    ; r4..r10 and the highest word in r11 = Z0 + Z1 + L + 38 Z2
    mov     &Z+48, r4
    mov     &Z+50, r5
    mov     &Z+52, r6
    mov     &Z+54, r7
    mov     &Z+56, r8
    mov     &Z+58, r9
    mov     &Z+60, r10
    mov     &Z+62, r11
    xor     r15, r4
    xor     r15, r5
    xor     r15, r6
    xor     r15, r7
    xor     r15, r8
    xor     r15, r9
    xor     r15, r10
    bit     #1, r15
    mov     #RESHI, r15
    times_38 16, addc, r4, r5
    times_38 18, addc, r6, r7
    times_38 20, addc, r8, r9
    times_38 22, addc, r10, r11
    add     r14, r4
    times_38 17, addc, r5, r6
    times_38 19, addc, r7, r8
    times_38 21, addc, r9, r10
    adc     r11
    mov     #Z, r13
    add_words add, r13, 7, r11
    incd    r13
    add_words add, r13, 7, r11
    mov     r4, 16(r12)
    mov     r5, 18(r12)
    mov     r6, 20(r12)
    mov     r7, 22(r12)
    mov     r8, 24(r12)
    mov     r9, 26(r12)
    mov     r10, 28(r12)
    mov     r11, 30(r12)
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
