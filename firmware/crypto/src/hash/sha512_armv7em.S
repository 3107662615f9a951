/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * SHA-512's compression, FIPS 180-4, section 6.4.2, for the Cortex-M4.
 *
 * The state lies in the floating-point registers d0..d7, of which a double move reads two words in two cycles
 * wherever it comes; a and e are in core registers too. It never moves: names do, round by round. The schedule
 * of the next sixteen rounds is made in place before them. All instructions are wide and aligned, which the
 * fetch unit needs to keep up.
 */
    .syntax unified
    .thumb
#include "function.inc"
#include "wipe_armv7em.inc"

#define K(x) .quad x

    .section .rodata.sunseal_sha512_k,"a",%progbits
    .balign 8
sunseal_sha512_k:
#include "sha512_k.inc"

    /* to = x ^ (x turned right by m and by n) */
    .macro turns to0, to1, x0, x1, m, n
    eor.w   \to0, \x0, \x0, lsr #\m
    eor.w   \to1, \x1, \x1, lsr #\m
    eor.w   \to0, \to0, \x1, lsl #(32 - \m)
    eor.w   \to1, \to1, \x0, lsl #(32 - \m)
    eor.w   \to0, \to0, \x0, lsr #\n
    eor.w   \to1, \to1, \x1, lsr #\n
    eor.w   \to0, \to0, \x1, lsl #(32 - \n)
    eor.w   \to1, \to1, \x0, lsl #(32 - \n)
    .endm

    /* to += x turned right by n; the halves of each word have no bit in common */
    .macro add_turned to0, to1, x0, x1, n
    adds.w  \to0, \to0, \x0, lsr #\n
    adc.w   \to1, \to1, \x1, lsr #\n
    adds.w  \to0, \to0, \x1, lsl #(32 - \n)
    adc.w   \to1, \to1, \x0, lsl #(32 - \n)
    .endm

    /* One round. a in a1:a0, e in r7:r6, b ^ c in x1:x0; leaves a, that is T1 + T2, in t1:t0, e in r7:r6,
     * b ^ c in y1:y0 */
    .macro round t, a0, a1, t0, t1, x0, x1, y0, y1, b, d, f, g, h
    ldr.w   r0, [sp, #8*(\t)]
    ldr.w   r1, [sp, #8*(\t) + 4]
    ldr.w   \y0, [lr, #8*(\t)]
    ldr.w   \y1, [lr, #8*(\t) + 4]
    vmov    \t0, \t1, \h
    adds.w  \t0, \t0, r0
    adc.w   \t1, \t1, r1
    adds.w  \t0, \t0, \y0
    adc.w   \t1, \t1, \y1
    vmov    r0, r1, \f
    vmov    \y0, \y1, \g
    eor.w   r0, r0, \y0                     /* Ch = g ^ (e & (f ^ g)) */
    eor.w   r1, r1, \y1
    and.w   r0, r0, r6
    and.w   r1, r1, r7
    eor.w   r0, r0, \y0
    eor.w   r1, r1, \y1
    adds.w  \t0, \t0, r0
    adc.w   \t1, \t1, r1
    turns   r0, r1, r6, r7, 4, 27           /* Sigma1 turns by 14, 18, 41 */
    add_turned \t0, \t1, r0, r1, 14
    vmov    r6, r7, \d
    adds.w  r6, r6, \t0
    adc.w   r7, r7, \t1
    vmov    \d, r6, r7
    turns   r0, r1, \a0, \a1, 6, 11         /* Sigma0 turns by 28, 34, 39 */
    add_turned \t0, \t1, r0, r1, 28
    vmov    r0, r1, \b
    eor.w   \y0, \a0, r0                    /* Maj = b ^ ((a ^ b) & (b ^ c)) */
    eor.w   \y1, \a1, r1
    and.w   \x0, \x0, \y0
    and.w   \x1, \x1, \y1
    eor.w   \x0, \x0, r0
    eor.w   \x1, \x1, r1
    adds.w  \t0, \t0, \x0
    adc.w   \t1, \t1, \x1
    vmov    \h, \t0, \t1
    .endm

    .macro two_rounds t, a, b, c, d, e, f, g, h
    round   \t,     r4, r5, r10, r11, r8, r9, r2, r3, \b, \d, \f, \g, \h
    round   \t + 1, r10, r11, r4, r5, r2, r3, r8, r9, \a, \c, \e, \f, \g
    .endm

    .macro eight_rounds t
    two_rounds \t,     d0, d1, d2, d3, d4, d5, d6, d7
    two_rounds \t + 2, d6, d7, d0, d1, d2, d3, d4, d5
    two_rounds \t + 4, d4, d5, d6, d7, d0, d1, d2, d3
    two_rounds \t + 6, d2, d3, d4, d5, d6, d7, d0, d1
    .endm

    /* W[t] += sigma0(W[t+1]) + W[t+9] + sigma1(W[t+14]), numbers modulo 16; W[t] in w1:w0, leaves W[t+1] in
     * x1:x0 */
    .macro word t, w0, w1, x0, x1
    ldr.w   \x0, [sp, #8*((\t + 1) % 16)]
    ldr.w   \x1, [sp, #8*((\t + 1) % 16) + 4]
    ldr.w   r0, [sp, #8*((\t + 9) % 16)]
    ldr.w   r1, [sp, #8*((\t + 9) % 16) + 4]
    ldr.w   r2, [sp, #8*((\t + 14) % 16)]
    ldr.w   r3, [sp, #8*((\t + 14) % 16) + 4]
    adds.w  \w0, \w0, r0
    adc.w   \w1, \w1, r1
    mov.w   r0, \x0, lsr #1                 /* sigma0 turns by 1 and 8, shifts by 7 */
    mov.w   r1, \x1, lsr #1
    eor.w   r0, r0, \x1, lsl #31
    eor.w   r1, r1, \x0, lsl #31
    eor.w   r0, r0, \x0, lsr #8
    eor.w   r1, r1, \x1, lsr #8
    eor.w   r0, r0, \x1, lsl #24
    eor.w   r1, r1, \x0, lsl #24
    eor.w   r0, r0, \x0, lsr #7
    eor.w   r1, r1, \x1, lsr #7
    eor.w   r0, r0, \x1, lsl #25
    adds.w  \w0, \w0, r0
    adc.w   \w1, \w1, r1
    mov.w   r0, r2, lsr #19                 /* sigma1 turns by 19 and 61, shifts by 6 */
    mov.w   r1, r3, lsr #19
    eor.w   r0, r0, r3, lsl #13
    eor.w   r1, r1, r2, lsl #13
    eor.w   r0, r0, r2, lsl #3
    eor.w   r1, r1, r3, lsl #3
    eor.w   r0, r0, r3, lsr #29
    eor.w   r1, r1, r2, lsr #29
    eor.w   r0, r0, r2, lsr #6
    eor.w   r1, r1, r3, lsr #6
    eor.w   r0, r0, r3, lsl #26
    adds.w  \w0, \w0, r0
    adc.w   \w1, \w1, r1
    str.w   \w0, [sp, #8*((\t) % 16)]
    str.w   \w1, [sp, #8*((\t) % 16) + 4]
    .endm

    .macro two_words t
    word    \t, r4, r5, r6, r7
    word    \t + 1, r6, r7, r4, r5
    .endm

    /* state[0..1], at lr, += two of a..h */
    .macro add_two x, y
    vmov    r4, r5, \x
    vmov    r6, r7, \y
    ldm.w   lr, {r0, r1, r2, r3}
    adds.w  r0, r0, r4
    adc.w   r1, r1, r5
    adds.w  r2, r2, r6
    adc.w   r3, r3, r7
    stm.w   lr!, {r0, r1, r2, r3}
    .endm

/* void sunseal_sha512_compress(uint64_t state[8], const uint8_t block[128])
 *
 * registers:  d0..d7 = a..h; lr = K; others as the macros have them
 * stack:      168 bytes, of which W[16] is wiped
 * cycles:     7939
 */
    function sunseal_sha512_compress
    .p2align 2
    push.w  {r0, r4, r5, r6, r7, r8, r9, r10, r11, lr}
    sub.w   sp, sp, #128
    .set    at, 0
    .rept   16
    ldr.w   r2, [r1, #8*at]
    ldr.w   r3, [r1, #8*at + 4]
    rev.w   r2, r2
    rev.w   r3, r3
    str.w   r3, [sp, #8*at]
    str.w   r2, [sp, #8*at + 4]
    .set    at, at + 1
    .endr
    vldmia  r0, {d0-d7}
    movw    lr, #:lower16:sunseal_sha512_k
    movt    lr, #:upper16:sunseal_sha512_k
    mov.w   r12, #5
    b.w     2f
1:  ldr.w   r4, [sp]
    ldr.w   r5, [sp, #4]
    two_words 0
    two_words 2
    two_words 4
    two_words 6
    two_words 8
    two_words 10
    two_words 12
    two_words 14
2:  vmov    r0, r1, d1
    vmov    r8, r9, d2
    vmov    r4, r5, d0
    vmov    r6, r7, d4
    eor.w   r8, r8, r0
    eor.w   r9, r9, r1
    eight_rounds 0
    eight_rounds 8
    add.w   lr, lr, #128
    subs.w  r12, r12, #1
    bne.w   1b
    ldr.w   lr, [sp, #128]
    add_two d0, d1
    add_two d2, d3
    add_two d4, d5
    add_two d6, d7
    wipe    4
    .irp    i, 0, 1, 2, 3, 4, 5, 6, 7
    vmov    d\i, r4, r5
    .endr
    pop.w   {r0, r4, r5, r6, r7, r8, r9, r10, r11, pc}
