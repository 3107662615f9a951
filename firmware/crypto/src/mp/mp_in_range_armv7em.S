/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../field/armv7em.inc"

    /* uint16_t sunseal_mp_in_range(const uint16_t *a, const uint16_t *m, size_t n), n even. Nothing in the loop sets the flags
     * but the comparison. */
    routine sunseal_mp_in_range
    push.w  {r4, lr}
    lsr     r2, r2, #1
    mov     r3, #0                  /* a's words together */
    cmp     r3, #0                  /* no borrow */
1:  ldr     r12, [r0], #4
    ldr     r4, [r1], #4
    orr     r3, r3, r12
    sbcs.w  r12, r12, r4
    sub.w   r2, r2, #1
    cbz     r2, 2f
    b       1b
2:  sbc     r0, r0, r0              /* -1 below m */
    cmp     r3, #1
    sbc     r3, r3, r3              /* -1 for 0 */
    bic     r0, r0, r3
    uxth    r0, r0
    pop.w   {r4, pc}
