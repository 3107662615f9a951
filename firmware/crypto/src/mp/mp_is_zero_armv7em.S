/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../field/armv7em.inc"

    /* uint16_t sunseal_mp_is_zero(const uint16_t *a, size_t n) */
    routine sunseal_mp_is_zero
    mov     r2, #0
    lsrs    r3, r1, #1
    beq     2f
1:  ldr     r12, [r0], #4
    orr     r2, r2, r12
    subs.w  r3, r3, #1
    bne     1b
2:  lsls    r1, r1, #31
    beq     3f
    ldrh    r12, [r0]
    orr     r2, r2, r12
3:  cmp     r2, #1                  /* borrows from 0 alone */
    sbc     r0, r0, r0
    uxth    r0, r0
    bx      lr
