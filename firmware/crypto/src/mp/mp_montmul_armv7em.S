/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Montgomery's product. For eight 32-bit words the whole product, then four words cleared at a time; for other lengths a
 * row of words at a time: the sum so far, plus a word of b times a, plus the multiple of m that clears the lowest word, a
 * word down.
 */
#include "../field/armv7em.inc"
#include "../field/product8_armv7em.inc"

/* struct sunseal_mp_modulus */
#define COUNT 8
#define N0 12

    /* Four words += q times r3 to r6, the carry to h. */
    .macro  multiple q, h, w0, w1, w2, w3
    umaal   \w0, \h, \q, r3
    umaal   \w1, \h, \q, r4
    umaal   \w2, \h, \q, r5
    umaal   \w3, \h, \q, r6
    .endm

    /* Clears the words at and at + 1 to at + 3 of the product on the stack by multiples q of m: r11, r0, r1, r2. Below, the
     * word that a multiple clears is the zero that the next one's carry begins with. lr = n0, [sp, #64] = m. Leaves
     * r12, r7, r8, r9 to be added to words at + 8 to at + 11, and r10 = 0. */
    .macro  clear4 at
    ldr.w   r7, [sp, #64]
    ldm.w   r7, {r3-r6}
    add.w   r12, sp, #4 * \at
    ldm.w   r12, {r7-r10}
    mul     r11, r7, lr
    mov     r12, #0
    multiple r11, r12, r7, r8, r9, r10
    mul     r0, r8, lr
    multiple r0, r7, r8, r9, r10, r12
    mul     r1, r9, lr
    multiple r1, r8, r9, r10, r12, r7
    mul     r2, r10, lr
    multiple r2, r9, r10, r12, r7, r8
    ldr.w   r3, [sp, #64]
    .irp    word, 4, 5, 6, 7
    ldr.w   r4, [r3, #4 * \word]
    ldr.w   r5, [sp, #4 * (\at + \word)]
    row4    r5, r12, r7, r8, r9, r4, r11, r0, r1, r2
    str.w   r5, [sp, #4 * (\at + \word)]
    .endr
    add.w   r3, sp, #4 * (\at + 8)
    ldm.w   r3, {r0-r2, r4}
    .endm

    /* Nothing of the factors stays on the stack: r3 = its words, r4 to r11 = 0. */
    .macro  zero
    mov     r3, sp
    .irp    reg, r4, r5, r6, r7, r8, r9, r10, r11
    mov     \reg, #0
    .endr
    .endm

    .macro  carry_on
    add_chain r0, r12,  r1, r7,  r2, r8,  r4, r9
    adc     r10, r10, #0
    .endm

    /* As below, for 16 words of 16 bits. */
    routine sunseal_mp_montmul_eight
    push.w  {r0, r3-r11, lr}
    sub.w   sp, sp, #68
    product8 64
    str_each sp, 32,  r7, r8, r9, r11, r0, r1, lr, r10
    ldr.w   r2, [sp, #72]
    ldr.w   lr, [r2, #N0]
    ldr.w   r2, [r2]
    str.w   r2, [sp, #64]
    clear4  0
    carry_on
    stm.w   r3, {r0-r2, r4}
    str.w   r10, [sp]
    clear4  4
    ldr.w   r5, [sp]
    add_chain r0, r5,  r1, #0,  r2, #0,  r4, #0
    adc     r10, r10, #0
    carry_on
    /* Below 2m: m is subtracted, and comes back where there is a borrow that the carry does not cover. */
    add.w   r9, sp, #32
    ldm.w   r9, {r5-r8}
    ldr.w   r3, [sp, #64]
    ldm     r3!, {r9, r11, r12, lr}
    sub_chain r5, r9,  r6, r11,  r7, r12,  r8, lr
    ldm.w   r3, {r9, r11, r12, lr}
    sbc_chain r0, r9,  r1, r11,  r2, r12,  r4, lr
    sbc     r3, r3, r3
    sub     r10, r10, #1
    and     r10, r10, r3
    ldr.w   r3, [sp, #64]
    ldm     r3!, {r9, r11, r12, lr}
    and     r9, r9, r10
    and     r11, r11, r10
    and     r12, r12, r10
    and     lr, lr, r10
    add_chain r5, r9,  r6, r11,  r7, r12,  r8, lr
    ldm.w   r3, {r9, r11, r12, lr}
    and     r9, r9, r10
    and     r11, r11, r10
    and     r12, r12, r10
    and     lr, lr, r10
    adc_chain r0, r9,  r1, r11,  r2, r12
    adc.w   r4, r4, lr
    ldr.w   r3, [sp, #68]
    stm     r3!, {r5-r8}
    stm.w   r3, {r0-r2, r4}
    zero
    stm.w   r3!, {r4-r11}
    stm.w   r3, {r4-r11}
    add.w   sp, sp, #76
    pop.w   {r4-r11, pc}

    /* One word of a; t0 to t5 = the sum, whose lowest word goes and whose highest takes its register. */
    .macro  row_of_six at, t0, t1, t2, t3, t4, t5
    ldr.w   r1, [sp, #4 * \at]
    ldr.w   r11, [sp, #24]
    ldr.w   r0, [r2]
    ldr.w   r10, [r3]
    mov     r12, #0
    mov     lr, #0
    umaal   \t0, r12, r0, r1
    mul     r11, r11, \t0
    umaal   \t0, lr, r11, r10       /* 0 */
    term_of_six 4, \t1
    term_of_six 8, \t2
    term_of_six 12, \t3
    term_of_six 16, \t4
    term_of_six 20, \t5
    add.w   \t0, r12, lr
    .endm

    .macro  term_of_six at, t
    ldr.w   r0, [r2, #\at]
    ldr.w   r10, [r3, #\at]
    umaal   \t, r12, r0, r1
    umaal   \t, lr, r11, r10
    .endm

    /* As below, for 12 words of 16 bits, where b and m are below 2^191, so that the sum, below b + m, never carries.
     *
     * r2 = b, r3 = m, r4 to r9 = the sum, r1 = word of a, r11 = multiple of m, r12 and lr = what their rows carry. On the
     * stack the words of a, n0, r. */
    routine sunseal_mp_montmul_12
    push.w  {r0, r4-r11, lr}
    ldr.w   r10, [r3, #N0]
    ldr.w   r3, [r3]
    ldm.w   r1, {r4-r9}
    push.w  {r4-r10}
    .irp    sum, r4, r5, r6, r7, r8, r9
    mov     \sum, #0
    .endr
    row_of_six 0, r4, r5, r6, r7, r8, r9
    row_of_six 1, r5, r6, r7, r8, r9, r4
    row_of_six 2, r6, r7, r8, r9, r4, r5
    row_of_six 3, r7, r8, r9, r4, r5, r6
    row_of_six 4, r8, r9, r4, r5, r6, r7
    row_of_six 5, r9, r4, r5, r6, r7, r8
    /* Below 2m: m is subtracted, and comes back where there is a borrow. */
    ldm.w   r3, {r0-r2, r10-r12}
    sub_chain r4, r0,  r5, r1,  r6, r2,  r7, r10,  r8, r11,  r9, r12
    sbc     lr, lr, lr
    .irp    word, r0, r1, r2, r10, r11, r12
    and     \word, \word, lr
    .endr
    add_chain r4, r0,  r5, r1,  r6, r2,  r7, r10,  r8, r11
    adc.w   r9, r9, r12
    ldr.w   r0, [sp, #28]
    stm.w   r0, {r4-r9}
    zero
    stm.w   r3, {r4-r9}
    add.w   sp, sp, #32
    pop.w   {r4-r11, pc}

    /* void sunseal_mp_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b, const struct sunseal_mp_modulus *m)
     *
     * r1 = a, r2 = m, r3 = the sum, r4 = word of b, r5 = multiple of m, r6 and r7 = what their rows carry, r11 = carry of
     * the whole, r12 = rows left, lr = first word's place in a row of eight. The sum's words and a count lie on the stack. */
    routine sunseal_mp_montmul
    ldrb    r12, [r3, #COUNT]
    cmp     r12, #16
    beq.w   sunseal_mp_montmul_eight
    push.w  {r0, r2, r3, r4-r11, lr}
    sub.w   sp, sp, #32
    ldr.w   r2, [r3]
    lsr     r12, r12, #1
    mov     r4, #0
    mov     r5, #0
    mov     r6, #0
    mov     r7, #0
    mov     r3, sp
    stm     r3!, {r4-r7}
    stm     r3!, {r4-r7}
    mov     r11, #0
    /* The code of a row is for eight words; a shorter one enters it later, with all places moved down. */
    rsb     lr, r12, #8
    sub     r1, r1, lr, lsl #2
    sub     r2, r2, lr, lsl #2
    sub     r3, sp, lr, lsl #2
    adr.w   r8, 2f
    mov     r9, #(3f - 2f) / 7
    mla     r8, r9, lr, r8
    orr     r8, r8, #1
    push.w  {r8}
1:  ldr     r4, [sp, #40]           /* word of b */
    ldr     r8, [r4], #4
    str     r4, [sp, #40]
    mov     r4, r8
    ldr     r8, [r1, lr, lsl #2]
    ldr     r9, [sp, #4]
    mla     r9, r8, r4, r9
    ldr     r10, [sp, #44]
    ldr     r10, [r10, #N0]
    mul     r5, r9, r10
    ldr     r9, [sp, #4]
    ldr     r10, [r2, lr, lsl #2]
    mov     r6, #0
    mov     r7, #0
    umaal   r9, r6, r8, r4
    umaal   r9, r7, r10, r5         /* 0 */
    ldr     r8, [sp]
    bx      r8
    .p2align 2
2:  .irp    place, 1, 2, 3, 4, 5, 6, 7
    ldr.w   r8, [r1, #4 * \place]
    ldr.w   r9, [r3, #4 * \place]
    ldr.w   r10, [r2, #4 * \place]
    umaal   r9, r6, r8, r4
    umaal   r9, r7, r10, r5
    str.w   r9, [r3, #4 * \place - 4]
    .endr
3:  adds.w  r6, r6, r11
    mov     r11, #0
    adc     r11, r11, #0
    adds.w  r6, r6, r7
    adc     r11, r11, #0
    str.w   r6, [r3, #28]
    subs.w  r12, r12, #1
    bne     1b
    /* Below 2m: m is subtracted, unless there is a borrow that the carry does not cover. */
    add     sp, sp, #4
    add     r2, r2, lr, lsl #2
    rsb     lr, lr, #8
    mov     r1, sp
    mov     r3, r2
    mov     r6, lr
    cmp     r6, r6                  /* no borrow */
4:  ldr     r4, [r1], #4
    ldr     r5, [r3], #4
    sbcs    r4, r4, r5
    sub     r6, r6, #1
    cbz     r6, 5f                  /* leaves the flags alone */
    b       4b
5:  sbc     r7, r7, r7
    sub     r11, r11, #1
    and     r7, r7, r11
    mvn     r7, r7                  /* -1 where m goes */
    ldr     r0, [sp, #32]
    mov     r1, sp
    mov     r6, lr
    cmp     r6, r6
6:  ldr     r4, [r1], #4
    ldr     r5, [r2], #4
    and     r5, r5, r7
    sbcs    r4, r4, r5
    str     r4, [r0], #4
    sub     r6, r6, #1
    cbz     r6, 7f
    b       6b
7:  zero
    stm.w   r3, {r4-r11}
    add.w   sp, sp, #44
    pop.w   {r4-r11, pc}
