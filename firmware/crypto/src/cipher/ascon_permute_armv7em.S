/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Ascon's permutation, SP 800-232, section 3, on words whose even and odd bits stand apart (ascon_words_armv7em.c):
 * turned to the right by 2k both turn by k, by 2k + 1 the even ones are the odd ones by k and the odd ones the even
 * ones by k + 1. The whole state is in registers. All instructions are wide and aligned, which the fetch unit needs
 * to keep up.
 */
    .syntax unified
    .thumb
#include "function.inc"

    /* The substitution on the even or odd bits of the five words */
    .macro substitute a, b, c, d, e
    eor.w   \a, \a, \e
    eor.w   \e, \e, \d
    eor.w   \c, \c, \b
    bic.w   r10, \b, \a                     /* ~x0 & x1 */
    orn.w   r11, \e, \a                     /* ~(~x4 & x0) */
    bic.w   r12, \c, \b
    eor.w   \a, \a, r12
    bic.w   r12, \d, \c
    eor.w   \b, \b, r12
    orn.w   r12, \d, \e                     /* ~(~x3 & x4): x2 comes out complemented, as it should */
    eor.w   \c, \c, r12
    eor.w   \d, \d, r11
    eor.w   \e, \e, r10
    eor.w   \b, \b, \a
    eor.w   \a, \a, \e
    eor.w   \d, \d, \c                      /* and the two complements leave x3 as it is */
    .endm

    /* Word e:o += itself turned by 2i + 1 and by 2j */
    .macro diffuse e, o, i, j
    eor.w   r10, \e, \o, ror #\i
    eor.w   r11, \o, \e, ror #(\i + 1)
    eor.w   \e, r10, \e, ror #\j
    eor.w   \o, r11, \o, ror #\j
    .endm

    /* The same turned by 2i + 1 and by 2j + 1 */
    .macro diffuse_odd e, o, i, j
    eor.w   r10, \e, \o, ror #\i
    eor.w   r11, \o, \e, ror #(\i + 1)
    eor.w   r10, r10, \o, ror #\j
    eor.w   \o, r11, \e, ror #(\j + 1)
    mov.w   \e, r10
    .endm

    /* The same turned by 1, so that nothing is left of i, and by 2j */
    .macro diffuse_one e, o, j
    eor.w   r10, \e, \o
    eor.w   r11, \o, \e, ror #1
    eor.w   \e, r10, \e, ror #\j
    eor.w   \o, r11, \o, ror #\j
    .endm

    /* The round with the constant whose even and odd bits are these: 56 instructions */
    .macro round even, odd
    eor.w   r4, r4, #\even
    eor.w   r5, r5, #\odd
    substitute r0, r2, r4, r6, r8
    substitute r1, r3, r5, r7, r9
    diffuse r0, r1, 9, 14                   /* 19 and 28 */
    diffuse_odd r2, r3, 30, 19              /* 61 and 39 */
    diffuse_one r4, r5, 3                   /* 1 and 6 */
    diffuse r6, r7, 8, 5                    /* 17 and 10 */
    diffuse_odd r8, r9, 3, 20               /* 7 and 41 */
    .endm
    .set ROUND_BYTES, 56 * 4

/* name:       void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds)
 * registers:  r0..r9 = words 0 to 4, even bits and odd bits
 * stack:      40 bytes
 * cycles:     730 for 12 rounds
 */
    .balign 4
    function sunseal_ascon_permute
    push.w  {r0, r4-r11, lr}
    rsb.w   r1, r1, #12
    mov.w   r2, #ROUND_BYTES
    adr.w   r12, 1f
    mla     r12, r1, r2, r12
    orr.w   r12, r12, #1                    /* Thumb */
    ldm.w   r0, {r0-r9}
    bx      r12
    .balign 4
1:  round   0xc, 0xc                        /* 0xf0 */
    round   0x9, 0xc                        /* 0xe1 */
    round   0xc, 0x9                        /* 0xd2 */
    round   0x9, 0x9                        /* 0xc3 */
    round   0x6, 0xc                        /* 0xb4 */
    round   0x3, 0xc                        /* 0xa5 */
    round   0x6, 0x9                        /* 0x96 */
    round   0x3, 0x9                        /* 0x87 */
    round   0xc, 0x6                        /* 0x78 */
    round   0x9, 0x6                        /* 0x69 */
    round   0xc, 0x3                        /* 0x5a */
    round   0x9, 0x3                        /* 0x4b */
    ldr.w   r10, [sp]
    stm.w   r10, {r0-r9}
    add     sp, #4
    pop.w   {r4-r11, pc}
