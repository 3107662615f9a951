/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * AES-128's encryption with one table of columns 2s s s 3s, turned for the other rows. All instructions are wide
 * and aligned, which the fetch unit needs to keep up; loads stand together, so that all but the first take one
 * cycle.
 */
    .syntax unified
    .thumb
#include "function.inc"

    /* Looked up by secret bytes: see aes.h. */
    .section .data.sunseal_aes_table,"aw",%progbits
    .balign 4
aes_t:
#include "aes_t.inc"

    /* One column of a round: byte 0 of a, 1 of b, 2 of c, 3 of d; the key at r0 + \key. The three turns follow. */
    .macro column_of load, to, a, b, c, d, key, second, third, fourth
    uxtb.w  \to, \a
    uxtb.w  r10, \b, ror #8
    uxtb.w  r11, \c, ror #16
    lsr.w   r12, \d, #24
    .irp    byte, \to, r10, r11, r12
    \load   \byte, [r1, \byte, lsl #2]
    .endr
    ldr.w   lr, [r0, #\key]
    eor.w   \to, \to, r10, \second
    eor.w   \to, \to, r11, \third
    eor.w   \to, \to, r12, \fourth
    eor.w   \to, \to, lr
    .endm

    .macro column to, a, b, c, d, key
    column_of ldr.w, \to, \a, \b, \c, \d, \key, "ror #24", "ror #16", "ror #8"
    .endm

    /* The last one: the second byte of a table's entry is the S-box. */
    .macro last_column to, a, b, c, d, key
    column_of ldrb.w, \to, \a, \b, \c, \d, \key, "lsl #8", "lsl #16", "lsl #24"
    .endm

    .macro round number, a, b, c, d, e, f, g, h
    column  \a, \e, \f, \g, \h, 16*(\number)
    column  \b, \f, \g, \h, \e, 16*(\number)+4
    column  \c, \g, \h, \e, \f, 16*(\number)+8
    column  \d, \h, \e, \f, \g, 16*(\number)+12
    .endm

    /* Rounds 3 to 10 from and to r5..r8; r1 moves on by a byte. */
    .macro rounds_3_to_10
    .irp n, 3, 5, 7
    round   \n, r2, r3, r4, r9, r5, r6, r7, r8
    round   \n+1, r5, r6, r7, r8, r2, r3, r4, r9
    .endr
    round   9, r2, r3, r4, r9, r5, r6, r7, r8
    add.w   r1, r1, #1
    last_column r5, r2, r3, r4, r9, 160
    last_column r6, r3, r4, r9, r2, 164
    last_column r7, r4, r9, r2, r3, 168
    last_column r8, r9, r2, r3, r4, 172
    .endm

    .macro table
    movw    r1, #:lower16:aes_t
    movt    r1, #:upper16:aes_t
    .endm

    /* a b c d = four words at \from (any alignment) + round key 0 */
    .macro load_state from
    ldr.w   r5, [\from]
    ldr.w   r6, [\from, #4]
    ldr.w   r7, [\from, #8]
    ldr.w   r8, [\from, #12]
    ldr.w   r10, [r0]
    ldr.w   r11, [r0, #4]
    ldr.w   r12, [r0, #8]
    ldr.w   lr, [r0, #12]
    eor.w   r5, r5, r10
    eor.w   r6, r6, r11
    eor.w   r7, r7, r12
    eor.w   r8, r8, lr
    .endm

/* name:       int sunseal_aes128_tbox_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
 * registers:  r0 = round keys, r1 = table, r2..r4, r9 and r5..r8 by turns = state
 * stack:      48 bytes
 * cycles:     625 for one block
 */
    .balign 4
    function sunseal_aes128_tbox_encrypt
    push.w  {r1-r11, lr}                    /* [sp]: out, in, blocks */
    cmp.w   r3, #0
    beq.w   2f
1:  ldr.w   r2, [sp, #4]
    load_state r2
    add.w   r2, r2, #16
    str.w   r2, [sp, #4]
    table
    round   1, r2, r3, r4, r9, r5, r6, r7, r8
    round   2, r5, r6, r7, r8, r2, r3, r4, r9
    rounds_3_to_10
    ldr.w   r1, [sp]
    ldr.w   r2, [sp, #8]
    str.w   r5, [r1], #4
    str.w   r6, [r1], #4
    str.w   r7, [r1], #4
    str.w   r8, [r1], #4
    str.w   r1, [sp]
    subs.w  r2, r2, #1
    str.w   r2, [sp, #8]
    bne.w   1b
2:  mov.w   r0, #0
    add     sp, #12
    pop.w   {r4-r11, pc}

/* name:       int sunseal_aes128_tbox_ctr(const void *schedule, uint8_t *out, const uint8_t *in, uint8_t *counter,
 *                                         size_t blocks)
 * registers:  as above
 * stack:      84 bytes
 * cycles:     519 a block of 64
 *
 * Of 256 blocks in a row only byte 15 of the counter differs: of the first round's columns only column 0 does, by
 * one look-up, and each column of the second round by one. The rest is kept, at the stack pointer:
 *   0 byte 15 of the counter, 4 of round key 0, 8 round 1 column 0 without byte 15, 12.. round 2 without it,
 *   28 out, 32 in, 36 counter, 40 saved, 76 blocks
 */
    .balign 4
    function sunseal_aes128_tbox_ctr
    push.w  {r1-r11, lr}
    sub     sp, #28
    ldr.w   r2, [sp, #76]
    cmp.w   r2, #0
    beq.w   5f
1:  ldr.w   r3, [sp, #36]
    load_state r3
    table
    ldrb.w  r2, [r3, #15]
    str.w   r2, [sp]
    lsr.w   r3, lr, #24
    str.w   r3, [sp, #4]
    /* Round 1: the entry of byte 15 is taken out again. */
    round   1, r2, r3, r4, r9, r5, r6, r7, r8
    lsr.w   r12, r8, #24
    ldr.w   r12, [r1, r12, lsl #2]
    eor.w   r2, r2, r12, ror #8
    str.w   r2, [sp, #8]
    /* Round 2 with 0 for column 0, whose four entries are taken out again. */
    mov.w   r2, #0
    round   2, r5, r6, r7, r8, r2, r3, r4, r9
    ldr.w   r2, [r1]
    eor.w   r5, r5, r2
    eor.w   r6, r6, r2, ror #8
    eor.w   r7, r7, r2, ror #16
    eor.w   r8, r8, r2, ror #24
    add.w   r2, sp, #12
    stm.w   r2, {r5-r8}
2:  ldm.w   sp, {r2-r8}
    eor.w   r2, r2, r3
    ldr.w   r2, [r1, r2, lsl #2]
    eor.w   r4, r4, r2, ror #8
    uxtb.w  r9, r4
    uxtb.w  r10, r4, ror #8
    uxtb.w  r11, r4, ror #16
    lsr.w   r12, r4, #24
    ldr.w   r9, [r1, r9, lsl #2]
    ldr.w   r10, [r1, r10, lsl #2]
    ldr.w   r11, [r1, r11, lsl #2]
    ldr.w   r12, [r1, r12, lsl #2]
    eor.w   r5, r5, r9
    eor.w   r8, r8, r10, ror #24
    eor.w   r7, r7, r11, ror #16
    eor.w   r6, r6, r12, ror #8
    rounds_3_to_10
    sub.w   r1, r1, #1
    ldr.w   r2, [sp, #28]
    ldr.w   r3, [sp, #32]
    ldr.w   r12, [sp]
    ldr.w   lr, [sp, #76]
    ldr.w   r4, [r3], #4
    ldr.w   r9, [r3], #4
    ldr.w   r10, [r3], #4
    ldr.w   r11, [r3], #4
    eor.w   r5, r5, r4
    eor.w   r6, r6, r9
    eor.w   r7, r7, r10
    eor.w   r8, r8, r11
    str.w   r5, [r2], #4
    str.w   r6, [r2], #4
    str.w   r7, [r2], #4
    str.w   r8, [r2], #4
    add.w   r12, r12, #1
    strd    r2, r3, [sp, #28]
    str.w   r12, [sp]
    subs.w  lr, lr, #1
    str.w   lr, [sp, #76]
    beq.w   3f
    lsrs.w  r2, r12, #8
    beq.w   2b
    /* The counter's last byte, and on overflow the others: 1 + them. */
3:  ldr.w   r3, [sp, #36]
    strb.w  r12, [r3, #15]
    lsr.w   r2, r12, #8
    mov.w   r4, #14
4:  ldrb.w  r5, [r3, r4]
    add.w   r5, r5, r2
    strb.w  r5, [r3, r4]
    lsr.w   r2, r5, #8
    subs.w  r4, r4, #1
    bpl.w   4b
    cmp.w   lr, #0
    bne.w   1b
5:  mov.w   r0, #0
    .irp at, 8, 12, 16, 20, 24
    str.w   r0, [sp, #\at]
    .endr
    add     sp, #40
    pop.w   {r4-r11, pc}
