/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * AES-128, two blocks in eight slices; fixslice.h says how. Slice b is in register 4 + b. All instructions are
 * wide and aligned, which the fetch unit needs to keep up; what does not fit into the registers waits on the
 * stack: the words that the S-box wants, the address of the round keys, a count.
 */
    .syntax unified
    .thumb
#include "function.inc"
#include "fixslice_armv7em.inc"

    .set WAITING, 18
    .set FRAME, 4*(WAITING + 2)

    /* SubBytes without its constant */
    .macro substitute
    str.w   r0, [sp, #4*WAITING]
#include "aes_fixslice_armv7em.inc"
    ldr.w   r0, [sp, #4*WAITING]
    .endm

    .macro add_key
    ldm.w   r0!, {r1, r2, r3, r12}
    eor.w   r4, r4, r1
    eor.w   r5, r5, r2
    eor.w   r6, r6, r3
    eor.w   r7, r7, r12
    ldm.w   r0!, {r1, r2, r3, r12}
    eor.w   r8, r8, r1
    eor.w   r9, r9, r2
    eor.w   r10, r10, r3
    eor.w   r11, r11, r12
    .endm

    /* to = the byte of the next row, \k of ShiftRows being left out, once turned by 2k (8 where k is 0): a word to the
     * right by 8, and in each byte by 2k. Both parts of a byte go one way together, then the rest of it. */
    .macro below to, from, k
    .if \k == 1
    and.w   \to, \from, #0x03030303
    .elseif \k == 2
    and.w   \to, \from, #0x0f0f0f0f
    .else
    and.w   \to, \from, #0x3f3f3f3f
    .endif
    eor.w   lr, \from, \to
    eor.w   \to, \to, lr, ror #8
    .endm

    /* One slice of MixColumns: with t = a + below(a), 2t + below(a) + two_below(t). 2t is t of the slice beneath
     * and, in bits 1, 3 and 4, of slice 7, which is in r3. t is in q, below(a) in u; both of the next slice are left
     * in q_next and u_next. */
    .macro mix q, u, q_next, u_next, k, fold
    below   \u_next, \q_next, \k
    eor.w   \q_next, \q_next, \u_next, ror #(2*\k)
    mix_sum \q, \u, \q_next, \k
    .if \fold
    eor.w   \q, \q, r3
    .endif
    .endm

    .macro mix_sum q, u, twice, k
    .if \k == 2
    eor.w   r12, \twice, \u, ror #4
    eor.w   \q, r12, \q, ror #16
    .else
    and.w   r12, \q, #0x0f0f0f0f
    eor.w   lr, \q, r12
    eor.w   r12, r12, lr, ror #8
    eor.w   lr, \twice, \u, ror #(2*\k)
    eor.w   \q, lr, r12, ror #12
    .endif
    .endm

    .macro mix_columns k
    below   r1, r11, \k
    eor.w   r11, r11, r1, ror #(2*\k)
    mov.w   r3, r11
    mix     r11, r1, r10, r2, \k, 0
    mix     r10, r2, r9, r1, \k, 0
    mix     r9, r1, r8, r2, \k, 0
    mix     r8, r2, r7, r1, \k, 1
    mix     r7, r1, r6, r2, \k, 1
    mix     r6, r2, r5, r1, \k, 0
    mix     r5, r1, r4, r2, \k, 1
    mix_sum r4, r2, r3, \k
    .endm

    /* With no ShiftRows left out, below(a) is a turned, and t goes to t_next. */
    .macro mix_whole q, t, q_next, t_next, fold
    eor.w   \t_next, \q_next, \q_next, ror #8
    eor.w   lr, \t_next, \q, ror #8
    eor.w   \q, lr, \t, ror #16
    .if \fold
    eor.w   \q, \q, r3
    .endif
    .endm

    .macro mix_columns_whole
    eor.w   r1, r11, r11, ror #8
    mov.w   r3, r1
    mix_whole r11, r1, r10, r2, 0
    mix_whole r10, r2, r9, r1, 0
    mix_whole r9, r1, r8, r2, 0
    mix_whole r8, r2, r7, r1, 1
    mix_whole r7, r1, r6, r2, 1
    mix_whole r6, r2, r5, r1, 0
    mix_whole r5, r1, r4, r2, 1
    eor.w   lr, r3, r4, ror #8
    eor.w   r4, lr, r2, ror #16
    .endm

    .macro round k
    substitute
    .if \k
    mix_columns \k
    .else
    mix_columns_whole
    .endif
    add_key
    .endm

/* name:       int sunseal_aes128_fixslice_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
 * registers:  r4..r11 = slices, r0 = round keys
 * stack:      132 bytes
 * cycles:     2629 for two blocks
 */
    .balign 4
    function sunseal_aes128_fixslice_encrypt
    push.w  {r0-r11, lr}                    /* at FRAME: schedule, out, in, blocks */
    sub     sp, #FRAME
    cmp.w   r3, #0
    beq.w   9f
1:  ldr.w   r0, [sp, #FRAME]
    ldr.w   r2, [sp, #FRAME+8]
    ldr.w   r3, [sp, #FRAME+12]
    cmp.w   r3, #1
    ite     eq
    moveq.w r1, #0                          /* a last single block goes twice */
    movne.w r1, #16
    ldr.w   r4, [r2]
    ldr.w   r6, [r2, #4]
    ldr.w   r8, [r2, #8]
    ldr.w   r10, [r2, #12]
    add.w   r2, r2, r1
    ldr.w   r5, [r2]
    ldr.w   r7, [r2, #4]
    ldr.w   r9, [r2, #8]
    ldr.w   r11, [r2, #12]
    add.w   r2, r2, #16
    str.w   r2, [sp, #FRAME+8]
    turn
    add_key
    mov.w   r1, #2
    str.w   r1, [sp, #4*WAITING+4]
2:  round   1
    round   2
    round   3
    round   0
    ldr.w   r1, [sp, #4*WAITING+4]
    subs.w  r1, r1, #1
    str.w   r1, [sp, #4*WAITING+4]
    bne.w   2b
    round   1
    substitute
    .irp q, r4, r5, r6, r7, r8, r9, r10, r11
    /* Ten ShiftRows are two: rows 1 and 3 by two columns. */
    swap_step 4, 0x0f000f00, r12, \q, \q
    .endr
    add_key
    turn
    ldr.w   r1, [sp, #FRAME+4]
    ldr.w   r2, [sp, #FRAME+12]
    str.w   r4, [r1], #4
    str.w   r6, [r1], #4
    str.w   r8, [r1], #4
    str.w   r10, [r1], #4
    subs.w  r2, r2, #1
    beq.w   9f
    str.w   r5, [r1], #4
    str.w   r7, [r1], #4
    str.w   r9, [r1], #4
    str.w   r11, [r1], #4
    str.w   r1, [sp, #FRAME+4]
    subs.w  r2, r2, #1
    str.w   r2, [sp, #FRAME+12]
    bne.w   1b
9:  mov.w   r0, #0
    .set SLOT, 0
    .rept WAITING
    str.w   r0, [sp, #4*SLOT]
    .set SLOT, SLOT + 1
    .endr
    add     sp, #FRAME+16
    pop.w   {r4-r11, pc}
