/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Numbers of 16-bit words, two at a time; an odd count leaves one for the end. Single loads, so that a number may lie at any
 * even address.
 */
#include "../field/armv7em.inc"

    /* r0 = r1 and r2 together, of r3 words, up to an odd last one: eight words a turn, then two. Nothing in the loops sets
     * the flags but the operation. r12 = the count. */
    .macro  chain operation
    mov     r12, r3
    lsr     r3, r3, #3
    cbz     r3, 2f
1:  ldr_each r1, 0,  r4, r5, r6, r7
    ldr_each r2, 0,  r8, r9, r10, r11
    \operation\().w r4, r4, r8
    \operation\().w r5, r5, r9
    \operation\().w r6, r6, r10
    \operation\().w r7, r7, r11
    str_each r0, 0,  r4, r5, r6, r7
    add.w   r0, r0, #16
    add.w   r1, r1, #16
    add.w   r2, r2, #16
    sub.w   r3, r3, #1
    cbz     r3, 2f
    b       1b
2:  ubfx    r3, r12, #1, #2
    cbz     r3, 4f
3:  ldr     r4, [r1], #4
    ldr     r8, [r2], #4
    \operation\().w r4, r4, r8
    str     r4, [r0], #4
    sub.w   r3, r3, #1
    cbz     r3, 4f
    b       3b
4:
    .endm

    /* uint16_t sunseal_mp_add(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n) */
    routine sunseal_mp_add
    push.w  {r4-r11, lr}
    cmn     r3, #0                  /* no carry */
    chain   adcs
    adc     r3, r3, #0
    lsls    r12, r12, #31
    beq     5f
    ldrh    r4, [r1]
    ldrh    r5, [r2]
    add     r4, r4, r5
    add     r4, r4, r3
    strh    r4, [r0]
    lsr     r3, r4, #16
5:  mov     r0, r3
    pop.w   {r4-r11, pc}

    /* uint16_t sunseal_mp_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n) */
    routine sunseal_mp_sub
    push.w  {r4-r11, lr}
    cmp     r3, #0                  /* no borrow */
    chain   sbcs
    sbc     r3, r3, r3
    rsb     r3, r3, #0
    lsls    r12, r12, #31
    beq     5f
    ldrh    r4, [r1]
    ldrh    r5, [r2]
    sub     r4, r4, r5
    sub     r4, r4, r3
    strh    r4, [r0]
    lsr     r3, r4, #31
5:  mov     r0, r3
    pop.w   {r4-r11, pc}

    /* x = mask ? y : x */
    .macro  select x, y
    eor     \y, \y, \x
    and     \y, \y, r2
    eor     \x, \x, \y
    .endm

    /* void sunseal_mp_select(uint16_t *r, const uint16_t *a, uint16_t mask, size_t n) */
    routine sunseal_mp_select
    push.w  {r4-r11, lr}
    sxth    r2, r2
    lsrs    r12, r3, #3
    beq     2f
1:  ldr.w   r4, [r0]                /* eight words a turn */
    ldr_each r0, 4,  r5, r6, r7
    ldr_each r1, 4,  r8, r9, r10
    ldr     r11, [r1], #16
    select  r4, r11
    select  r5, r8
    select  r6, r9
    select  r7, r10
    str_each r0, 4,  r5, r6, r7
    str     r4, [r0], #16
    subs.w  r12, r12, #1
    bne     1b
2:  ubfx    r12, r3, #1, #2
    cmp     r12, #0
    beq     4f
3:  ldr.w   r4, [r0]
    ldr     r5, [r1], #4
    select  r4, r5
    str     r4, [r0], #4
    subs.w  r12, r12, #1
    bne     3b
4:  lsls    r3, r3, #31
    beq     5f
    ldrh    r4, [r0]
    ldrh    r5, [r1]
    select  r4, r5
    strh    r4, [r0]
5:  pop.w   {r4-r11, pc}
