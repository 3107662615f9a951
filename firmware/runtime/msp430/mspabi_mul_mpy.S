/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Multiplication helpers of the MSP430 EABI (SLAA534) on the multiplier of the
 * 5xx family (MPY32, SLAU208 chapter 25): the names ending in _hw use it as a
 * 16-bit multiplier, those ending in _f5hw with 32-bit operands. Constant time.
 *
 * The 64-bit ones differ from the EABI on purpose: clang 19 calls
 * __mspabi_mpyll_hw and __mspabi_mpyll_f5hw like C functions, one factor in
 * r15:r12 and the other on the stack, where the EABI (and clang for the plain
 * __mspabi_mpyll) has it in r11:r8. With TOOLCHAIN=gcc, libgcc brings its own.
 *
 * The multiplier has one set of registers. Interrupts are not held off here, so
 * an interrupt handler must not multiply; ours only set flags (see hal.h).
 *
 * Result words are ready in the order in which they are read, by absolute
 * address, right after the write of OP2 or OP2H (SLAU208, table "Result
 * Availability": RES0 and RES1 3 cycles, RES2 5, RES3 6 after OP2H).
 */
#ifdef SUNSEAL_DEVICE_msp430f1611 /* SLAU049: the 16-bit multiplier alone */
#define MPY 0x0130
#define MAC 0x0134
#define OP2 0x0138
#define RESLO 0x013A
#define RESHI 0x013C
#else
#define MPY 0x04C0
#define MAC 0x04C4
#define OP2 0x04C8
#define RESLO 0x04CA
#define RESHI 0x04CC
#define MPY32L 0x04D0
#define MPY32H 0x04D2
#define MAC32L 0x04D8
#define MAC32H 0x04DA
#define OP2L 0x04E0
#define OP2H 0x04E2
#define RES0 0x04E4
#define RES1 0x04E6
#define RES2 0x04E8
#define RES3 0x04EA
#endif

#include "function.inc"

    ; r12 * r13 -> r12
    function __mspabi_mpyi_hw
    mov     r12, &MPY
    mov     r13, &OP2
    mov     &RESLO, r12
    ret

#ifdef MPY32L
    function __mspabi_mpyi_f5hw
    mov     r12, &MPY
    mov     r13, &OP2
    mov     &RESLO, r12
    ret
#endif

    ; r13:r12 * r15:r14 -> r13:r12, three products of 16 bits
    function __mspabi_mpyl_hw
    mov     r12, &MPY
    mov     r14, &OP2
    mov     &RESLO, r11             ; lowest word of a0 b0
    mov     &RESHI, &RESLO          ; the next one goes on as sum
    mov     r12, &MAC
    mov     r15, &OP2
    mov     r13, &MAC
    mov     r14, &OP2
    mov     &RESLO, r13
    mov     r11, r12
    ret

#ifdef MPY32L
    function __mspabi_mpyl_f5hw
    mov     r12, &MPY32L
    mov     r13, &MPY32H
    mov     r14, &OP2L
    mov     r15, &OP2H
    mov     &RES0, r12
    mov     &RES1, r13
    ret
#endif

    ; stack * r15:r12 -> r15:r12, ten products of 16 bits by columns
    .macro product a, b, lo, hi, over
    mov     \a, &MPY
    mov     \b, &OP2
    add     &RESLO, \lo
    .ifnb \hi
    addc    &RESHI, \hi
    .endif
    .ifnb \over
    adc     \over
    .endif
    .endm

    ; What lies above: the return address, and the registers just saved.
    .macro load_factor saved
    mov     2 * \saved + 2(sp), r8
    mov     2 * \saved + 4(sp), r9
    mov     2 * \saved + 6(sp), r10
    mov     2 * \saved + 8(sp), r11
    .endm

    function __mspabi_mpyll_hw
    pushm.w #7, r10                 ; r10 .. r4; r7:r4 = sum
    load_factor 7
    clr     r6
    clr     r7
    mov     r8, &MPY
    mov     r12, &OP2
    mov     &RESLO, r4
    mov     &RESHI, r5
    product r8, r13, r5, r6, r7
    product r9, r12, r5, r6, r7
    product r8, r14, r6, r7
    product r9, r13, r6, r7
    product r10, r12, r6, r7
    product r8, r15, r7
    product r9, r14, r7
    product r10, r13, r7
    product r11, r12, r7
    mov     r4, r12
    mov     r5, r13
    mov     r6, r14
    mov     r7, r15
    popm.w  #7, r10
    ret

#ifdef MPY32L
    ; the same as three products of 32 bits
    function __mspabi_mpyll_f5hw
    pushm.w #7, r10                 ; r10 .. r4
    load_factor 7
    mov     r8, &MPY32L
    mov     r9, &MPY32H
    mov     r12, &OP2L
    mov     r13, &OP2H              ; a_low b_low
    mov     &RES0, r4
    mov     &RES1, r5
    mov     &RES2, r6
    mov     &RES3, &RES1            ; its high half goes on as sum
    mov     r6, &RES0
    mov     r8, &MAC32L
    mov     r9, &MAC32H
    mov     r14, &OP2L
    mov     r15, &OP2H              ; + a_low b_high
    mov     r10, &MAC32L
    mov     r11, &MAC32H
    ; A new OP2 while a product is under way would spoil it: RES3 comes 6
    ; cycles after OP2H, and the two writes above take 8.
    mov     r12, &OP2L
    mov     r13, &OP2H              ; + a_high b_low
    mov     &RES0, r14
    mov     &RES1, r15
    mov     r4, r12
    mov     r5, r13
    popm.w  #7, r10
    ret
#endif
