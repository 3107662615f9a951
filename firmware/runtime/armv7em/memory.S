/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The memory functions that a freestanding C compiler may call, by their C names
 * and by those of the run-time ABI for Arm (IHI0043). Their time depends on
 * addresses and lengths only, but for memcmp, which stops at the first
 * difference: never for secrets. The Cortex-M4 reads and writes single words at
 * any address.
 */
    .syntax unified
    .thumb
#include "function.inc"

    .macro also name
    .global \name
    .type \name,%function
\name:
    .endm

    /* void *memcpy(void *to r0, const void *from r1, size_t n r2), sixteen bytes a turn, then four, then one */
    function memcpy
    also    __aeabi_memcpy
    also    __aeabi_memcpy4
    also    __aeabi_memcpy8
    mov     r3, r0
    subs    r2, r2, #16
    blo     2f
    push    {r4, r5, r6, lr}
1:  ldr     r4, [r1]
    ldr     r5, [r1, #4]
    ldr     r6, [r1, #8]
    ldr     r12, [r1, #12]
    str     r4, [r3]
    str     r5, [r3, #4]
    str     r6, [r3, #8]
    str     r12, [r3, #12]
    adds    r1, r1, #16
    adds    r3, r3, #16
    subs    r2, r2, #16
    bhs     1b
    pop     {r4, r5, r6, lr}
2:  adds    r2, r2, #12             /* 16 - 4 */
    bmi     4f
3:  ldr     r12, [r1], #4
    str     r12, [r3], #4
    subs    r2, r2, #4
    bhs     3b
4:  adds    r2, r2, #4
    beq     6f
5:  ldrb    r12, [r1], #1
    strb    r12, [r3], #1
    subs    r2, r2, #1
    bne     5b
6:  bx      lr

    /* void *memmove(void *to r0, const void *from r1, size_t n r2) */
    function memmove
    also    __aeabi_memmove
    also    __aeabi_memmove4
    also    __aeabi_memmove8
    cmp     r0, r1
    bls     memcpy                  /* upwards */
    add     r3, r0, r2
    add     r1, r1, r2
    cbz     r2, 2f
1:  ldrb    r12, [r1, #-1]!
    strb    r12, [r3, #-1]!
    subs    r2, r2, #1
    bne     1b
2:  bx      lr

    /* void *memset(void *to r0, int value r1, size_t n r2) */
    function memset
    uxtb    r1, r1
    orr     r1, r1, r1, lsl #8
    orr     r1, r1, r1, lsl #16
    mov     r3, r0
    subs    r2, r2, #16
    blo     2f
1:  str     r1, [r3]                /* sixteen bytes a turn */
    str     r1, [r3, #4]
    str     r1, [r3, #8]
    str     r1, [r3, #12]
    adds    r3, r3, #16
    subs    r2, r2, #16
    bhs     1b
2:  adds    r2, r2, #12             /* 16 - 4 */
    bmi     4f
3:  str     r1, [r3], #4
    subs    r2, r2, #4
    bhs     3b
4:  adds    r2, r2, #4
    beq     6f
5:  strb    r1, [r3], #1
    subs    r2, r2, #1
    bne     5b
6:  bx      lr

    /* void __aeabi_memset(void *to r0, size_t n r1, int value r2); memclr without the value */
    function __aeabi_memset
    also    __aeabi_memset4
    also    __aeabi_memset8
    mov     r3, r1
    mov     r1, r2
    mov     r2, r3
    b       memset

    function __aeabi_memclr
    also    __aeabi_memclr4
    also    __aeabi_memclr8
    mov     r2, r1
    movs    r1, #0
    b       memset

    /* int memcmp(const void *a r0, const void *b r1, size_t n r2) */
    function memcmp
    mov     r3, r0
    movs    r0, #0
    cbz     r2, 2f
1:  ldrb    r0, [r3], #1
    ldrb    r12, [r1], #1
    subs    r0, r0, r12
    bne     2f
    subs    r2, r2, #1
    bne     1b
2:  bx      lr
