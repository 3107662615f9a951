/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The field of secp160r1 in 32-bit words. 2^160 = c = 2^31 + 1 modulo p.
 */
#include "armv7em.inc"

    .macro  set_c k
    movw    \k, #1
    movt    \k, #0x8000
    .endm

    /* k = carry ? k : 0, where m is lost */
    .macro  keep_if_carry k, m
    sbc     \m, \m, \m              /* carry - 1 */
    bic     \k, \k, \m
    .endm

    /* w += c v. h, k, x and y are lost. */
    .macro  finish w0, w1, w2, w3, w4, v0, v1, v2, v3, v4, h, k, x, y
    set_c   \k
    mov     \h, #0
    fold    \w0, \w1, \w2, \w3, \w4, \v0, \v1, \v2, \v3, \v4, \h, \k, \x, \y
    .endm

    /* The same with k = c, and h besides. */
    .macro  fold w0, w1, w2, w3, w4, v0, v1, v2, v3, v4, h, k, x, y
    umaal_chain \h, \k,  \w0, \v0,  \w1, \v1,  \w2, \v2,  \w3, \v3,  \w4, \v4
    umull   \x, \y, \h, \k          /* below 2^63 */
    add_chain \w0, \x,  \w1, \y,  \w2, #0,  \w3, #0,  \w4, #0
    keep_if_carry \k, \x            /* what is left behind a carry is below 2^63 */
    adds.w  \w0, \w0, \k
    adc     \w1, \w1, #0
    .endm

    .macro  row5 t, w
    umaal   \t, r8, \w, r3
    umaal   r8, r9, \w, r4
    umaal   r9, r10, \w, r5
    umaal   r10, r11, \w, r6
    umaal   r11, r12, \w, r7
    .endm

    .macro  next_row w, at
    mov     lr, #0
    row5    lr, \w
    str     lr, [sp, #4 * \at]
    .endm

    /*
     * name:    void sunseal_fe160_mul(uint16_t *r, const uint16_t *a, const uint16_t *b)
     * stack:   64 bytes
     * cycles:  120
     */
    callable sunseal_fe160_mul
    push.w  {r0, lr}
    sub.w   sp, sp, #20
    ldm.w   r2, {r3-r7}
    ldrd    r0, r2, [r1]
    umull   lr, r8, r0, r3
    str     lr, [sp]
    umlal_chain r0, r8, r9, r4,  r10, r5,  r11, r6,  r12, r7
    next_row r2, 1
    ldrd    r0, r2, [r1, #8]
    next_row r0, 2
    next_row r2, 3
    ldr.w   r0, [r1, #16]
    next_row r0, 4
    pop.w   {r3-r7}
    finish  r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r0, r1, r2, lr
    pop.w   {r0, lr}
    stm.w   r0, {r3-r7}
    bx      lr

    /* A word of 2 p - c = (2^160 - 1 - c) + (2^160 - 2^32 - 1) into its column, then the row; the carries of the sum
     * live in the flags from row to row. */
    .macro  row_less operation, less, at
    ldr.w   r0, [r1, #4 * \at]
    ldr.w   lr, [r2, #4 * \at]
    mvn     lr, lr
    \operation lr, lr, #\less
    .if \at == 0
    .irp    word, r8, r9, r10, r11, r12
    mov     \word, #0
    .endr
    .endif
    row5    lr, r0
    str.w   lr, [sp, #4 * \at]
    .endm

    /*
     * name:    void sunseal_fe160_mul_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c)
     * does:    r = a b - c. The core takes c in r2 and b in r8.
     * stack:   64 bytes
     * cycles:  139
     */
    callable4 sunseal_fe160_mul_sub
    push.w  {r0, lr}
    sub.w   sp, sp, #20
    ldm.w   r8, {r3-r7}
    row_less subs, 1, 0
    row_less sbcs, 1, 1
    row_less sbcs, 0, 2
    row_less sbcs, 0, 3
    row_less sbcs, 0, 4
    pop.w   {r3-r7}
    set_c   r1
    sbc     r0, r0, r0
    bic     r0, r1, r0              /* 2^160 where the sum of 2 p - c has left it */
    fold    r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r0, r1, r2, lr
    pop.w   {r0, lr}
    stm.w   r0, {r3-r7}
    bx      lr

    /*
     * name:    void sunseal_fe160_sqr(uint16_t *r, const uint16_t *a)
     * does:    row i is a[i] by a[i], 2 a[i+1], ..., 2 a[4] and the bit that leaves at the top. The doubled words come from
     *          one chain of additions; the first of a row must lack the bit that a[i] has put into it.
     * stack:   52 bytes
     * cycles:  106
     */
    callable sunseal_fe160_sqr
    push.w  {r0, lr}
    sub.w   sp, sp, #8
    ldm.w   r1, {r1-r5}
    umull   r6, r7, r1, r1
    str.w   r6, [sp]
    adds.w  r6, r2, r2
    umlal_chain r1, r7, r8, r6
    str.w   r7, [sp, #4]
    adcs    r6, r3, r3
    umlal_chain r1, r8, r9, r6
    adcs    r7, r4, r4
    umlal_chain r1, r9, r10, r7
    adcs    r11, r5, r5
    umlal_chain r1, r10, r12, r11
    mov     lr, #0
    adc     lr, lr, #0
    umlal_chain r1, r12, r0, lr
    umlal_chain r2, r8, r1, r2
    bic     r6, r6, #1
    umaal   r9, r1, r2, r6
    umaal   r10, r1, r2, r7
    umaal   r12, r1, r2, r11
    umaal   r0, r1, r2, lr
    umlal_chain r3, r10, r2, r3
    bic     r7, r7, #1
    umaal   r12, r2, r3, r7
    umaal   r0, r2, r3, r11
    umaal   r1, r2, r3, lr
    umlal_chain r4, r0, r3, r4
    bic     r11, r11, #1
    umaal   r1, r3, r4, r11
    umaal   r2, r3, r4, lr
    umlal   r2, r3, r5, r5
    pop.w   {r6, r7}
    finish  r6, r7, r8, r9, r10, r12, r0, r1, r2, r3, r4, r5, r11, lr
    pop.w   {r0, lr}
    stm.w   r0, {r6-r10}
    bx      lr

    .macro  operands
    ldm.w   r1, {r3-r7}
    ldm.w   r2, {r8-r12}
    .endm

    /* r3 to r7 -= r8 to r12 */
    .macro  less first
    across  \first, sbcs, r3, r8,  r4, r9,  r5, r10,  r6, r11,  r7, r12
    .endm

    /* r3 to r7 and r8 to r12 together */
    .macro  finish_sum
    set_c   r1
    add_chain r3, r8,  r4, r9,  r5, r10,  r6, r11,  r7, r12
    keep_if_carry r1, r2
    add_chain r3, r1,  r4, #0,  r5, #0,  r6, #0,  r7, #0
    keep_if_carry r1, r2            /* below 2^32 is left behind a carry */
    adds.w  r3, r3, r1
    adc     r4, r4, #0
    stm.w   r0, {r3-r7}
    bx      lr
    .endm

    .macro  sum_add
    operands
    finish_sum
    .endm

    .macro  sum_sub
    operands
    set_c   r1
    less    subs
    sbc     r2, r2, r2              /* -borrow */
    and     r1, r1, r2
    sub_chain r3, r1,  r4, #0,  r5, #0,  r6, #0,  r7, #0
    sbc     r2, r2, r2
    and     r1, r1, r2              /* all ones above the lowest word stand behind a borrow */
    subs.w  r3, r3, r1
    sbc     r4, r4, #0
    stm.w   r0, {r3-r7}
    bx      lr
    .endm

    sums    fe160

    /*
     * name:    void sunseal_fe160_sub2(uint16_t *r, const uint16_t *a, const uint16_t *b)
     * does:    r = a - 2 b: a borrow of k, at most 2, is paid by k c = (k >> 1) 2^32 + (k 2^31 mod 2^32) + k
     * stack:   36 bytes
     * cycles:  72
     */
    callable sunseal_fe160_sub2
    operands
    less    subs
    sbc     r2, r2, r2
    less    subs
    sbc     r2, r2, #0
    rsb     r2, r2, #0              /* k */
    add     r1, r2, r2, lsl #31
    lsr     r2, r2, #1
    sub_chain r3, r1,  r4, r2,  r5, #0,  r6, #0,  r7, #0
    set_c   r1
    sbc     r2, r2, r2
    and     r1, r1, r2              /* all ones above the second word stand behind a borrow */
    subs.w  r3, r3, r1
    sbc     r4, r4, #0
    stm.w   r0, {r3-r7}
    bx      lr

    /*
     * name:    void sunseal_fe160_abscissa(uint16_t *x, const uint16_t *h, uint16_t *s)
     * does:    x = x - h - 2 s, then s = s - x; borrows as in sub2
     * stack:   44 bytes
     * cycles:  112
     */
    callable sunseal_fe160_abscissa
    push.w  {r4, lr}
    ldm.w   r0, {r3-r7}
    ldm.w   r1, {r8-r12}
    less    subs
    sbc     lr, lr, lr
    ldm.w   r2, {r8-r12}
    less    subs
    sbc     lr, lr, #0
    less    subs
    sbc     lr, lr, #0
    rsb     lr, lr, #0
    add     r1, lr, lr, lsl #31
    lsr     lr, lr, #1
    sub_chain r3, r1,  r4, lr,  r5, #0,  r6, #0,  r7, #0
    set_c   r1
    sbc     lr, lr, lr
    and     lr, lr, r1
    subs.w  r3, r3, lr
    sbc     r4, r4, #0
    stm.w   r0, {r3-r7}
    sub_chain r8, r3,  r9, r4,  r10, r5,  r11, r6,  r12, r7
    sbc     lr, lr, lr
    and     lr, lr, r1
    sub_chain r8, lr,  r9, #0,  r10, #0,  r11, #0,  r12, #0
    sbc     lr, lr, lr
    and     lr, lr, r1
    subs.w  r8, r8, lr
    sbc     r9, r9, #0
    stm.w   r2, {r8-r12}
    pop.w   {r4, pc}

    .macro  one_and_a_half
    ldm.w   r1, {r3-r7}
    and     r2, r3, #1
    rsb     r2, r2, #0
    adds    r8, r3, r2, lsr #1
    adcs.w  r9, r4, r2
    adcs.w  r10, r5, r2
    adcs.w  r11, r6, r2
    adcs.w  r12, r7, r2
    rrx_chain r12, r11, r10, r9, r8
    finish_sum
    .endm

    three_halves fe160

    .macro  add_p first, low, mask
    across  \first, adcs, r3, \low,  r4, \mask,  r5, \mask,  r6, \mask,  r7, \mask
    .endm

    .macro  add_p_twice
    lsrs.w  r2, r1, #1              /* the mask as carry */
    add_p   adcs, r2, r1
    sbc     r8, r8, r8
    and     r1, r1, r8
    lsr     r2, r1, #1
    add_p   adds, r2, r1
    .endm

    negation fe160, {r3-r7}, r3, r4, r5, r6, r7
