/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * AES-128's encryption by the S-box alone; four bytes of a column are multiplied by 2 at once. All instructions are
 * wide and aligned, which the fetch unit needs to keep up; loads stand together, so that all but the first take one
 * cycle.
 */
    .syntax unified
    .thumb
#include "function.inc"
#include "aes_s_armv7em.inc"

    /* SubBytes and ShiftRows, r4..r7 to r8..r11 */
    .macro substitute
    gather  r8, r4, r5, r6, r7, r12, lr, r11
    gather  r9, r5, r6, r7, r4, r12, lr, r11
    gather  r10, r6, r7, r4, r5, r12, lr, r11
    gather  r11, r7, r4, r5, r6, r12, lr, r7
    .endm

    /* One column of MixColumns: with t = a + the byte below, 2t + the byte below + two_below(t). A carry out of a byte
     * chooses the one that is reduced. */
    .macro mix to, from
    eor.w   r12, \from, \from, ror #8
    uadd8   lr, r12, r12
    eor.w   \to, lr, r2
    sel     \to, \to, lr
    eor.w   \to, \to, \from, ror #8
    eor.w   \to, \to, r12, ror #16
    .endm

    .macro add_key a, b, c, d, e, f, g, h
    ldm.w   r0!, {\e, \f, \g, \h}
    eor.w   \a, \a, \e
    eor.w   \b, \b, \f
    eor.w   \c, \c, \g
    eor.w   \d, \d, \h
    .endm

/* name:       int sunseal_aes128_sbox_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks)
 * registers:  r4..r7 = state, r0 = round keys, r1 = S-box, r2 = reduction in each byte, r3 = count
 * stack:      52 bytes
 * cycles:     850 for one block
 */
    .balign 4
    function sunseal_aes128_sbox_encrypt
    push.w  {r0-r11, lr}                    /* [sp]: schedule, out, in, blocks */
    cmp.w   r3, #0
    beq.w   3f
    s_box   r1
    mov.w   r2, #0x1b1b1b1b
1:  ldr.w   r3, [sp, #8]
    ldr.w   r0, [sp]
    ldr.w   r4, [r3]
    ldr.w   r5, [r3, #4]
    ldr.w   r6, [r3, #8]
    ldr.w   r7, [r3, #12]
    add.w   r3, r3, #16
    str.w   r3, [sp, #8]
    add_key r4, r5, r6, r7, r8, r9, r10, r11
    mov.w   r3, #9
2:  substitute
    mix     r4, r8
    mix     r5, r9
    mix     r6, r10
    mix     r7, r11
    add_key r4, r5, r6, r7, r8, r9, r10, r11
    subs.w  r3, r3, #1
    bne.w   2b
    substitute
    add_key r8, r9, r10, r11, r4, r5, r6, r7
    ldr.w   r3, [sp, #4]
    str.w   r8, [r3], #4
    str.w   r9, [r3], #4
    str.w   r10, [r3], #4
    str.w   r11, [r3], #4
    str.w   r3, [sp, #4]
    ldr.w   r3, [sp, #12]
    subs.w  r3, r3, #1
    str.w   r3, [sp, #12]
    bne.w   1b
3:  mov.w   r0, #0
    add     sp, #16
    pop.w   {r4-r11, pc}
