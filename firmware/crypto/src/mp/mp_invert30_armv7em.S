/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Division steps (eprint 2019/266) for limbs of 30 bits; see mp_invert30.h.
 */
#include "../field/armv7em.inc"

/* struct sunseal_mp_inversion */
#define INVERSE 16
#define N 20
#define M 24
#define F 60
#define D 132
#define PAIR 36 /* from f to g, from d to e */

    /*
     * 15 steps. Two rows of the matrix, (u, v) and (q, r), are one word each, u + 2^16 v: what the steps do is linear. r0 =
     * zeta, r1 = f, r2 = g, r4 = u, v, r5 = q, r. A step: with t = 0 where g is even, else -1 where zeta is negative, else
     * 1, and w = -1 where t is: g += t f; f += -w g; g /= 2.
     */
    .macro  fifteen_steps
    mov     r4, #1
    mov     r5, #0x10000
    .rept   15
    sbfx    r7, r2, #0, #1
    and     r6, r7, r0, asr #31     /* w */
    rsb     r8, r7, r6, lsl #1      /* t */
    mla     r2, r1, r8, r2
    mla     r5, r4, r8, r5
    mls     r1, r2, r6, r1
    mls     r4, r5, r6, r4
    eor     r0, r0, r6
    sub     r0, r0, #1
    asr     r2, r2, #1
    lsl     r4, r4, #1
    .endr
    .endm

    /* low, high = the halves of pair, from -2^14 to 2^15 - 1 */
    .macro  unpack low, high, pair
    sxth    \low, \pair
    sub     \high, \pair, \low
    asr     \high, \high, #16
    .endm

    /* The negative halves of pair, which are from -2^14 to 2^15. */
    .macro  unpack_negative low, high, pair
    rsb     \pair, \pair, #0
    unpack  \low, \high, \pair
    .endm

    /* int32_t sunseal_mp_divsteps30(struct sunseal_mp_inversion *s, int32_t zeta) */
    routine sunseal_mp_divsteps30
    push.w  {r0, r4-r11, lr}
    ldr.w   r2, [r0, #F + PAIR]
    ldr.w   r3, [r0, #F]
    mov     r0, r1
    mov     r1, r3
    fifteen_steps
    unpack_negative r9, r10, r4
    unpack  r11, r12, r5
    fifteen_steps
    unpack_negative r6, r7, r4
    unpack  r8, lr, r5
    /* second by first, with u and v negative in both */
    mul     r1, r7, r11
    mls     r1, r6, r9, r1
    rsb     r1, r1, #0              /* u = u2 u1 + v2 q1 */
    mul     r2, r7, r12
    mls     r2, r6, r10, r2
    rsb     r2, r2, #0              /* v = u2 v1 + v2 r1 */
    mul     r3, lr, r11
    mls     r3, r8, r9, r3          /* q = q2 u1 + r2 q1 */
    mul     r4, lr, r12
    mls     r4, r8, r10, r4         /* r = q2 v1 + r2 r1 */
    pop.w   {r5}
    stm.w   r5, {r1-r4}
    pop.w   {r4-r11, pc}

    .macro  shift30 low, high
    lsr     \low, \low, #30
    orr     \low, \low, \high, lsl #2
    asr     \high, \high, #30
    .endm

    /* The limbs at r0 and r0 + PAIR by the matrix in r1 to r4, onto r9:r8 and r11:r10 */
    .macro  multiply first, at
    ldr.w   r6, [r0, #\at]
    ldr.w   r7, [r0, #\at + PAIR]
    \first  r8, r9, r1, r6
    smlal   r8, r9, r2, r7
    \first  r10, r11, r3, r6
    smlal   r10, r11, r4, r7
    .endm

    /* 30 bits of both sums are done. */
    .macro  put
    bic     r6, r8, #0xc0000000
    bic     r7, r10, #0xc0000000
    str.w   r7, [r0, #PAIR]
    str     r6, [r0], #4
    .endm

    /* void sunseal_mp_apply30(struct sunseal_mp_inversion *s) */
    routine sunseal_mp_apply30
    push.w  {r4-r11, lr}
    ldr.w   r5, [r0, #N]
    ldm     r0, {r1-r4}
    add.w   r0, r0, #F
    multiply smull, 0
    shift30 r8, r9
    shift30 r10, r11
    subs.w  r5, r5, #1
1:  multiply smlal, 4
    put
    shift30 r8, r9
    shift30 r10, r11
    subs.w  r5, r5, #1
    bne     1b
    str.w   r10, [r0, #PAIR]
    str.w   r8, [r0]
    pop.w   {r4-r11, pc}

    /*
     * void sunseal_mp_apply30_mod(struct sunseal_mp_inversion *s): multiples of m, r12 for d and lr for e, keep the sums in
     * range and clear 30 bits.
     */
    routine sunseal_mp_apply30_mod
    push.w  {r4-r11, lr}
    ldr.w   r5, [r0, #N]
    add.w   r6, r0, r5, lsl #2
    ldr     r12, [r6, #D - 4]
    ldr     lr, [r6, #D - 4 + PAIR]
    adr.w   r7, 2f                  /* n - 1 limbs are left; each is (2f - 1f) / 8 bytes */
    sub.w   r5, r5, #1
    mov     r6, #(2f - 1f) / 8
    mls     r7, r5, r6, r7
    orr     r7, r7, #1
    str     r7, [sp, #-4]!
    ldr.w   r5, [r0, #INVERSE]
    ldm     r0, {r1-r4}
    add.w   r0, r0, #D
    and     r6, r1, r12, asr #31
    and     r7, r2, lr, asr #31
    and     r12, r3, r12, asr #31
    and     lr, r4, lr, asr #31
    add.w   lr, lr, r12
    add     r12, r6, r7
    multiply smull, 0
    mla     r6, r5, r8, r12
    bic     r6, r6, #0xc0000000
    sub     r12, r12, r6
    mla     r6, r5, r10, lr
    bic     r6, r6, #0xc0000000
    sub     lr, lr, r6
    ldr     r6, [r0, #M - D]
    smlal   r8, r9, r12, r6
    smlal   r10, r11, lr, r6
    shift30 r8, r9
    shift30 r10, r11
    ldr     r5, [sp], #4
    bx      r5
    .p2align 2
1:  .rept   8
    multiply smlal, 4
    ldr     r5, [r0, #M - D + 4]
    smlal   r8, r9, r12, r5
    smlal   r10, r11, lr, r5
    put
    shift30 r8, r9
    shift30 r10, r11
    .endr
2:  str.w   r10, [r0, #PAIR]
    str.w   r8, [r0]
    pop.w   {r4-r11, pc}
