; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo p256, in Montgomery form, with MPY32.

#include "mpy.h"
#include "comba32.inc"
#include "function.inc"

; name:       void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  limbs 0 to 3 of b in r4..r11, half of limb 4 in r12, r13 = b, r14 walks over a,
;             r15 = carries of the column
; stack:      20 bytes with the return address; static sunseal_fe256_product
; cycles:     2122
; clobbers:   r11-r15, MPY32
    .macro multiplier
    .if J == 0
    mov     r4, &OP2L
    mov     r5, &OP2H
    .elseif J == 1
    mov     r6, &OP2L
    mov     r7, &OP2H
    .elseif J == 2
    mov     r8, &OP2L
    mov     r9, &OP2H
    .elseif J == 3
    mov     r10, &OP2L
    mov     r11, &OP2H
    .elseif J == 4
    mov     r12, &OP2L
    mov     18(r13), &OP2H
    .else
    mov     4*J(r13), &OP2L
    mov     4*J+2(r13), &OP2H
    .endif
    .endm

    function sunseal_fe256_mul
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
    mov     #0, r15
    .set K, 0
    .rept 15
    .if K < 8
    .set FIRST, 0
    .set COUNT, K + 1
    .else
    .set FIRST, K - 7
    .set COUNT, 15 - K
    .endif
    .set J, K - FIRST
    .set LATE, 0
    .rept COUNT
    .if K == 0
    mov     @r14+, &MPY32L
    mov     @r14+, &MPY32H
    .else
    mov     @r14+, &MAC32L
    mov     @r14+, &MAC32H
    .endif
    .if LATE
    add     &SUMEXT, r15
    .endif
    multiplier
    .set J, J - 1
    .set LATE, 1
    .endr
    .if K < 14
    .if K < 7
    .set BACK, 4 * (FIRST + COUNT)
    .else
    .set BACK, 4 * (FIRST + COUNT - (K - 6))
    .endif
    sub     #BACK, r14
    store_column sunseal_fe256_product, 4*K
    next_column
    .endif
    .set K, K + 1
    .endr
    store_column sunseal_fe256_product, 56
    mov     &RES2, &sunseal_fe256_product+60
    mov     &RES3, &sunseal_fe256_product+62
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_mul, . - sunseal_fe256_mul

; name:       void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
; registers:  limbs 0 to 4 of a in r4..r13, r14 = a, r15 = carries of the column
; stack:      20 bytes with the return address; static sunseal_fe256_product
; cycles:     2010
; clobbers:   r11-r15, MPY32
    .macro limb index, low, high
    .if \index == 0
    mov     r4, &\low
    mov     r5, &\high
    .elseif \index == 1
    mov     r6, &\low
    mov     r7, &\high
    .elseif \index == 2
    mov     r8, &\low
    mov     r9, &\high
    .elseif \index == 3
    mov     r10, &\low
    mov     r11, &\high
    .elseif \index == 4
    mov     r12, &\low
    mov     r13, &\high
    .else
    mov     4*\index(r14), &\low
    mov     4*\index+2(r14), &\high
    .endif
    .endm

    function sunseal_fe256_sqr
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
    mov     #0, r15
    limb    0, MPY32L, MPY32H
    limb    0, OP2L, OP2H
    store_column sunseal_fe256_product, 0
    next_column
    .set K, 1
    .rept 14
    .if K < 8
    .set I, 0
    .else
    .set I, K - 7
    .endif
    .set LATE, 0
    .rept 4
    .set J, K - I
    .if I <= J
    limb    I, MAC32L, MAC32H
    .if LATE
    add     &SUMEXT, r15
    .endif
    .set LATE, 1
    limb    J, OP2L, OP2H
    .if I != J
    ; twice; SUMEXT is there 11 cycles after OP2L
    nop
    nop
    nop
    nop
    nop
    add     &SUMEXT, r15
    limb    J, OP2L, OP2H
    .endif
    .endif
    .set I, I + 1
    .endr
    .if K < 14
    store_column sunseal_fe256_product, 4*K
    next_column
    .endif
    .set K, K + 1
    .endr
    store_column sunseal_fe256_product, 56
    mov     &RES2, &sunseal_fe256_product+60
    mov     &RES3, &sunseal_fe256_product+62
    br      #sunseal_fe256_reduce
    .size sunseal_fe256_sqr, . - sunseal_fe256_sqr
