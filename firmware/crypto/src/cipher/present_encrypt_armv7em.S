/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * PRESENT, bitsliced within the block: present.h says how. A slice holds 16 bits of each of two blocks. All
 * instructions are wide and aligned, which the fetch unit needs to keep up.
 */
    .syntax unified
    .thumb
#include "function.inc"
#include "swap_armv7em.inc"

    /* The axis of single bits comes into the words. */
    .macro turn_ones a, b, c, d, t
    swap_steps 1, 0x55555555, \t,  \a, \b,  \c, \d
    swap_steps 2, 0x33333333, \t,  \a, \c,  \b, \d
    .endm

    /* The axis of groups of four bits does. */
    .macro turn_fours a, b, c, d, t
    swap_steps 4, 0x0f0f0f0f, \t,  \a, \b,  \c, \d
    swap_steps 8, 0x00ff00ff, \t,  \a, \c,  \b, \d
    .endm

    /* Round key and S-box (Courtois, Hulme and Mourouzis, eprint 2011/475): bits 0 to 3 in a b c d before, in
     * t c d u after, and a b are free. So four rounds bring every slice back to its register. */
    .macro substitute a, b, c, d, t, u
    ldm.w   r0!, {r10, r11, r12, lr}
    eor.w   \a, \a, r10
    eor.w   \b, \b, r11
    eor.w   \c, \c, r12
    eor.w   \d, \d, lr
    eor.w   \b, \b, \c
    and.w   \t, \c, \b
    eor.w   \d, \d, \t
    eor.w   \t, \a, \d
    and.w   \u, \b, \d
    eor.w   \b, \b, \t
    eor.w   \u, \u, \c
    orr.w   \c, \a, \u
    eor.w   \c, \c, \b
    eor.w   \a, \a, \u
    orn.w   \b, \b, \a
    mvn.w   \u, \c
    eor.w   \u, \u, \a
    eor.w   \d, \d, \b
    .endm

    .macro round which, a, b, c, d, t, u
    turn_\which \a, \b, \c, \d, \t
    substitute \a, \b, \c, \d, \t, \u
    .endm

    /* Bits 4l + h become bits 4h + l. */
    .macro turn_word w, t
    swap_step 3, 0x0a0a0a0a, \t, \w, \w
    eor.w   \t, \w, \w, lsr #6
    and.w   \t, \t, r3
    eor.w   \w, \w, \t
    eor.w   \w, \w, \t, lsl #6
    .endm

/* name:       int sunseal_present_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
 * registers:  r4..r9 = slices and scratch, r0 = round keys, r3 = count
 * stack:      52 bytes
 * cycles:     1359 for two blocks
 */
    .balign 4
    function sunseal_present_encrypt
    push.w  {r0-r11, lr}
    cmp     r3, #0
    beq.w   5f
1:  ldr.w   r0, [sp]
    ldr.w   r2, [sp, #8]
    ldr.w   r3, [sp, #12]
    cmp     r3, #1
    ite     eq
    moveq   r1, #0                          /* a last single block goes twice */
    movne   r1, #8
    ldr.w   r4, [r2]
    ldr.w   r5, [r2, #4]
    add.w   r2, r2, r1
    ldr.w   r6, [r2]
    ldr.w   r7, [r2, #4]
    add.w   r2, r2, #8
    str.w   r2, [sp, #8]
    rev.w   r4, r4                          /* slices 3 and 2 of the first block */
    rev.w   r5, r5                          /* 1 and 0 */
    rev.w   r6, r6                          /* of the second */
    rev.w   r7, r7
    /* Round 1 is the second of the loop: 31 = 8 * 4 - 1. */
    mov.w   r10, r7
    pkhtb   r9, r6, r4, asr #16
    pkhbt   r7, r4, r6, lsl #16
    pkhtb   r6, r10, r5, asr #16
    pkhbt   r8, r5, r10, lsl #16
    mov.w   r3, #8
    b.w     3f
    .balign 4
2:  round   fours, r4, r5, r6, r7, r8, r9
3:  round   ones,  r8, r6, r7, r9, r4, r5
    round   fours, r4, r7, r9, r5, r8, r6
    round   ones,  r8, r9, r5, r6, r4, r7
    subs.w  r3, r3, #1
    bne.w   2b
    ldr.w   r1, [sp, #4]
    ldr.w   r2, [sp, #12]
    mov.w   r3, #0x00cc00cc
    .irp w, r4, r5, r6, r7
    turn_word \w, r8
    .endr
    ldm.w   r0!, {r8, r9, r10, r11}
    eor.w   r4, r4, r8
    eor.w   r5, r5, r9
    eor.w   r6, r6, r10
    eor.w   r7, r7, r11
    pkhbt   r8, r6, r7, lsl #16
    pkhbt   r9, r4, r5, lsl #16
    rev.w   r8, r8
    rev.w   r9, r9
    str.w   r8, [r1], #4
    str.w   r9, [r1], #4
    subs.w  r2, r2, #1
    beq.w   5f
    pkhtb   r8, r7, r6, asr #16
    pkhtb   r9, r5, r4, asr #16
    rev.w   r8, r8
    rev.w   r9, r9
    str.w   r8, [r1], #4
    str.w   r9, [r1], #4
    str.w   r1, [sp, #4]
    subs.w  r2, r2, #1
    str.w   r2, [sp, #12]
    bne.w   1b
5:  add     sp, #16
    mov     r0, #0
    pop.w   {r4-r11, pc}
