/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The ladder of x25519.c, all of its steps: the operations stand in line, so that none is called, and a sum or difference
 * that is squared stays in registers.
 */
#include "../field/fe25519_armv7em.inc"

/* The frame, from the stack pointer up. */
#define SLOT 0      /* for product8 */
#define SWAPPED 4   /* the bit before */
#define BIT 8       /* of the key, from 254 down */
#define LADDER 12   /* the arguments */
#define X1 32
#define X2 64
#define Z2 96
#define X3 128
#define Z3 160
#define A 192
#define B 224
#define AA 256
#define BB 288
#define KEY 320
#define FRAME 352
#define SCRATCH 32  /* of product8 and square8, below */

    .macro  multiply to, a, b
    add.w   r1, sp, #\a
    add.w   r2, sp, #\b
    sub.w   sp, sp, #SCRATCH
    product8 SCRATCH + SLOT
    finish  r0, r1, lr, r10, r12, r2
    add.w   r0, sp, #\to
    stm     r0, {r3-r9, r11}
    .endm

    /* The square of what lies in r0 to r6 and r12 */
    .macro  square to
    sub.w   sp, sp, #SCRATCH
    square8_loaded
    finish  r10, r0, r1, r2, r12, lr
    add.w   r0, sp, #\to
    stm     r0, {r3-r9, r11}
    .endm

    .macro  store to
    add.w   lr, sp, #\to
    stm.w   lr, {r0-r6, r12}
    .endm

    /* r0 to r6 and r12 = a and b, combined by the first instruction, then the others */
    .macro  combine first, others, a, b
    add.w   lr, sp, #\a
    add.w   r11, sp, #\b
    ldm     lr!, {r0-r3}
    ldm     r11!, {r7-r10}
    \first\().w r0, r0, r7
    \others\().w r1, r1, r8
    \others\().w r2, r2, r9
    \others\().w r3, r3, r10
    ldm.w   lr, {r4-r6, r12}
    ldm.w   r11, {r7-r10}
    \others\().w r4, r4, r7
    \others\().w r5, r5, r8
    \others\().w r6, r6, r9
    \others\().w r12, r12, r10
    .endm

    .macro  sum a, b
    combine adds, adcs, \a, \b
    mov     r7, #0
    adc     r7, r7, #0
    fold    r7, r8, r0, r1, r2, r3, r4, r5, r6, r12
    .endm

    .macro  difference a, b
    combine subs, sbcs, \a, \b
    unborrow r7, r8, r0, r1, r2, r3, r4, r5, r6, r12
    .endm

    /* to = a + 121665 times what lies in r0 to r6 and r12 */
    .macro  add_121665 to, a
    add.w   lr, sp, #\a
    ldm.w   lr, {r7-r10}
    movw    lr, #121665 & 0xffff
    movt    lr, #121665 >> 16
    mov     r11, #0
    umaal_chain r11, lr,  r7, r0,  r8, r1,  r9, r2,  r10, r3
    add.w   r0, sp, #\a + 16
    ldm.w   r0, {r0-r3}
    umaal_chain r11, lr,  r0, r4,  r1, r5,  r2, r6,  r3, r12
    fold    r11, lr, r7, r8, r9, r10, r0, r1, r2, r3
    add.w   lr, sp, #\to
    stm.w   lr!, {r7-r10}
    stm.w   lr, {r0-r3}
    .endm

    /* void sunseal_x25519_ladder(uint16_t *ladder, const uint16_t *x1, const uint16_t *k): ladder is x2, z2, x3, z3 before
     * the first bit and after the last, none of which asks for an exchange; k's bits from 254 down to 0. */
    routine sunseal_x25519_ladder
    push.w  {r4-r11, lr}
    sub.w   sp, sp, #FRAME
    str.w   r0, [sp, #LADDER]
    ldm.w   r1, {r4-r11}
    add.w   r1, sp, #X1
    stm     r1!, {r4-r11}
    .rept   4
    ldm     r0!, {r4-r11}
    stm     r1!, {r4-r11}
    .endr
    ldm.w   r2, {r4-r11}
    add.w   r1, sp, #KEY
    stm     r1, {r4-r11}
    mov     r0, #0
    str.w   r0, [sp, #SWAPPED]
    mov     r0, #254
1:  str.w   r0, [sp, #BIT]
    lsr     r1, r0, #5
    add.w   r1, sp, r1, lsl #2
    ldr.w   r1, [r1, #KEY]
    and     r0, r0, #31
    lsr     r1, r1, r0
    ldr.w   r2, [sp, #SWAPPED]
    str.w   r1, [sp, #SWAPPED]
    eor     r2, r2, r1
    sbfx    r2, r2, #0, #1
    add.w   r0, sp, #X2
    add.w   r1, sp, #X3
    .rept   4
    ldm.w   r0, {r4-r7}
    ldm.w   r1, {r8-r11}
    exchange r4, r8
    exchange r5, r9
    exchange r6, r10
    exchange r7, r11
    stm     r0!, {r4-r7}
    stm     r1!, {r8-r11}
    .endr
    /* RFC 7748, section 5, the body of the loop */
    difference X2, Z2
    store   B
    square  BB
    sum     X2, Z2
    store   A
    square  AA
    sum     X3, Z3
    store   X2                      /* C */
    difference X3, Z3
    store   Z2                      /* D */
    multiply Z2, Z2, A              /* DA */
    multiply X2, X2, B              /* CB */
    sum     Z2, X2
    square  X3                      /* (DA + CB)^2 */
    difference Z2, X2
    square  Z3
    multiply Z3, Z3, X1             /* x1 (DA - CB)^2 */
    multiply X2, AA, BB
    difference AA, BB
    store   B                       /* E */
    add_121665 A, AA
    multiply Z2, A, B               /* E (AA + 121665 E) */
    ldr.w   r0, [sp, #BIT]
    subs.w  r0, r0, #1
    bpl.w   1b
    ldr.w   r0, [sp, #LADDER]
    add.w   r1, sp, #X2
    .rept   4
    ldm     r1!, {r4-r11}
    stm     r0!, {r4-r11}
    .endr
    /* Nothing of it stays on the stack. */
    mov     r0, #0
    mov     r1, #(FRAME + SCRATCH) / 4
    sub.w   sp, sp, #SCRATCH
2:  str     r0, [sp], #4
    subs.w  r1, r1, #1
    bne     2b
    pop.w   {r4-r11, pc}
