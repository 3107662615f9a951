// SPDX-License-Identifier: MIT OR Apache-2.0

    .syntax unified
    .thumb

// name:       void sunseal_rsa_pick(uint16_t *r, const uint16_t *table, uint16_t index,
//                                   uint16_t entries, uint16_t count)
// registers:  four words of the entry in r4..r7, of the table in r8..r11; r12 = bytes to the same words of
//             the next entry, lr = index, counted down
// stack:      52 bytes
    .section .text.sunseal_rsa_pick,"ax",%progbits
    .global sunseal_rsa_pick
    .type sunseal_rsa_pick,%function
    .thumb_func
sunseal_rsa_pick:
    push    {r1-r11, lr}
    ldr     r12, [sp, #48]
    lsl     r12, r12, #1
    str     r12, [sp, #8]           // bytes left, in the place of entries
    sub     r12, r12, #16
    str     r3, [sp, #4]            // entries, in the place of index
    mov     r3, r2
1:  mov     r4, #0
    mov     r5, #0
    mov     r6, #0
    mov     r7, #0
    ldr     r1, [sp]
    ldr     r2, [sp, #4]
    mov     lr, r3
    push    {r3}
2:  .rept 2
    subs    lr, lr, #1              // borrows at the wanted entry only
    sbc     r3, r3, r3              // borrow ? -1 : 0
    ldmia   r1!, {r8-r11}
    mls     r4, r8, r3, r4
    mls     r5, r9, r3, r5
    mls     r6, r10, r3, r6
    mls     r7, r11, r3, r7
    add     r1, r1, r12
    .endr
    subs    r2, r2, #2
    bne     2b
    pop     {r3}
    stmia   r0!, {r4-r7}
    ldr     r1, [sp]
    add     r1, r1, #16
    str     r1, [sp]
    ldr     r1, [sp, #8]
    subs    r1, r1, #16
    str     r1, [sp, #8]
    bne     1b
    add     sp, sp, #12
    pop     {r4-r11, pc}
    .size sunseal_rsa_pick, . - sunseal_rsa_pick
