// SPDX-License-Identifier: MIT OR Apache-2.0

#include "function.inc"

    .syntax unified
    .thumb

// name:       void sunseal_rsa_pick(uint16_t *r, const uint16_t *table, uint16_t index,
//                                   uint16_t entries, uint16_t count)
//
// Eight words of 32 bits at a time, of one entry after the other. The entries' factors, 1 for the wanted
// one and 0 for the others, stand on the stack and are popped as they are used.
// registers:  words of the entry in r4..r11, of the table in r2, r3, r12, lr; r0 = factor, r1 walks over the
//             table
// stack:      124 bytes
    .set ENTRIES, 16                // always, on this core
    .set RESULT, 0
    .set TABLE, 4
    .set STEP, 8                    // bytes to the same words of the next entry
    .set LEFT, 12                   // words left
    .set OTHERS, 4*ENTRIES
    .section .text.sunseal_rsa_pick,"ax",%progbits
    .p2align 2
    function sunseal_rsa_pick
    push    {r4-r11, lr}
    ldr     r3, [sp, #36]
    lsl     r12, r3, #1
    sub     r12, r12, #16
    push    {r0, r1, r12}
    sub     sp, sp, #4
    lsr     r3, r3, #1
    str     r3, [sp]
    ldm     sp, {r3-r6}             // left, result, table, step
    stm     sp, {r4-r6}
    str     r3, [sp, #LEFT]
    mov     r4, #ENTRIES - 1
    sub     sp, sp, #4*ENTRIES
1:  eor     r3, r4, r2
    sub     r3, r3, #1
    lsr     r3, r3, #31             // the same ? 1 : 0
    str     r3, [sp, r4, lsl #2]
    subs    r4, r4, #1
    bpl     1b
2:  ldr     r1, [sp, #OTHERS + TABLE]
    add     r2, r1, #32
    str     r2, [sp, #OTHERS + TABLE]
    mov     r4, #0
    mov     r5, #0
    mov     r6, #0
    mov     r7, #0
    mov     r8, #0
    mov     r9, #0
    mov     r10, #0
    mov     r11, #0
    .p2align 2
    .set USED, 0
    .rept ENTRIES
    pop.w   {r0}
    .set USED, USED + 4
    ldm.w   r1!, {r2, r3, r12, lr}
    mla     r4, r2, r0, r4
    mla     r5, r3, r0, r5
    mla     r6, r12, r0, r6
    mla     r7, lr, r0, r7
    ldm.w   r1, {r2, r3, r12, lr}
    mla     r8, r2, r0, r8
    mla     r9, r3, r0, r9
    mla     r10, r12, r0, r10
    mla     r11, lr, r0, r11
    ldr.w   r0, [sp, #OTHERS - USED + STEP]
    add.w   r1, r1, r0
    .endr
    sub     sp, sp, #4*ENTRIES
    ldr     r0, [sp, #OTHERS + RESULT]
    stmia   r0!, {r4-r11}
    str     r0, [sp, #OTHERS + RESULT]
    ldr     r2, [sp, #OTHERS + LEFT]
    subs    r2, r2, #8
    str     r2, [sp, #OTHERS + LEFT]
    bne     2b
    add     sp, sp, #4*ENTRIES + 16
    pop     {r4-r11, pc}
