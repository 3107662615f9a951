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

    /* 16 bytes at r1 go to r3. */
    .macro  move_16
    ldr     r4, [r1]
    ldr     r5, [r1, #4]
    ldr     r6, [r1, #8]
    ldr     r12, [r1, #12]
    str     r4, [r3]
    str     r5, [r3, #4]
    str     r6, [r3, #8]
    str     r12, [r3, #12]
    .endm

    /* void *memcpy(void *to r0, const void *from r1, size_t n r2), sixteen bytes a turn, and the last sixteen once more; fewer
     * four by four, then one by one */
    function memcpy
    also    __aeabi_memcpy
    also    __aeabi_memcpy4
    also    __aeabi_memcpy8
    subs    r2, r2, #16
    blo     3f
    mov     r3, r0
    push    {r4, r5, r6, lr}
    b       2f
1:  move_16
    adds    r1, r1, #16
    adds    r3, r3, #16
    subs    r2, r2, #16
2:  bgt     1b                      /* more than sixteen were left */
    add     r1, r1, r2
    add     r3, r3, r2
    move_16
    pop     {r4, r5, r6, pc}
3:  adds    r2, r2, #16
upwards:                            /* n in r2 and the flags */
    beq     6f
    mov     r3, r0
    subs    r2, r2, #4
    blo     5f
4:  ldr     r12, [r1], #4
    str     r12, [r3], #4
    subs    r2, r2, #4
    bhs     4b
5:  adds    r2, r2, #4
    beq     6f
7:  ldrb    r12, [r1], #1
    strb    r12, [r3], #1
    subs    r2, r2, #1
    bne     7b
6:  bx      lr

    /* void *memmove(void *to r0, const void *from r1, size_t n r2) */
    function memmove
    also    __aeabi_memmove
    also    __aeabi_memmove4
    also    __aeabi_memmove8
    cmp     r0, r1
    bhi     3f
    cmp     r2, #0
    b       upwards
3:  add     r3, r0, r2
    add     r1, r1, r2
    cbz     r2, 2f
1:  ldrb    r12, [r1, #-1]!
    strb    r12, [r3, #-1]!
    subs    r2, r2, #1
    bne     1b
2:  bx      lr

    /* void *memset(void *to r0, int value r1, size_t n r2), thirty-two bytes a turn, else as memcpy */
    function memset
    uxtb    r1, r1
    orr     r1, r1, r1, lsl #8
    orr     r1, r1, r1, lsl #16
    mov     r3, r0
    subs    r2, r2, #16
    blo     3f
    b       2f
1:  str     r1, [r3]                /* more than 32 were left */
    str     r1, [r3, #4]
    str     r1, [r3, #8]
    str     r1, [r3, #12]
    str     r1, [r3, #16]
    str     r1, [r3, #20]
    str     r1, [r3, #24]
    str     r1, [r3, #28]
    adds    r3, r3, #32
    subs    r2, r2, #32
2:  cmp     r2, #16
    bgt     1b
    cmp     r2, #0
    ble     8f
    str     r1, [r3]
    str     r1, [r3, #4]
    str     r1, [r3, #8]
    str     r1, [r3, #12]
    adds    r3, r3, #16
    subs    r2, r2, #16
8:  add     r3, r3, r2
    str     r1, [r3]
    str     r1, [r3, #4]
    str     r1, [r3, #8]
    str     r1, [r3, #12]
    bx      lr
3:  adds    r2, r2, #12             /* 16 - 4 */
    bmi     5f
4:  str     r1, [r3], #4
    subs    r2, r2, #4
    bhs     4b
5:  adds    r2, r2, #4
    beq     7f
6:  strb    r1, [r3], #1
    subs    r2, r2, #1
    bne     6b
7:  bx      lr

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
