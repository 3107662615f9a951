/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Division of 64 bits by the run-time ABI for Arm (IHI0043): quotient in r1:r0,
 * remainder in r3:r2. One bit of the quotient a turn, 64 turns, each as long as
 * any other. A division by zero gives a quotient of ones.
 */
    .syntax unified
    .thumb
#include "function.inc"

    /* r1:r0 by r3:r2, without sign */
    function __aeabi_uldivmod
    push    {r4, r5, r6, r7, lr}
    movs    r4, #0                  /* r5:r4 = remainder */
    movs    r5, #0
    movs    r6, #64
1:  adds    r0, r0, r0
    adcs    r1, r1, r1
    adcs    r4, r4, r4
    adcs    r5, r5, r5
    mov     r7, #0                  /* the bit that leaves the remainder at the top */
    adc     r7, r7, #0
    subs    r12, r4, r2
    sbcs    lr, r5, r3
    sbc     r7, r7, #0              /* -1 where it does not fit */
    mvn     r7, r7, asr #31         /* fits ? -1 : 0 */
    and     r12, r12, r7
    bic     r4, r4, r7
    orr     r4, r4, r12
    and     lr, lr, r7
    bic     r5, r5, r7
    orr     r5, r5, lr
    sub     r0, r0, r7
    subs    r6, r6, #1
    bne     1b
    mov     r2, r4
    mov     r3, r5
    pop     {r4, r5, r6, r7, pc}

    /* The same with signs: the remainder has the dividend's. */
    function __aeabi_ldivmod
    push    {r4, r5, r6, lr}
    asrs    r4, r1, #31
    asrs    r5, r3, #31
    eors    r0, r0, r4
    eors    r1, r1, r4
    subs    r0, r0, r4
    sbcs    r1, r1, r4
    eors    r2, r2, r5
    eors    r3, r3, r5
    subs    r2, r2, r5
    sbcs    r3, r3, r5
    bl      __aeabi_uldivmod
    eors    r2, r2, r4
    eors    r3, r3, r4
    subs    r2, r2, r4
    sbcs    r3, r3, r4
    eors    r4, r4, r5
    eors    r0, r0, r4
    eors    r1, r1, r4
    subs    r0, r0, r4
    sbcs    r1, r1, r4
    pop     {r4, r5, r6, pc}
