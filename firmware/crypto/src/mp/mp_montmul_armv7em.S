/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Montgomery's product, a row of 32-bit words at a time: the sum so far, plus a word of b times a, plus the multiple of m
 * that clears the lowest word, a word down.
 */
#include "../field/armv7em.inc"

/* struct sunseal_mp_modulus */
#define COUNT 8
#define N0 12

    /* void sunseal_mp_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b, const struct sunseal_mp_modulus *m)
     *
     * r1 = a, r2 = m, r3 = the sum, r4 = word of b, r5 = multiple of m, r6 and r7 = what their rows carry, r11 = carry of
     * the whole, r12 = rows left, lr = first word's place in a row of eight. The sum's words and a count lie on the stack. */
    routine sunseal_mp_montmul
    push.w  {r0, r2, r3, r4-r11, lr}
    sub.w   sp, sp, #32
    ldrb    r12, [r3, #COUNT]
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
7:  add     sp, sp, #44
    pop.w   {r4-r11, pc}
