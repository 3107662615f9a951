/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * SHA-256's compression, FIPS 180-4, section 6.2.2, for the Cortex-M4.
 *
 * umaal adds three numbers in one cycle: lo + hi + one x n, where one = 1; hi is lost. So T1 takes Ch as the
 * sum of its two halves, which have no bit in common, and K with W; Maj likewise. The state never moves: the
 * names of the registers do, round by round. All instructions are wide and aligned, which the fetch unit needs
 * to keep up.
 */
    .syntax unified
    .thumb
#include "function.inc"
#include "wipe_armv7em.inc"

#define K(x) .word x

    /* One round: h += W + K + Sigma1(e) + Ch, d += h, h += Sigma0(a) + Maj. W in r0, K in r1, temporary r2 */
    .macro round a, b, c, d, e, f, g, h
    umaal   \h, r1, r0, r12                 /* + K + W */
    eor.w   r1, \e, \e, ror #5              /* Sigma1 turns by 6, 11, 25: e, by 5 and by 19 together by 6 */
    and.w   r0, \e, \f
    eor.w   r1, r1, \e, ror #19
    bic.w   r2, \g, \e
    add.w   \h, \h, r1, ror #6
    umaal   \h, r0, r2, r12
    eor.w   r1, \a, \a, ror #11             /* Sigma0 turns by 2, 13, 22 */
    add.w   \d, \d, \h
    eor.w   r1, r1, \a, ror #20
    eor.w   r2, \a, \b
    add.w   \h, \h, r1, ror #2
    and.w   r0, \a, \b
    and.w   r2, r2, \c
    umaal   \h, r0, r2, r12
    .endm

    /* A round of the first sixteen; r3 = block */
    .macro first t, a, b, c, d, e, f, g, h
    ldr.w   r0, [r3, #4*(\t)]
    ldr.w   r1, constants + 4*(\t)
    rev.w   r0, r0
    str.w   r0, [sp, #4*(\t)]
    round   \a, \b, \c, \d, \e, \f, \g, \h
    .endm

    /* A later round; r3 or lr, by turns, keeps W[t-15] for the next as W[t-16].
     * W[t] = sigma1(W[t-2]) + W[t-7] + sigma0(W[t-15]) + W[t-16] */
    .macro later t, old, next, a, b, c, d, e, f, g, h
    ldr.w   r0, [sp, #4*((\t - 7) % 16)]
    ldr.w   \next, [sp, #4*((\t - 15) % 16)]
    ldr.w   r2, [sp, #4*((\t - 2) % 16)]
    ldr.w   r1, constants + 4*(\t)
    add.w   \old, \old, r0
    mov.w   r0, \next, ror #7
    eor.w   r0, r0, \next, ror #18
    eor.w   r0, r0, \next, lsr #3
    add.w   \old, \old, r0
    mov.w   r0, r2, ror #17
    eor.w   r0, r0, r2, ror #19
    eor.w   r0, r0, r2, lsr #10
    add.w   r0, r0, \old
    .if \t < 62
    str.w   r0, [sp, #4*((\t) % 16)]
    .endif
    round   \a, \b, \c, \d, \e, \f, \g, \h
    .endm

    .macro eight_first t
    first   \t,     r4, r5, r6, r7, r8, r9, r10, r11
    first   \t + 1, r11, r4, r5, r6, r7, r8, r9, r10
    first   \t + 2, r10, r11, r4, r5, r6, r7, r8, r9
    first   \t + 3, r9, r10, r11, r4, r5, r6, r7, r8
    first   \t + 4, r8, r9, r10, r11, r4, r5, r6, r7
    first   \t + 5, r7, r8, r9, r10, r11, r4, r5, r6
    first   \t + 6, r6, r7, r8, r9, r10, r11, r4, r5
    first   \t + 7, r5, r6, r7, r8, r9, r10, r11, r4
    .endm

    .macro eight_later t
    later   \t,     r3, lr, r4, r5, r6, r7, r8, r9, r10, r11
    later   \t + 1, lr, r3, r11, r4, r5, r6, r7, r8, r9, r10
    later   \t + 2, r3, lr, r10, r11, r4, r5, r6, r7, r8, r9
    later   \t + 3, lr, r3, r9, r10, r11, r4, r5, r6, r7, r8
    later   \t + 4, r3, lr, r8, r9, r10, r11, r4, r5, r6, r7
    later   \t + 5, lr, r3, r7, r8, r9, r10, r11, r4, r5, r6
    later   \t + 6, r3, lr, r6, r7, r8, r9, r10, r11, r4, r5
    later   \t + 7, lr, r3, r5, r6, r7, r8, r9, r10, r11, r4
    .endm

/* void sunseal_sha256_compress(uint32_t state[8], const uint8_t block[64])
 *
 * registers:  r4..r11 = a..h; r12 = 1; r3 = block, then with lr W[t-16] and W[t-15]; r0..r2 = parts
 * stack:      104 bytes, of which W[16] is wiped
 * cycles:     1854
 */
    function sunseal_sha256_compress
    .p2align 2
    push.w  {r0, r4, r5, r6, r7, r8, r9, r10, r11, lr}
    sub.w   sp, sp, #64
    mov.w   r3, r1
    ldm.w   r0, {r4, r5, r6, r7, r8, r9, r10, r11}
    mov.w   r12, #1
    eight_first 0
    eight_first 8
    ldr.w   r3, [sp]
    eight_later 16
    eight_later 24
    b.w     1f
    .p2align 2
constants:
#include "sha256_k.inc"
1:  eight_later 32
    eight_later 40
    eight_later 48
    eight_later 56
    ldr.w   lr, [sp, #64]
    ldm.w   lr, {r0, r1, r2, r3}
    add.w   r0, r0, r4
    add.w   r1, r1, r5
    add.w   r2, r2, r6
    add.w   r3, r3, r7
    stm.w   lr!, {r0, r1, r2, r3}
    ldm.w   lr, {r0, r1, r2, r3}
    add.w   r0, r0, r8
    add.w   r1, r1, r9
    add.w   r2, r2, r10
    add.w   r3, r3, r11
    stm.w   lr, {r0, r1, r2, r3}
    wipe    2
    pop.w   {r0, r4, r5, r6, r7, r8, r9, r10, r11, pc}
