/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../field/armv7em.inc"

    /* uint16_t sunseal_mp_addmul1(uint16_t *acc, const uint16_t *a, uint16_t b, size_t n), two words at a time, at any even
     * address */
    routine sunseal_mp_addmul1
    push.w  {r4-r6, lr}
    mov     r12, #0                 /* the word that goes on */
    lsrs    r6, r3, #1
    beq     2f
1:  ldr.w   r5, [r0]
    ldr     r4, [r1], #4
    umaal   r5, r12, r4, r2
    str     r5, [r0], #4
    subs    r6, r6, #1
    bne     1b
2:  lsls    r3, r3, #31
    beq     3f
    ldrh    r5, [r0]
    ldrh    r4, [r1]
    mla     r5, r4, r2, r5
    add     r5, r5, r12
    strh    r5, [r0]
    lsr     r12, r5, #16
3:  mov     r0, r12
    pop.w   {r4-r6, pc}
