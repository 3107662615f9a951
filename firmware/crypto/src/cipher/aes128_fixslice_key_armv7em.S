/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * AES-128's key schedule in slices, FIPS 197, section 5.2; fixslice.h says how they stand. Slice b is in register
 * 4 + b. All instructions are wide and aligned, which the fetch unit needs to keep up.
 */
    .syntax unified
    .thumb
#include "function.inc"
#include "fixslice_armv7em.inc"
#include "../hash/wipe_armv7em.inc"

    /* Words of the stack: first those that the S-box wants */
    .set SLICES, 4*18                       /* of the last round key, as FIPS 197 has it */
    .set SCHEDULE, SLICES + 32
    .set WALK, SCHEDULE + 4
    .set FRAME, 4*32

    /* The S-box's constant 0x63, which round keys take up */
    .macro complement
    .irp    q, r4, r5, r9, r10
    mvn.w   \q, \q
    .endr
    .endm

    /* A slice of the next round key, from SubBytes of this one and from itself: column 3, a row up, to column 0, then
     * each column to all behind it. */
    .macro next q, old
    and.w   \q, r1, \q, ror #14
    eor.w   \q, \q, \old
    and.w   r0, r2, \q, lsl #2
    eor.w   \q, \q, r0
    and.w   r0, r3, \q, lsl #4
    eor.w   \q, \q, r0
    .endm

    .macro next_two a, b, at
    ldrd    r12, lr, [sp, #SLICES + \at]
    next    \a, r12
    next    \b, lr
    .endm

/* name:       int sunseal_aes128_fixslice_set_key(void *schedule, const uint8_t *key)
 * registers:  r4..r11 = slices
 * stack:      164 bytes
 * cycles:     3688
 */
    .balign 4
    function sunseal_aes128_fixslice_set_key
    push.w  {r4-r11, lr}
    sub     sp, #FRAME
    ldr.w   r4, [r1]
    ldr.w   r6, [r1, #4]
    ldr.w   r8, [r1, #8]
    ldr.w   r10, [r1, #12]
    mov.w   r5, r4                          /* both blocks have one key */
    mov.w   r7, r6
    mov.w   r9, r8
    mov.w   r11, r10
    turn
    stm.w   r0!, {r4-r11}
    adr.w   r1, 6f
    strd    r0, r1, [sp, #SCHEDULE]
    add.w   r0, sp, #SLICES
    stm.w   r0, {r4-r11}
1:
#include "aes_fixslice_armv7em.inc"
    /* The round constant, to row 0 of column 0 in the slices of its bits */
    ldr.w   r0, [sp, #WALK]
    add.w   r2, sp, #SLICES
    mov.w   r3, #0x80000000
    ldr.w   r12, [r0]
2:  clz     lr, r12
    ldr.w   r1, [r2, lr, lsl #2]
    eor.w   r1, r1, #3
    str.w   r1, [r2, lr, lsl #2]
    lsr.w   r1, r3, lr
    bics.w  r12, r12, r1
    bne.w   2b
    mov.w   r1, #0x03030303
    mov.w   r2, #0xfcfcfcfc
    mov.w   r3, #0xf0f0f0f0
    next_two r4, r5, 0
    next_two r6, r7, 8
    next_two r8, r9, 16
    next_two r10, r11, 24
    complement
    add.w   r0, sp, #SLICES
    stm.w   r0, {r4-r11}
    complement
    /* ShiftRows that are left out: rows to the left by two columns where the mask says so, then rows 1 and 3 by one */
    ldrd    r1, r0, [sp, #SCHEDULE]
    ldr.w   r12, [r0, #4]
    cmp.w   r12, #0
    beq.w   5f
    .irp    q, r4, r5, r6, r7, r8, r9, r10, r11
    eor.w   lr, \q, \q, lsr #4
    and.w   lr, lr, r12
    eor.w   \q, \q, lr
    eor.w   \q, \q, lr, lsl #4
    .endr
    cmp.w   r12, #0x0f000f00                /* two ShiftRows turn rows 1 and 3 by two alone */
    beq.w   5f
    .irp    q, r4, r5, r6, r7, r8, r9, r10, r11
    and.w   r12, \q, #0x3f003f00
    and.w   lr, \q, #0xc000c000
    and.w   \q, \q, #0x00ff00ff
    orr.w   \q, \q, r12, lsl #2
    orr.w   \q, \q, lr, lsr #6
    .endr
5:  stm.w   r1!, {r4-r11}
    add.w   r0, r0, #8
    strd    r1, r0, [sp, #SCHEDULE]
    add.w   r12, sp, #SLICES
    ldm.w   r12, {r4-r11}
    adr.w   r2, 7f
    cmp.w   r0, r2
    bne.w   1b
    wipe    4
    mov.w   r0, #0
    pop.w   {r4-r11, pc}
    .balign 4
    /* Of each round its constant, the highest bit for slice 0, and the mask */
6:  .irp    bit, 0, 4
    .word   0x80000000 >> \bit, 0x0f0f0000
    .word   0x40000000 >> \bit, 0x0f000f00
    .word   0x20000000 >> \bit, 0x000f0f00
    .word   0x10000000 >> \bit, 0
    .endr
    .word   0xd8000000, 0x0f0f0000
    .word   0x6c000000, 0
7:
