/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One entry of a table of 32 or of 8.
 */
#include "../field/armv7em.inc"

    /*
     * void sunseal_mp_pick(uint16_t *r, const uint16_t *table, uint16_t index, size_t n): a pass over the table sums up
     * some words of each entry times 1 or 0. r4 and up = the sums, r1 = place in the table, r12 = one bit for each entry.
     * On the stack: r0, then where the pass ends, then the bits anew, then the number of entries.
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
    ldrd    r12, r0, [sp, #8]
    mov     r2, #\stride
    mla     r0, r0, r2, r1
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
1:
    .if \words == 5
    .irp    entry, 0, 1, 2, 3, 4, 5, 6, 7
    ubfx    lr, r12, #\entry, #1
    ldm     r1!, {r0, r2, r3, r9, r10}
    mla     r4, r0, lr, r4
    mla     r5, r2, lr, r5
    mla     r6, r3, lr, r6
    mla     r7, r9, lr, r7
    mla     r8, r10, lr, r8
    add.w   r1, r1, #\stride - 4 * \words
    .endr
    lsr     r12, r12, #8
    .else
    .irp    entry, 0, 1, 2, 3
    ubfx    lr, r12, #\entry, #1
    .if \words == 7
    ldm     r1!, {r0, r2, r3, r11}
    mla     r4, r0, lr, r4
    mla     r5, r2, lr, r5
    mla     r6, r3, lr, r6
    mla     r7, r11, lr, r7
    pick_three r8, r9, r10
    .else
    pick_three r4, r5, r6
    pick_three r7, r8, r9
    pick_two r10, r11
    .endif
    add.w   r1, r1, #\stride - 4 * \words
    .endr
    lsr     r12, r12, #4
    .endif
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
    ldr.w   r0, [sp, #12]
    mov     r2, #\stride
    mls     r1, r0, r2, r1
    add     r1, r1, #4 * \words
    .endm

    /* void sunseal_mp_pick8(uint16_t *r, const uint16_t *table, uint16_t index, size_t n): of 8 entries */
    routine sunseal_mp_pick8
    mov     r12, #8
    b       .Lpick

    .global sunseal_mp_pick
    .type   sunseal_mp_pick,%function
    .p2align 2
sunseal_mp_pick:
    mov     r12, #32
.Lpick:
    push.w  {r4-r11, lr}
    mov     r4, r12
    mov     r12, #1
    lsl     r12, r12, r2
    str     r4, [sp, #-4]!
    push.w  {r0, r3, r12}
    cmp     r3, #20
    beq     .Lpick_20
    cmp     r3, #28
    beq     .Lpick_28
    cmp     r3, #32
    beq     .Lpick_32
    cmp     r3, #48
    beq     .Lpick_48
    /* Any other size: a word of 16 bits a pass. */
    mov     r11, r3
2:  mov     r4, #0
    ldrd    r12, r6, [sp, #8]
    mov     r7, r1
5:  and     lr, r12, #1
    lsr     r12, r12, #1
    ldrh    r0, [r7]
    mla     r4, r0, lr, r4
    add     r7, r7, r3, lsl #1
    subs    r6, r6, #1
    bne     5b
    ldr.w   r0, [sp]
    strh    r4, [r0], #2
    str.w   r0, [sp]
    add     r1, r1, #2
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
    b       .Lpick_end
.Lpick_48:
    pick_pass 8, 96
    pick_pass 8, 96
    pick_pass 8, 96
.Lpick_end:
    add     sp, sp, #16
    pop.w   {r4-r11, pc}
