/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../field/armv7em.inc"

    /* void sunseal_mp_swap(uint16_t *a, uint16_t *b, uint16_t mask, size_t n), two words at a time */
    routine sunseal_mp_swap
    push.w  {r4-r6, lr}
    sxth    r2, r2
    lsrs    r12, r3, #1
    beq     2f
1:  ldr.w   r4, [r0]
    ldr.w   r5, [r1]
    eor     r6, r4, r5
    and     r6, r6, r2
    eor     r4, r4, r6
    eor     r5, r5, r6
    str     r4, [r0], #4
    str     r5, [r1], #4
    subs    r12, r12, #1
    bne     1b
2:  lsls    r3, r3, #31
    beq     3f
    ldrh    r4, [r0]
    ldrh    r5, [r1]
    eor     r6, r4, r5
    and     r6, r6, r2
    eor     r4, r4, r6
    eor     r5, r5, r6
    strh    r4, [r0]
    strh    r5, [r1]
3:  pop.w   {r4-r6, pc}
