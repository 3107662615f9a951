; SPDX-License-Identifier: MIT OR Apache-2.0
;
; Multiplication and squaring modulo 2^255 - 19 without a multiplier.

#include "rows_mpynone.inc"
#include "times19.inc"

    .set N, 16

    products fe25519, fold

; r12[] = sunseal_fe25519_product[], 15 words and the highest in r5, + 19 times the two words \high:\low, to
; which \high:\low goes; r4, r6, r13 are used
    .macro add_times_19 low, high
    mov     \low, r4
    mov     \high, r6
    rla     r4
    rlc     r6
    pairs   add, addc, r4, \low,  r6, \high
    rla     r4
    rlc     r6
    rla     r4
    rlc     r6
    rla     r4
    rlc     r6
    pairs   add, addc, r4, \low,  r6, \high
    mov     #sunseal_fe25519_product, r13
    mov     @r13+, r4
    add     \low, r4
    mov     r4, 0(r12)
    mov     @r13+, r4
    addc    \high, r4
    mov     r4, 2(r12)
    .set K, 2
    .rept 13
    mov     @r13+, r4
    adc     r4
    mov     r4, 2*K(r12)
    .set K, K + 1
    .endr
    adc     r5
    mov     r5, 30(r12)
    .endm

; The end of every multiplication: reduces sunseal_fe25519_product and returns to the caller of the
; multiplication, which has pushed r4-r10 and then r. Low + 38 high, and what that has above 2^255 once
; more 19 times. The result is below 2^255 + 2^13.
; cycles:     2740
    function sunseal_fe25519_fold
    mov     #sunseal_fe25519_product, r12
    mov     #sunseal_fe25519_product+32, r13
    mov     #38, r14
    mov     #16, r15
    call    #sunseal_mp_addmul1
    mov     r12, r15
    mov     #0, r14
    mov     &sunseal_fe25519_product+30, r5
    rla     r5
    rlc     r15
    rrc     r5
    pop     r12
    add_times_19 r15, r14
    popm.w  #7, r10
    ret

; name:       void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a)
; registers:  words 16 and 17 of the product in r15 and r14
; stack:      28 bytes with the return address; static sunseal_fe25519_product
; cycles:     2806
    function sunseal_fe25519_mul121665
    pushm.w #7, r10
    push    r12
    ; 2^16 a + (121665 - 2^16) a
    mov     r13, r14
    mov     #0, &sunseal_fe25519_product
    .set K, 1
    .rept 16
    mov     @r14+, &sunseal_fe25519_product+2*K
    .set K, K + 1
    .endr
    mov     #sunseal_fe25519_product, r12
    mov     #121665 & 0xffff, r14
    mov     #16, r15
    call    #sunseal_mp_addmul1
    mov     r12, r15
    mov     #0, r14
    add     &sunseal_fe25519_product+32, r15
    adc     r14
    mov     &sunseal_fe25519_product+30, r5
    rla     r5
    rlc     r15
    rlc     r14
    rrc     r5
    pop     r12
    add_times_19 r15, r14
    popm.w  #7, r10
    ret
