/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Numbers of 16-bit words, two at a time; an odd count leaves one for the end. Single loads, so that a number may lie at any
 * even address, but for mp_pick's table.
 */
#include "../field/armv7em.inc"

/* mp.h */
#define SUNSEAL_MP_PICK_ENTRIES 32

    /* uint16_t sunseal_mp_add(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n) */
    routine sunseal_mp_add
    push.w  {r4-r6, lr}
    lsrs    r6, r3, #1
    mov     r12, #0                 /* the carry */
    beq     2f
    adds    r4, r4, #0              /* none at first */
1:  ldr     r4, [r1], #4
    ldr     r5, [r2], #4
    adcs    r4, r4, r5
    str     r4, [r0], #4
    sub     r6, r6, #1
    cbz     r6, 3f                  /* leaves the flags alone */
    b       1b
3:  adc     r12, r12, #0
2:  lsls    r3, r3, #31
    beq     4f
    ldrh    r4, [r1]
    ldrh    r5, [r2]
    add     r4, r4, r5
    add     r4, r4, r12
    strh    r4, [r0]
    lsr     r12, r4, #16
4:  mov     r0, r12
    pop.w   {r4-r6, pc}

    /* uint16_t sunseal_mp_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n) */
    routine sunseal_mp_sub
    push.w  {r4-r6, lr}
    lsrs    r6, r3, #1
    mov     r12, #0                 /* the borrow */
    beq     2f
    subs    r4, r4, #0              /* none at first */
1:  ldr     r4, [r1], #4
    ldr     r5, [r2], #4
    sbcs    r4, r4, r5
    str     r4, [r0], #4
    sub     r6, r6, #1
    cbz     r6, 3f                  /* leaves the flags alone */
    b       1b
3:  sbc     r12, r12, r12
    rsb     r12, r12, #0
2:  lsls    r3, r3, #31
    beq     4f
    ldrh    r4, [r1]
    ldrh    r5, [r2]
    sub     r4, r4, r5
    sub     r4, r4, r12
    strh    r4, [r0]
    lsr     r12, r4, #31
4:  mov     r0, r12
    pop.w   {r4-r6, pc}

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
    ldr.w   r5, [r0, #4]
    ldr.w   r6, [r0, #8]
    ldr.w   r7, [r0, #12]
    ldr.w   r8, [r1, #4]
    ldr.w   r9, [r1, #8]
    ldr.w   r10, [r1, #12]
    ldr     r11, [r1], #16
    select  r4, r11
    select  r5, r8
    select  r6, r9
    select  r7, r10
    str.w   r5, [r0, #4]
    str.w   r6, [r0, #8]
    str.w   r7, [r0, #12]
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

    /*
     * void sunseal_mp_pick(uint16_t *r, const uint16_t *table, uint16_t index, size_t n): a pass over the table sums up
     * some words of each entry times 1 or 0. r4 and up = the sums, r1 = place in the table, r12 = one bit for each entry.
     * On the stack: r0, then where the pass ends, then the bits anew.
     */
    .macro  pick_three first, second, third
    ldm     r1!, {r0, r2, r3}
    mla     \first, r0, lr, \first
    mla     \second, r2, lr, \second
    mla     \third, r3, lr, \third
    .endm

    .macro  pick_two first, second
    ldm     r1!, {r0, r2}
    mla     \first, r0, lr, \first
    mla     \second, r2, lr, \second
    .endm

    /* One pass for words 4-byte words of entries of stride bytes; then r1 is at the next pass's first word. */
    .macro  pick_pass words, stride
    ldrd    r0, r12, [sp, #4]
    add     r0, r1, #SUNSEAL_MP_PICK_ENTRIES * \stride
    str.w   r0, [sp, #4]
    mov     r4, #0
    mov     r5, #0
    mov     r6, #0
    mov     r7, #0
    mov     r8, #0
    .if \words > 5
    mov     r9, #0
    mov     r10, #0
    .endif
    .if \words > 7
    mov     r11, #0
    .endif
1:  .irp    entry, 0, 1, 2, 3
    ubfx    lr, r12, #\entry, #1
    pick_three r4, r5, r6
    .if \words == 5
    pick_two r7, r8
    .elseif \words == 7
    pick_two r7, r8
    pick_two r9, r10
    .else
    pick_three r7, r8, r9
    pick_two r10, r11
    .endif
    add     r1, r1, #\stride - 4 * \words
    .endr
    lsr     r12, r12, #4
    ldr.w   r0, [sp, #4]
    cmp     r1, r0
    bne     1b
    ldr.w   r0, [sp]
    .if \words == 5
    stm     r0!, {r4-r8}
    .elseif \words == 7
    stm     r0!, {r4-r10}
    .else
    stm     r0!, {r4-r11}
    .endif
    str.w   r0, [sp]
    sub     r1, r1, #SUNSEAL_MP_PICK_ENTRIES * \stride - 4 * \words
    .endm

    routine sunseal_mp_pick
    push.w  {r4-r11, lr}
    mov     r12, #1
    lsl     r12, r12, r2
    push.w  {r0, r3, r12}
    cmp     r3, #20
    beq     .Lpick_20
    cmp     r3, #28
    beq     .Lpick_28
    cmp     r3, #32
    beq     .Lpick_32
    /* Any other size: two words a pass. */
    lsl     r10, r3, #1             /* bytes of an entry */
    lsr     r11, r3, #2             /* passes */
2:  mov     r4, #0
    mov     r5, #0
    mov     r6, #SUNSEAL_MP_PICK_ENTRIES
    ldr     r12, [sp, #8]
    mov     r7, r1
3:  and     lr, r12, #1
    lsr     r12, r12, #1
    ldrd    r0, r2, [r7]
    mla     r4, r0, lr, r4
    mla     r5, r2, lr, r5
    add     r7, r7, r10
    subs    r6, r6, #1
    bne     3b
    ldr.w   r0, [sp]
    stm     r0!, {r4, r5}
    str.w   r0, [sp]
    add     r1, r1, #8
    subs    r11, r11, #1
    bne     2b
    b       .Lpick_end
.Lpick_20:
    pick_pass 5, 40
    pick_pass 5, 40
    b       .Lpick_end
.Lpick_28:
    pick_pass 7, 56
    pick_pass 7, 56
    b       .Lpick_end
.Lpick_32:
    pick_pass 8, 64
    pick_pass 8, 64
.Lpick_end:
    add     sp, sp, #12
    pop.w   {r4-r11, pc}
