/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * SHA-1's compression, FIPS 180-4, section 6.1.2, for the Cortex-M4.
 *
 * c, d and e lie turned left by 2: that b turns before it becomes c is left to the shifter of whoever reads
 * them. umaal adds three numbers in one cycle: lo + hi + one x n, where one = 1; hi is lost. The state never
 * moves: the names of the registers do, round by round. All instructions are wide and aligned, which the fetch
 * unit needs to keep up.
 */
    .syntax unified
    .thumb
#include "function.inc"

    /* e += rotl(a, 5) + f(b, c, d) + K + W, f by its kind. K in r9, 1 in r10 */
    .macro round kind, w, a, b, c, d, e
    eor.w   r0, \c, \d
    add.w   \e, r9, \e, ror #2
    .ifc \kind, parity
    eor.w   r0, \b, r0, ror #2              /* b ^ c ^ d */
    .else
    .ifc \kind, majority
    and.w   r1, \c, \d                      /* (c & d) + (b & (c ^ d)) */
    add.w   \e, \e, r1, ror #2
    .endif
    and.w   r0, \b, r0, ror #2
    .ifc \kind, choose
    eor.w   r0, r0, \d, ror #2              /* d ^ (b & (c ^ d)) */
    .endif
    .endif
    umaal   \e, r0, \w, r10
    add.w   \e, \e, \a, ror #27
    .endm

    /* w = W[t], and into the stack. At lr the block; later w is W[t-3] before */
    .macro word t, w
    .if \t < 16
    ldr.w   \w, [lr, #4*(\t)]
    rev.w   \w, \w
    .else
    ldr.w   r0, [sp, #4*((\t) % 16)]
    ldr.w   r1, [sp, #4*((\t - 14) % 16)]
    ldr.w   r2, [sp, #4*((\t - 8) % 16)]
    eor.w   \w, \w, r0
    eor.w   \w, \w, r1
    eor.w   \w, \w, r2
    mov.w   \w, \w, ror #31
    .endif
    .if \t < 77
    str.w   \w, [sp, #4*((\t) % 16)]
    .endif
    .endm

    /* Round t with W in the one of r3, r11, r12 that is t mod 3 */
    .macro step kind, t, a, b, c, d, e
    .if (\t) % 3 == 0
    word    \t, r3
    round   \kind, r3, \a, \b, \c, \d, \e
    .elseif (\t) % 3 == 1
    word    \t, r11
    round   \kind, r11, \a, \b, \c, \d, \e
    .else
    word    \t, r12
    round   \kind, r12, \a, \b, \c, \d, \e
    .endif
    .endm

    .macro five_rounds kind, t
    step    \kind, \t,     r4, r5, r6, r7, r8
    step    \kind, \t + 1, r8, r4, r5, r6, r7
    step    \kind, \t + 2, r7, r8, r4, r5, r6
    step    \kind, \t + 3, r6, r7, r8, r4, r5
    step    \kind, \t + 4, r5, r6, r7, r8, r4
    .endm

    .macro twenty_rounds kind, t, constant
    movw    r9, #(\constant) & 0xffff
    movt    r9, #(\constant) >> 16
    five_rounds \kind, \t
    five_rounds \kind, \t + 5
    five_rounds \kind, \t + 10
    five_rounds \kind, \t + 15
    .endm

/* void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64])
 *
 * registers:  r4..r8 = a..e; r9 = K; r10 = 1; r3, r11, r12 = the last three W; lr = block; r0..r2 = parts
 * stack:      104 bytes, of which W[16] is wiped
 * cycles:     1187
 */
    function sunseal_sha1_compress
    .p2align 2
    push.w  {r0, r4, r5, r6, r7, r8, r9, r10, r11, lr}
    sub.w   sp, sp, #64
    mov.w   lr, r1
    ldm.w   r0, {r4, r5, r6, r7, r8}
    mov.w   r10, #1
    mov.w   r6, r6, ror #30
    mov.w   r7, r7, ror #30
    mov.w   r8, r8, ror #30
    twenty_rounds choose, 0, 0x5a827999
    twenty_rounds parity, 20, 0x6ed9eba1
    twenty_rounds majority, 40, 0x8f1bbcdc
    twenty_rounds parity, 60, 0xca62c1d6
    ldr.w   lr, [sp, #64]
    ldm.w   lr, {r0, r1, r2, r3, r12}
    add.w   r0, r0, r4
    add.w   r1, r1, r5
    add.w   r2, r2, r6, ror #2
    add.w   r3, r3, r7, ror #2
    add.w   r12, r12, r8, ror #2
    stm.w   lr, {r0, r1, r2, r3, r12}
    mov.w   r4, #0
    mov.w   r5, #0
    mov.w   r6, #0
    mov.w   r7, #0
    mov.w   r8, #0
    mov.w   r9, #0
    mov.w   r10, #0
    mov.w   r11, #0
    stmia.w sp!, {r4, r5, r6, r7, r8, r9, r10, r11}
    stmia.w sp!, {r4, r5, r6, r7, r8, r9, r10, r11}
    pop.w   {r0, r4, r5, r6, r7, r8, r9, r10, r11, pc}
    .size sunseal_sha1_compress, . - sunseal_sha1_compress
