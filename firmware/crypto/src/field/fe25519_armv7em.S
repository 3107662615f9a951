/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The field of Curve25519 in 32-bit words.
 */
#include "fe25519_armv7em.inc"

    .macro  give_back
    pop.w   {r0, r1, lr}
    stm     r0, {r3-r9, r11}
    bx      lr
    .endm

    /*
     * name:    void sunseal_fe25519_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
     * stack:   80 bytes
     * cycles:  216
     */
    callable sunseal_fe25519_mul
    push.w  {r0, r1, lr}
    sub.w   sp, sp, #32
    product8 36
    finish  r0, r1, lr, r10, r12, r2
    give_back

    /*
     * name:    void sunseal_fe25519_sqr(uint16_t *r, const uint16_t *a)
     * stack:   80 bytes
     * cycles:  165
     */
    callable sunseal_fe25519_sqr
    push.w  {r0, r1, lr}
    sub.w   sp, sp, #32
    square8
    finish  r10, r0, r1, r2, r12, lr
    give_back

    /*
     * name:    void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a)
     * does:    a 121664 + a
     * stack:   36 bytes
     * cycles:  70
     */
    callable sunseal_fe25519_mul121665
    ldm.w   r1, {r3-r10}
    movw    r1, #121664 & 0xffff
    movt    r1, #121664 >> 16
    mov     r2, #0
    umaal_chain r2, r1,  r3, r3,  r4, r4,  r5, r5,  r6, r6,  r7, r7,  r8, r8,  r9, r9,  r10, r10
    fold    r2, r1, r3, r4, r5, r6, r7, r8, r9, r10
    stm.w   r0, {r3-r10}
    bx      lr

    .macro  sum_add
    combine8 adds, adcs
    mov     r1, #0
    adc     r1, r1, #0
    fold    r1, r2, r3, r4, r5, r6, r7, r8, r9, r10
    stm.w   r0, {r3-r10}
    bx      lr
    .endm

    .macro  sum_sub
    combine8 subs, sbcs
    unborrow r1, r2, r3, r4, r5, r6, r7, r8, r9, r10
    stm.w   r0, {r3-r10}
    bx      lr
    .endm

    sums    fe25519
