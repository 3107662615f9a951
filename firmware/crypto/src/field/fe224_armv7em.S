/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The field of P-224 in 32-bit words. 2^224 = 2^96 - 1 modulo p.
 */
#include "armv7em.inc"

    /* w += k (2^96 - 1), k from -3 to 2, as the words -k, n, n, k + n, s, s, s with the signs n of -k and s of k; then once
     * more for what has left at the top, behind which words 4 to 6 cannot change. k, n, s, x are lost. */
    .macro  fold k, n, s, x, w0, w1, w2, w3, w4, w5, w6
    rsb     \x, \k, #0
    asr.w   \n, \x, #31
    asr.w   \s, \k, #31
    add.w   \k, \k, \n
    add_chain \w0, \x,  \w1, \n,  \w2, \n,  \w3, \k,  \w4, \s,  \w5, \s,  \w6, \s
    adc     \k, \s, #0
    rsb     \x, \k, #0
    asr.w   \n, \x, #31
    add.w   \k, \k, \n
    add_chain \w0, \x,  \w1, \n,  \w2, \n
    adc.w   \w3, \w3, \k
    .endm

    .macro  finish h0, h1, h2, h3, h4, h5, h6, x, w0, w1, w2, w3, w4, w5
    gather  \h0, \h1, \h2, \h3, \h4, \h5, \h6, \x, \w0, \w1, \w2, \w3, \w4, \w5
    fold    \h5, \h0, \h1, \h2, \w0, \w1, \w2, \w3, \w4, \w5, \h4
    .endm

    /*
     * The stack's words 0 to 6, and words 7 to 13 as h0 to h6. With g = h0..h3 + h4..h6, four words and a carry e:
     * r = low - g - (h4..h6) 2^128 + g 2^96, but for what h5 says is left to fold. w6 is h4, x a register.
     */
    .macro  gather h0, h1, h2, h3, h4, h5, h6, x, w0, w1, w2, w3, w4, w5
    add_chain \h0, \h4,  \h1, \h5,  \h2, \h6,  \h3, #0
    mov     \x, #0
    adc     \x, \x, #0
    pop.w   {\w0, \w1, \w2, \w3, \w4, \w5}
    sub_chain \w0, \h0,  \w1, \h1,  \w2, \h2,  \w3, \h3,  \w4, \h4,  \w5, \h5
    pop.w   {\h4}
    sbcs.w  \h4, \h4, \h6
    sbc     \h5, \h5, \h5           /* -borrow */
    add_chain \w3, \h0,  \w4, \h1,  \w5, \h2,  \h4, \h3
    adc     \h5, \h5, \x
    sub_chain \w4, \x,  \w5, #0,  \h4, #0
    sbc     \h6, \h6, \h6
    add.w   \h5, \h5, \h6
    .endm

    /* r2 to r6, r11 and r7 are the result. */
    .macro  give_back
    stm.w   r0!, {r2-r6, r11}
    str.w   r7, [r0]
    bx      lr
    .endm

    .macro  low_row w, at
    mov     lr, #0
    row4    lr, r7, r8, r9, r10, \w, r3, r4, r5, r6
    str     lr, [sp, #4 * \at]
    .endm

    .macro  row3 t, w
    umaal   \t, r0, \w, r3
    umaal   r0, r1, \w, r4
    umaal   r1, lr, \w, r5
    .endm

    .macro  high_row at
    ldr     r11, [r2, #4 * \at]
    ldr     r12, [sp, #16 + 4 * \at]
    row3    r12, r11
    str.w   r12, [sp, #16 + 4 * \at]
    .endm

    /* The words at r1 by those at r2: the lower four of r1, then the upper three, stay in registers, and those of r2 pass by.
     * Words 7 to 13: r7, r8, r9, r10, r0, r1, lr. */
    .macro  product7
    ldm     r1!, {r3-r6}
    ldrd    r11, r12, [r2]
    umull   lr, r7, r11, r3
    str     lr, [sp]
    umlal_chain r11, r7, r8, r4,  r9, r5,  r10, r6
    low_row r12, 1
    ldrd    r11, r12, [r2, #8]
    low_row r11, 2
    low_row r12, 3
    ldrd    r11, r12, [r2, #16]
    low_row r11, 4
    low_row r12, 5
    ldr     r11, [r2, #24]
    low_row r11, 6
    ldm.w   r1, {r3-r5}
    mov     r0, #0
    mov     r1, #0
    mov     lr, #0
    high_row 0
    high_row 1
    high_row 2
    ldrd    r11, r12, [r2, #12]
    row3    r7, r11
    row3    r8, r12
    ldrd    r11, r12, [r2, #20]
    row3    r9, r11
    row3    r10, r12
    .endm

    /*
     * name:    void sunseal_fe224_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
     * stack:   72 bytes
     * cycles:  210
     */
    callable sunseal_fe224_mul
    push.w  {r0, lr}
    sub.w   sp, sp, #28
    product7
    finish  r7, r8, r9, r10, r0, r1, lr, r12, r2, r3, r4, r5, r6, r11
    mov     r7, r0
    pop.w   {r0, lr}
    give_back

    /*
     * name:    void sunseal_fe224_mul_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c)
     * does:    r = a b - c. The core takes c in r2 and b in r8.
     * stack:   76 bytes
     * cycles:  234
     */
    callable4 sunseal_fe224_mul_sub
    push.w  {r0, r2, lr}
    sub.w   sp, sp, #28
    mov.w   r2, r8
    product7
    gather  r7, r8, r9, r10, r0, r1, lr, r12, r2, r3, r4, r5, r6, r11
    ldr.w   r7, [sp, #4]
    ldm     r7!, {r8-r10}
    sub_chain r2, r8,  r3, r9,  r4, r10
    ldm.w   r7, {r8-r10, r12}
    sbc_chain r5, r8,  r6, r9,  r11, r10,  r0, r12
    sbc     r1, r1, #0
    fold    r1, r7, r8, r9, r2, r3, r4, r5, r6, r11, r0
    mov     r7, r0
    pop.w   {r0, r1, lr}
    give_back

    /*
     * name:    void sunseal_fe224_sqr(uint16_t *r, const uint16_t *a)
     * does:    as square8, one word shorter
     * stack:   72 bytes
     * cycles:  172
     */
    callable sunseal_fe224_sqr
    push.w  {r0, lr}
    sub.w   sp, sp, #28
    ldm.w   r1, {r0-r6}
    adds.w  r11, r1, r1
    umull   r10, r7, r0, r0
    str     r10, [sp]
    umlal_chain r0, r7, r10, r11
    str.w   r7, [sp, #4]
    adcs    r11, r2, r2
    umlal_chain r0, r10, r7, r11
    adcs    lr, r3, r3
    umlal_chain r0, r7, r8, lr
    umlal_chain r1, r10, r9, r1
    str     r10, [sp, #8]
    bic     r11, r11, #1
    umaal   r7, r9, r1, r11
    str.w   r7, [sp, #12]
    umaal   r8, r9, r1, lr
    umlal_chain r2, r8, r11, r2
    bic     lr, lr, #1
    umaal   r9, r11, r2, lr
    umlal_chain r3, r11, r10, r3
    /* Columns 4 to 7 are r8, r9, r11, r10. Twice the upper three words pass by the lower four. */
    adcs    lr, r4, r4
    mov     r7, #0
    umaal   r7, r8, lr, r0
    str.w   r7, [sp, #16]
    umaal   r8, r9, lr, r1
    umaal   r9, r11, lr, r2
    bic     lr, lr, #1
    umaal   r11, r10, lr, r3
    adcs    lr, r5, r5
    mov     r7, #0
    row4    r7, r8, r9, r11, r10, lr, r0, r1, r2, r3
    str.w   r7, [sp, #20]
    adcs    lr, r6, r6
    mov     r7, #0
    row4    r7, r8, r9, r11, r10, lr, r0, r1, r2, r3
    str.w   r7, [sp, #24]
    mov     lr, #0
    adc     lr, lr, #0              /* the bit at the top of 2 a */
    mov     r7, #0
    row4    r7, r8, r9, r11, r10, lr, r0, r1, r2, r3
    /* Columns 7 to 11 are r7, r8, r9, r11, r10. The square of the upper three. */
    adds.w  r1, r5, r5
    adcs    r2, r6, r6
    mov     r0, #0
    umaal   r8, r0, r4, r4
    umaal   r9, r0, r4, r1
    umaal   r11, r0, r4, r2
    umaal   r10, r0, r4, lr         /* column 12 is r0 */
    mov     r1, #0
    umaal   r11, r1, r5, r5
    bic     r2, r2, #1
    umaal   r10, r1, r5, r2
    umaal   r0, r1, r5, lr          /* column 13 is r1 */
    umlal   r0, r1, r6, r6
    mov     r12, r11
    finish  r7, r8, r9, r12, r10, r0, r1, lr, r2, r3, r4, r5, r6, r11
    mov     r7, r10
    pop.w   {r0, lr}
    give_back

    /* r3 to r9 = the words at r1, with those at r2 as operands of the first instruction, then of the others */
    .macro  combine first, others
    ldm     r1!, {r3-r6}
    ldm     r2!, {r7-r10}
    across  \first, \others, r3, r7,  r4, r8,  r5, r9,  r6, r10
    ldm.w   r1, {r7-r9}
    ldm.w   r2, {r10-r12}
    across  \others, \others, r7, r10,  r8, r11,  r9, r12
    .endm

    /* r3 to r9, and a carry in the flags */
    .macro  finish_sum
    mov     r1, #0
    adc     r1, r1, #0
    fold    r1, r2, r10, r11, r3, r4, r5, r6, r7, r8, r9
    stm.w   r0, {r3-r9}
    bx      lr
    .endm

    .macro  sum_add
    combine adds, adcs
    finish_sum
    .endm

    .macro  sum_sub
    combine subs, sbcs
    sbc     r1, r1, r1
    fold    r1, r2, r10, r11, r3, r4, r5, r6, r7, r8, r9
    stm.w   r0, {r3-r9}
    bx      lr
    .endm

    sums    fe224

    /*
     * name:    void sunseal_fe224_sub2(uint16_t *r, const uint16_t *a, const uint16_t *b)
     * does:    r = a - 2 b
     * stack:   44 bytes
     * cycles:  106
     */
    callable sunseal_fe224_sub2
    push.w  {r2, lr}
    combine subs, sbcs
    sbc     lr, lr, lr
    pop.w   {r2}
    ldm     r2!, {r1, r11, r12}
    sub_chain r3, r1,  r4, r11,  r5, r12
    ldm.w   r2, {r1, r2, r11, r12}
    sbc_chain r6, r1,  r7, r2,  r8, r11,  r9, r12
    sbc     lr, lr, #0
    fold    lr, r2, r10, r11, r3, r4, r5, r6, r7, r8, r9
    stm.w   r0, {r3-r9}
    pop.w   {pc}

    .macro  one_and_a_half
    ldm.w   r1, {r3-r9}
    and     r2, r3, #1
    rsb     r10, r2, #0
    add_chain r3, r2,  r4, #0,  r5, #0,  r6, r10,  r7, r10,  r8, r10,  r9, r10
    rrx_chain r9, r8, r7, r6, r5, r4, r3
    ldm     r1!, {r2, r10, r11, r12}
    add_chain r3, r2,  r4, r10,  r5, r11,  r6, r12
    ldm.w   r1, {r10-r12}
    adc_chain r7, r10,  r8, r11,  r9, r12
    finish_sum
    .endm

    three_halves fe224

    .macro  add_p first, bit, mask
    across  \first, adcs, r3, \bit,  r4, #0,  r5, #0,  r6, \mask,  r7, \mask,  r8, \mask,  r9, \mask
    .endm

    .macro  add_p_twice
    and     r2, r1, #1
    lsrs.w  r10, r1, #1             /* the mask as carry */
    add_p   adcs, r2, r1
    sbc     r10, r10, r10
    and     r1, r1, r10
    and     r2, r2, r10
    add_p   adds, r2, r1
    .endm

    negation fe224, {r3-r9}, r3, r4, r5, r6, r7, r8, r9
