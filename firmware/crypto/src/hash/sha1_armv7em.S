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
#include "wipe_armv7em.inc"

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

    /* A round by its number, whose K is in r9 and W in the one of r3, r11, r12 that is t mod 3 */
    .macro round_in t, w, a, b, c, d, e
    .if \t < 20
    round   choose, \w, \a, \b, \c, \d, \e
    .elseif \t >= 40 && \t < 60
    round   majority, \w, \a, \b, \c, \d, \e
    .else
    round   parity, \w, \a, \b, \c, \d, \e
    .endif
    .endm

    .macro round_of w
    .if t % 5 == 0
    round_in t, \w, r4, r5, r6, r7, r8
    .elseif t % 5 == 1
    round_in t, \w, r8, r4, r5, r6, r7
    .elseif t % 5 == 2
    round_in t, \w, r7, r8, r4, r5, r6
    .elseif t % 5 == 3
    round_in t, \w, r6, r7, r8, r4, r5
    .else
    round_in t, \w, r5, r6, r7, r8, r4
    .endif
    .endm

    .macro constant value
    movw    r9, #(\value) & 0xffff
    movt    r9, #(\value) >> 16
    .endm

    /* So many rounds, from t on */
    .macro rounds count
    .rept \count
    .if t == 0
    constant 0x5a827999
    .elseif t == 20
    constant 0x6ed9eba1
    .elseif t == 40
    constant 0x8f1bbcdc
    .elseif t == 60
    constant 0xca62c1d6
    .endif
    .if t % 3 == 0
    round_of r3
    .elseif t % 3 == 1
    round_of r11
    .else
    round_of r12
    .endif
    .set t, t + 1
    .endr
    .endm

    .macro place at, w
    .if \at < 72                            /* nobody reads the last eight again */
    str.w   \w, [sp, #4*((\at) % 16)]
    .endif
    .endm

    .macro earlier at, reg
    ldr.w   \reg, [sp, #4*((\at) % 16)]
    .endm

    /* Three rounds with words of the block at lr */
    .macro first_three
    ldr.w   r3, [lr, #4*t]
    ldr.w   r11, [lr, #4*t + 4]
    ldr.w   r12, [lr, #4*t + 8]
    rev.w   r3, r3
    rev.w   r11, r11
    rev.w   r12, r12
    place   t, r3
    place   t + 1, r11
    place   t + 2, r12
    rounds  3
    .endm

    /* A round with word 15 of the block */
    .macro fifteenth
    ldr.w   r3, [lr, #60]
    rev.w   r3, r3
    place   15, r3
    rounds  1
    .endm

    /* w = W[t] from what is in place, where terms are those of W[t-16], W[t-14], W[t-8] that count and w is W[t-3] */
    .macro from w, terms:vararg
    .irp term, \terms
    earlier t - \term, r0
    eor.w   \w, \w, r0
    .endr
    turned  \w
    .endm

    /* The same of no further word: GNU as goes once through an empty list. */
    .macro turned w
    mov.w   \w, \w, ror #31
    place   t, \w
    rounds  1
    .endm

    .macro one w
    earlier t - 16, r0
    earlier t - 14, r1
    earlier t - 8, r2
    eor.w   \w, \w, r0
    eor.w   \w, \w, r1
    eor.w   \w, \w, r2
    mov.w   \w, \w, ror #31
    place   t, \w
    rounds  1
    .endm

    /* Three rounds with u, v, w = W[t], W[t+1], W[t+2], which are W[t-3], W[t-2], W[t-1] before */
    .macro three u, v, w
    earlier t - 16, r0
    earlier t - 15, r1
    earlier t - 14, r2
    earlier t - 13, lr
    eor.w   \u, \u, r0
    eor.w   \u, \u, r2
    eor.w   \v, \v, r1
    eor.w   \v, \v, lr
    eor.w   \w, \w, r2
    earlier t - 12, r0
    earlier t - 8, r1
    earlier t - 7, r2
    earlier t - 6, lr
    eor.w   \w, \w, r0
    eor.w   \u, \u, r1
    eor.w   \v, \v, r2
    eor.w   \w, \w, lr
    mov.w   \u, \u, ror #31
    mov.w   \v, \v, ror #31
    mov.w   \w, \w, ror #31
    place   t, \u
    place   t + 1, \v
    place   t + 2, \w
    rounds  3
    .endm

    .macro enter_compression
    push.w  {r0, r4, r5, r6, r7, r8, r9, r10, r11, lr}
    sub.w   sp, sp, #64
    mov.w   lr, r1
    ldm.w   r0, {r4, r5, r6, r7, r8}
    mov.w   r10, #1
    mov.w   r6, r6, ror #30
    mov.w   r7, r7, ror #30
    mov.w   r8, r8, ror #30
    .set t, 0
    .endm

    .macro leave_compression
    ldr.w   lr, [sp, #64]
    ldm.w   lr, {r0, r1, r2, r3, r12}
    add.w   r0, r0, r4
    add.w   r1, r1, r5
    add.w   r2, r2, r6, ror #2
    add.w   r3, r3, r7, ror #2
    add.w   r12, r12, r8, ror #2
    stm.w   lr, {r0, r1, r2, r3, r12}
    wipe    2
    pop.w   {r0, r4, r5, r6, r7, r8, r9, r10, r11, pc}
    .endm

/* void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64])
 *
 * registers:  r4..r8 = a..e; r9 = K; r10 = 1; r3, r11, r12 = the last three W; lr = block; r0..r2 and lr = parts
 * stack:      104 bytes, of which W[16] is wiped
 * cycles:     1130
 */
    function sunseal_sha1_compress
    .p2align 2
    enter_compression
    .rept 5
    first_three
    .endr
    fifteenth
    one     r11
    .rept 21
    three   r12, r3, r11
    .endr
    leave_compression

/* void sunseal_sha1_compress_short(uint32_t state[5], const uint8_t block[64])
 *
 * The same where words 6 to 14 of the block are all the same word z: what of the first W is z twice falls out.
 *
 * stack:      104 bytes, of which W[16] is wiped
 * cycles:     1080
 */
    function sunseal_sha1_compress_short
    .p2align 2
    enter_compression
    first_three
    first_three
    ldr.w   r3, [lr, #24]
    rev.w   r3, r3
    str.w   r3, [sp, #4 * 14]
    mov.w   r11, r3
    mov.w   r12, r3
    rounds  9
    fifteenth
    earlier 0, r11
    from    r11, 14                         /* 16: z + W[8] falls out */
    earlier 1, r12
    from    r12, 14
    earlier 14, r1
    eor.w   r3, r3, r1
    from    r3, 14, 16                      /* 18 */
    eor.w   r11, r11, r1
    from    r11, 14, 16
    from    r12, 16                         /* 20 */
    from    r3, 16
    earlier 14, r1
    eor.w   r11, r11, r1
    turned  r11
    from    r12, 8                          /* 23 */
    from    r3, 8
    from    r11, 8
    from    r12, 8
    from    r3, 8
    from    r11, 8
    earlier 14, r1
    eor.w   r12, r12, r1
    from    r12, 8, 14                      /* 29 */
    earlier 14, r1
    eor.w   r3, r3, r1
    from    r3, 8, 14
    one     r11
    .rept 16
    three   r12, r3, r11
    .endr
    leave_compression
