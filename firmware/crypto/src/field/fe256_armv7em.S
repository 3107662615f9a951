/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The field of P-256 in 32-bit words, products in Montgomery's form.
 *
 * -1/p mod 2^32 is 1: the multiple of p that clears a word is the word q itself, and q p = q (2^256 - 2^224 + 2^192 + 2^96) - q
 * adds q three and six words above it and q (2^32 - 1) seven words above.
 */
#include "armv7em.inc"
#include "product8_armv7em.inc"

    /* Clears the words q0 to q3, of which q3 is still to become one, in a number that goes on with t4 to t11. Leaves the
     * carry of t11 in the flags. m = 2^32 - 1. */
    .macro  clear4 q0, q1, q2, q3, t4, t5, t6, t7, t8, t9, t10, t11, c, m
    mov     \c, #0
    add_chain \q3, \q0,  \t4, \q1,  \t5, \q2,  \t6, \q3
    adc     \c, \c, #0
    umaal_chain \c, \m,  \t7, \q0,  \t8, \q1,  \t9, \q2,  \t10, \q3
    add_chain \t6, \q0,  \t7, \q1,  \t8, \q2,  \t9, \q3,  \t10, #0,  \t11, \c
    .endm

    /* w -= p where mask is -1; the borrow stays in the flags. */
    .macro  subtract_p mask, w0, w1, w2, w3, w4, w5, w6, w7
    sub_chain \w0, \mask,  \w1, \mask,  \w2, \mask,  \w3, #0,  \w4, #0,  \w5, #0
    sbcs    \w6, \w6, \mask, lsr #31
    sbcs.w  \w7, \w7, \mask
    .endm

    /* w += p where mask is -1; the carry stays in the flags. */
    .macro  add_p mask, w0, w1, w2, w3, w4, w5, w6, w7
    add_chain \w0, \mask,  \w1, \mask,  \w2, \mask,  \w3, #0,  \w4, #0,  \w5, #0
    adcs    \w6, \w6, \mask, lsr #31
    adcs.w  \w7, \w7, \mask
    .endm

    .macro  finish w12, w13, w14, w15
    clear8  \w12, \w13, \w14, \w15
    pop.w   {r0, r1, lr}
    adc     r1, r1, #0
    rsb     r1, r1, #0
    subtract_p r1, r7, r8, r9, r11, r3, r4, r5, r6
    stm.w   r0!, {r7, r8, r9, r11}
    stm.w   r0, {r3-r6}
    bx      lr
    .endm

    /* Montgomery's reduction of the stack's words 0 to 7 and of words 8 to 15, of which 8 to 11 are r7, r8, r9, r11. The
     * result r7, r8, r9, r11, r3 to r6 is below 2^256 + p, so one subtraction is enough: its last word is in the flags and
     * on the stack. */
    .macro  clear8 w12, w13, w14, w15
    str_each sp, 32,  \w12, \w13, \w14, \w15
    pop.w   {r3-r6}
    pop.w   {r0, r1, r2, r10}
    mov     lr, #-1
    clear4  r3, r4, r5, r6, r0, r1, r2, r10, r7, r8, r9, r11, r12, lr
    pop.w   {r3-r6}
    adc_chain r3, #0,  r4, #0,  r5, #0,  r6, #0
    mov     r12, #0
    adc     r12, r12, #0
    str     r12, [sp, #4]
    clear4  r0, r1, r2, r10, r7, r8, r9, r11, r3, r4, r5, r6, r12, lr
    .endm

    /*
     * name:    void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
     * stack:   96 bytes
     * cycles:  259
     */
    callable sunseal_fe256_mul
    push.w  {r0, r1, lr}
    sub.w   sp, sp, #48
    product8 52
    finish  r0, r1, lr, r10

    /*
     * name:    void sunseal_fe256_mul_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c)
     * does:    r = a b / 2^256 - c. What c leaves at the top, k from -1 to 1, is paid by -k p as the words k, s, s, t, t, t, t - k,
     *          s with s = -1 for k = -1, t = -1 for k = 1, and what that borrows by p. The core takes c in r2 and b in r8.
     * stack:   100 bytes
     * cycles:  298
     */
    callable4 sunseal_fe256_mul_sub
    push.w  {r0, r1, r2, lr}
    sub.w   sp, sp, #48
    mov.w   r2, r8
    product8 52
    clear8  r0, r1, lr, r10
    pop.w   {r0, r1, r2}
    adc     r1, r1, #0
    ldm     r2!, {r10, r12, lr}
    sub_chain r7, r10,  r8, r12,  r9, lr
    ldm     r2!, {r10, r12, lr}
    sbc_chain r11, r10,  r3, r12,  r4, lr
    ldm.w   r2, {r10, r12}
    sbcs.w  r5, r5, r10
    sbcs.w  r6, r6, r12
    sbc     r1, r1, #0              /* k */
    rsb     r2, r1, #0
    asr.w   r12, r2, #31            /* t */
    asr.w   r10, r1, #31            /* s */
    add.w   r2, r2, r12             /* t - k */
    add_chain r7, r1,  r8, r10,  r9, r10,  r11, r12,  r3, r12,  r4, r12,  r5, r2,  r6, r10
    sbc     r2, r2, r2
    and     r10, r10, r2            /* a carry has paid the borrow */
    add_p   r10, r7, r8, r9, r11, r3, r4, r5, r6
    stm.w   r0!, {r7, r8, r9, r11}
    stm.w   r0, {r3-r6}
    pop.w   {pc}

    /*
     * name:    void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a)
     * stack:   96 bytes
     * cycles:  208
     */
    callable sunseal_fe256_sqr
    push.w  {r0, r1, lr}
    sub.w   sp, sp, #48
    square8
    finish  r10, r0, r1, r2

    /* r3 to r10, and a carry in the flags: two subtractions where both operands were above p */
    .macro  finish_sum
    sbc     r1, r1, r1              /* carry - 1 */
    mvn     r1, r1
    subtract_p r1, r3, r4, r5, r6, r7, r8, r9, r10
    sbc     r2, r2, r2
    bic     r1, r1, r2              /* a borrow has used the carry up */
    subtract_p r1, r3, r4, r5, r6, r7, r8, r9, r10
    stm.w   r0, {r3-r10}
    bx      lr
    .endm

    .macro  sum_add
    combine8 adds, adcs
    finish_sum
    .endm

    .macro  sum_sub
    combine8 subs, sbcs
    sbc     r1, r1, r1              /* -borrow */
    add_p   r1, r3, r4, r5, r6, r7, r8, r9, r10
    sbc     r2, r2, r2
    and     r1, r1, r2              /* a carry has paid the borrow */
    add_p   r1, r3, r4, r5, r6, r7, r8, r9, r10
    stm.w   r0, {r3-r10}
    bx      lr
    .endm

    sums    fe256

    /*
     * name:    void sunseal_fe256_sub2(uint16_t *r, const uint16_t *a, const uint16_t *b)
     * does:    r = a - 2 b, in one fold: a borrow of k, at most 2, is paid by -k, n, n, k + n, 0, 0, k, -k with the sign n of
     *          -k, and what that borrows by p.
     * stack:   44 bytes
     * cycles:  115
     */
    callable sunseal_fe256_sub2
    push.w  {r2, lr}
    combine8 subs, sbcs
    sbc     lr, lr, lr
    pop.w   {r2}
    ldm     r2!, {r1, r11, r12}
    sub_chain r3, r1,  r4, r11,  r5, r12
    ldm     r2!, {r1, r11, r12}
    sbc_chain r6, r1,  r7, r11,  r8, r12
    ldm.w   r2, {r1, r11}
    sbcs.w  r9, r9, r1
    sbcs.w  r10, r10, r11
    sbc     lr, lr, #0              /* -k */
    asr.w   r1, lr, #31             /* n */
    rsb     r2, lr, #0              /* k */
    add.w   r11, r2, r1
    add_chain r3, lr,  r4, r1,  r5, r1,  r6, r11,  r7, #0,  r8, #0,  r9, r2,  r10, lr
    sbc     r2, r2, r2
    and     r1, r1, r2
    add_p   r1, r3, r4, r5, r6, r7, r8, r9, r10
    stm.w   r0, {r3-r10}
    pop.w   {pc}

    .macro  one_and_a_half
    ldm.w   r1, {r3-r10}
    and     r2, r3, #1
    rsb     r2, r2, #0
    add_p   r2, r3, r4, r5, r6, r7, r8, r9, r10
    rrx_chain r10, r9, r8, r7, r6, r5, r4, r3
    ldm     r1!, {r2, r11, r12}
    add_chain r3, r2,  r4, r11,  r5, r12
    ldm     r1!, {r2, r11, r12}
    adc_chain r6, r2,  r7, r11,  r8, r12
    ldm.w   r1, {r2, r11}
    adcs.w  r9, r9, r2
    adcs.w  r10, r10, r11
    finish_sum
    .endm

    three_halves fe256

    .macro  add_p_twice
    lsrs.w  r2, r1, #1              /* the mask as carry */
    adc_chain r3, r1,  r4, r1,  r5, r1,  r6, #0,  r7, #0,  r8, #0
    adcs    r9, r9, r1, lsr #31
    adcs.w  r10, r10, r1
    sbc     r2, r2, r2
    and     r1, r1, r2
    add_p   r1, r3, r4, r5, r6, r7, r8, r9, r10
    .endm

    negation fe256, {r3-r10}, r3, r4, r5, r6, r7, r8, r9, r10
