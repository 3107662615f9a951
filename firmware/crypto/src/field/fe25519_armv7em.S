/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The field of Curve25519 in 32-bit words. 2^256 = 38 and 2^255 = 19 modulo p.
 */
#include "armv7em.inc"
#include "product8_armv7em.inc"

    /* w += 19 (2 carry + the top bit of w7), which the top bit gives way to: below 2^255 + 19 (2 carry + 1). */
    .macro  fold carry, t, w0, w1, w2, w3, w4, w5, w6, w7
    add.w   \carry, \carry, \carry
    orr     \carry, \carry, \w7, lsr #31
    mov     \t, #19
    mul     \carry, \carry, \t
    bic     \w7, \w7, #0x80000000
    adds.w  \w0, \w0, \carry
    adcs    \w1, \w1, #0
    adcs    \w2, \w2, #0
    adcs    \w3, \w3, #0
    adcs    \w4, \w4, #0
    adcs    \w5, \w5, #0
    adcs    \w6, \w6, #0
    adc     \w7, \w7, #0
    .endm

    /* The stack's words 0 to 7 and 38 times words 8 to 15, of which 8 to 11 are r7, r8, r9, r11. */
    .macro  finish w12, w13, w14, w15, carry, k
    pop.w   {r3-r6}
    mov     \k, #38
    mov     \carry, #0
    umaal   r3, \carry, r7, \k
    umaal   r4, \carry, r8, \k
    umaal   r5, \carry, r9, \k
    umaal   r6, \carry, r11, \k
    pop.w   {r7, r8, r9, r11}
    umaal   r7, \carry, \w12, \k
    umaal   r8, \carry, \w13, \k
    umaal   r9, \carry, \w14, \k
    umaal   r11, \carry, \w15, \k
    fold    \carry, \k, r3, r4, r5, r6, r7, r8, r9, r11
    pop.w   {r0, r1, lr}
    stm     r0, {r3-r9, r11}
    bx      lr
    .endm

    /* void sunseal_fe25519_mul(uint16_t *r, const uint16_t *a, const uint16_t *b) */
    callable sunseal_fe25519_mul
    core    sunseal_fe25519_mul
    push.w  {r0, r1, lr}
    sub.w   sp, sp, #32
    product8 36
    finish  r0, r1, lr, r10, r12, r2

    /* void sunseal_fe25519_sqr(uint16_t *r, const uint16_t *a) */
    callable sunseal_fe25519_sqr
    core    sunseal_fe25519_sqr
    push.w  {r0, r1, lr}
    sub.w   sp, sp, #32
    square8
    finish  r10, r0, r1, r2, r12, lr

    /* void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a): a 121664 + a */
    callable sunseal_fe25519_mul121665
    core    sunseal_fe25519_mul121665
    ldm.w   r1, {r3-r10}
    movw    r1, #121664 & 0xffff
    movt    r1, #121664 >> 16
    mov     r2, #0
    umaal   r3, r2, r3, r1
    umaal   r4, r2, r4, r1
    umaal   r5, r2, r5, r1
    umaal   r6, r2, r6, r1
    umaal   r7, r2, r7, r1
    umaal   r8, r2, r8, r1
    umaal   r9, r2, r9, r1
    umaal   r10, r2, r10, r1
    fold    r2, r1, r3, r4, r5, r6, r7, r8, r9, r10
    stm.w   r0, {r3-r10}
    bx      lr

    /* void sunseal_fe25519_add(uint16_t *r, const uint16_t *a, const uint16_t *b) */
    callable sunseal_fe25519_add
    core    sunseal_fe25519_add
    ldm     r1!, {r3-r6}
    ldm     r2!, {r7-r10}
    adds.w  r3, r3, r7
    adcs.w  r4, r4, r8
    adcs.w  r5, r5, r9
    adcs.w  r6, r6, r10
    ldm.w   r1, {r7-r10}
    ldm.w   r2, {r1, r2, r11, r12}
    adcs.w  r7, r7, r1
    adcs.w  r8, r8, r2
    adcs.w  r9, r9, r11
    adcs.w  r10, r10, r12
    mov     r1, #0
    adc     r1, r1, #0
    fold    r1, r2, r3, r4, r5, r6, r7, r8, r9, r10
    stm.w   r0, {r3-r10}
    bx      lr

    /* void sunseal_fe25519_sub(uint16_t *r, const uint16_t *a, const uint16_t *b): 2^255 - 19 joins, so that nothing
     * falls below zero. The top bit is worth 19, a borrow 38. */
    callable sunseal_fe25519_sub
    core    sunseal_fe25519_sub
    ldm     r1!, {r3-r6}
    ldm     r2!, {r7-r10}
    subs.w  r3, r3, r7
    sbcs.w  r4, r4, r8
    sbcs.w  r5, r5, r9
    sbcs.w  r6, r6, r10
    ldm.w   r1, {r7-r10}
    ldm.w   r2, {r1, r2, r11, r12}
    sbcs.w  r7, r7, r1
    sbcs.w  r8, r8, r2
    sbcs.w  r9, r9, r11
    sbcs.w  r10, r10, r12
    sbc     r1, r1, r1              /* -borrow */
    mvn     r2, r10, asr #31        /* the top bit - 1 */
    add.w   r1, r2, r1, lsl #1
    orr     r10, r10, #0x80000000
    mov     r2, #19
    mul     r1, r1, r2              /* 0, -19, -38 or -57 */
    asrs.w  r2, r1, #31
    adds.w  r3, r3, r1
    adcs.w  r4, r4, r2
    adcs.w  r5, r5, r2
    adcs.w  r6, r6, r2
    adcs.w  r7, r7, r2
    adcs.w  r8, r8, r2
    adcs.w  r9, r9, r2
    adc.w   r10, r10, r2
    stm.w   r0, {r3-r10}
    bx      lr
