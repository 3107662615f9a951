/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../field/armv7em.inc"

    /* void sunseal_mp_swap(uint16_t *a, uint16_t *b, uint16_t mask, size_t n), two words at a time */
    routine sunseal_mp_swap
    push.w  {r4-r11, lr}
    sxth    r2, r2
    lsrs    r12, r3, #3
    beq     5f
    /* four pairs a turn */
4:  ldr_each r0, 0,  r4, r5, r6, r7
    ldr_each r1, 0,  r8, r9, r10, r11
    exchange r4, r8
    exchange r5, r9
    exchange r6, r10
    exchange r7, r11
    str_each r0, 0,  r4, r5, r6, r7
    str_each r1, 0,  r8, r9, r10, r11
    add.w   r0, r0, #16
    add.w   r1, r1, #16
    subs.w  r12, r12, #1
    bne     4b
5:  ubfx    r12, r3, #1, #2
    cmp     r12, #0
    beq     2f
1:  ldr.w   r4, [r0]
    ldr.w   r5, [r1]
    exchange r4, r5
    str     r4, [r0], #4
    str     r5, [r1], #4
    subs    r12, r12, #1
    bne     1b
2:  lsls    r3, r3, #31
    beq     3f
    ldrh    r4, [r0]
    ldrh    r5, [r1]
    exchange r4, r5
    strh    r4, [r0]
    strh    r5, [r1]
3:  pop.w   {r4-r11, pc}
