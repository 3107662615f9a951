/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Multiplication helpers of the MSP430 EABI (SLAA534) for devices without a
 * multiplier. Constant time: the bits of one factor become masks, or choose between
 * two paths of the same length.
 *
 *   __mspabi_mpyi   r12 * r13              -> r12
 *   __mspabi_mpyl   r13:r12 * r15:r14      -> r13:r12
 *   __mspabi_mpyll  r11:r8 * r15:r12       -> r15:r12
 */
#include "function.inc"

    function __mspabi_mpyi
    mov     r12, r14                ; r14 = a
    clr     r12
    mov     #16, r15
1:  add     r12, r12
    add     r13, r13                ; C = next bit of b, highest first
    subc    r11, r11                ; C ? 0 : -1
    inv     r11
    and     r14, r11
    add     r11, r12
    dec     r15
    jnz     1b
    ret

    function __mspabi_mpyl
    pushm.w #4, r10                 ; r10, r9, r8, r7
    clr     r10                     ; r11:r10 = sum
    clr     r11
    mov     #32, r7
1:  add     r10, r10
    addc    r11, r11
    add     r14, r14
    addc    r15, r15                ; C = next bit of b
    subc    r9, r9
    inv     r9
    mov     r9, r8
    and     r12, r8
    and     r13, r9
    add     r8, r10
    addc    r9, r11
    dec     r7
    jnz     1b
    mov     r10, r12
    mov     r11, r13
    popm.w  #4, r10
    ret

    .section .text.__mspabi_mpyll,"ax",@progbits
    .global __mspabi_mpyll
    .type __mspabi_mpyll,@function
__mspabi_mpyll:
    pushm.w #4, r7                  ; r7, r6, r5, r4
    push    r12
    push    r13
    push    r14
    push    r15                     ; b on the stack, highest word on top
    clr     r12                     ; r15:r12 = sum
    clr     r13
    clr     r14
    clr     r15
    .rept   4
    pop     r4                      ; next word of b
    call    #sunseal_mpyll_word
    .endr
    popm.w  #4, r7
    ret
    .size __mspabi_mpyll, . - __mspabi_mpyll

    .type sunseal_mpyll_word,@function
sunseal_mpyll_word:                 ; 16 steps, with the bits of r4
    mov     #16, r7
1:  add     r12, r12
    addc    r13, r13
    addc    r14, r14
    addc    r15, r15
    add     r4, r4                  ; C = next bit of b
    jc      3f                      ; 2 cycles, taken or not; both ways take 6 more
    nop
    nop
    nop
    nop
    jmp     4f
3:  add     r8, r12
    addc    r9, r13
    addc    r10, r14
    addc    r11, r15
    jmp     4f
4:  dec     r7
    jnz     1b
    ret
    .size sunseal_mpyll_word, . - sunseal_mpyll_word
