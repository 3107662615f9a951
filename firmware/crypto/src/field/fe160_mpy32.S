; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^160 - 2^31 - 1 with MPY32.

#include "mpy.h"

#include "comba_mpy32.inc"
#include "function.inc"
#include "../words.inc"

    .set IN_REGISTERS, 10

; Behind the last column the product is whole.
    .macro last_column
    store_column sunseal_fe160_product, 32
    mov     &RES2, &sunseal_fe160_product+36
    mov     &RES3, &sunseal_fe160_product+38
    br      #sunseal_fe160_reduce
    .endm

; name:       void sunseal_fe160_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
; registers:  b in r4..r13, r14 walks over a, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe160_product
; cycles:     921
; clobbers:   r11-r15, MPY32
    function sunseal_fe160_mul
    pushm.w #7, r10
    push    r12
    mov     r13, r15
    mov_from r14,  r4, r5, r6, r7, r8, r9, r10, r11, r12
    mov     @r14, r13
    mov     r15, r14
    mov     #0, r15
    .set K, 0
    .rept 9
    .if K < 5
    .set FIRST, 0
    .set COUNT, K + 1
    .else
    .set FIRST, K - 4
    .set COUNT, 9 - K
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
    limb    J, OP2L, OP2H
    .set J, J - 1
    .set LATE, 1
    .endr
    .if K < 8
    .if K < 4
    .set BACK, 4 * (FIRST + COUNT)
    .else
    .set BACK, 4 * (FIRST + COUNT - (K - 3))
    .endif
    sub     #BACK, r14
    store_column sunseal_fe160_product, 4*K
    next_column
    .endif
    .set K, K + 1
    .endr
    last_column

; name:       void sunseal_fe160_sqr(uint16_t *r, const uint16_t *a)
; registers:  a in r4..r13, r15 = carries of the column
; stack:      18 bytes with the return address; static sunseal_fe160_product
; cycles:     848
; clobbers:   r11-r15, MPY32
; += a_I a_J, twice where I and J differ
    .macro square_term
    limb    I, MAC32L, MAC32H
    .if LATE
    add     &SUMEXT, r15
    .endif
    .set LATE, 1
    limb    J, OP2L, OP2H
    .if I != J
    .rept 5
    nop
    .endr
    add     &SUMEXT, r15
    limb    J, OP2L, OP2H
    .endif
    .endm

    function sunseal_fe160_sqr
    pushm.w #7, r10
    push    r12
    mov     r13, r14
    mov_from r14,  r4, r5, r6, r7, r8, r9, r10, r11, r12
    mov     @r14, r13
    mov     #0, r15
    limb    0, MPY32L, MPY32H
    limb    0, OP2L, OP2H
    store_column sunseal_fe160_product, 0
    next_column
    .set K, 1
    .rept 8
    .if K < 5
    .set I, 0
    .else
    .set I, K - 4
    .endif
    .set LATE, 0
    .rept 3
    .set J, K - I
    .if I <= J
    square_term
    .endif
    .set I, I + 1
    .endr
    .if K < 8
    store_column sunseal_fe160_product, 4*K
    next_column
    .endif
    .set K, K + 1
    .endr
    last_column
