/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Ascon's permutation, SP 800-232, section 3, on words whose even and odd bits stand apart (ascon_words_armv7em.S):
 * turned to the right by 2k both turn by k, by 2k + 1 the even ones are the odd ones by k and the odd ones the even
 * ones by k + 1. The whole state is in registers. All instructions are wide and aligned, which the fetch unit needs
 * to keep up.
 */
    .syntax unified
    .thumb
#include "function.inc"

    /* The substitution on the even or odd bits of the five words; t, r11 and r12 are free. */
    .macro substitute a, b, c, d, e, t
    eor.w   \a, \a, \e
    eor.w   \e, \e, \d
    eor.w   \c, \c, \b
    bic.w   \t, \b, \a                      /* ~x0 & x1 */
    orn.w   r11, \e, \a                     /* ~(~x4 & x0) */
    bic.w   r12, \c, \b
    eor.w   \a, \a, r12
    bic.w   r12, \d, \c
    eor.w   \b, \b, r12
    orn.w   r12, \d, \e                     /* ~(~x3 & x4): x2 comes out complemented, as it should */
    eor.w   \c, \c, r12
    eor.w   \d, \d, r11
    eor.w   \e, \e, \t
    eor.w   \b, \b, \a
    eor.w   \a, \a, \e
    eor.w   \d, \d, \c                      /* and the two complements leave x3 as it is */
    .endm

    /* Word e:o += itself turned by 2i + 1 and by 2j */
    .macro diffuse e, o, i, j
    eor.w   r12, \e, \o, ror #\i
    eor.w   r11, \o, \e, ror #(\i + 1)
    eor.w   \e, r12, \e, ror #\j
    eor.w   \o, r11, \o, ror #\j
    .endm

    /* The same turned by 2i + 1 and by 2j + 1; the even bits come out in t, and e is free. */
    .macro diffuse_odd e, o, t, i, j
    eor.w   r12, \e, \o, ror #\i
    eor.w   r11, \o, \e, ror #(\i + 1)
    eor.w   \t, r12, \o, ror #\j
    eor.w   \o, r11, \e, ror #(\j + 1)
    .endm

    /* The same turned by 1, so that nothing is left of i, and by 2j */
    .macro diffuse_one e, o, j
    eor.w   r12, \e, \o
    eor.w   r11, \o, \e, ror #1
    eor.w   \e, r12, \e, ror #\j
    eor.w   \o, r11, \o, ror #\j
    .endm

    /* The round with the constant whose even and odd bits are these: 54 instructions. The even bits of words 1 and 4
     * go on in other registers, so that nothing is moved: of b, e and t they are in t and b after it. */
    .macro round even, odd, b, e, t
    eor.w   r4, r4, #\even
    eor.w   r5, r5, #\odd
    substitute r0, \b, r4, r6, \e, \t
    substitute r1, r3, r5, r7, r9, \t
    diffuse r0, r1, 9, 14                   /* 19 and 28 */
    diffuse_odd \b, r3, \t, 30, 19          /* 61 and 39 */
    diffuse_one r4, r5, 3                   /* 1 and 6 */
    diffuse r6, r7, 8, 5                    /* 17 and 10 */
    diffuse_odd \e, r9, \b, 3, 20           /* 7 and 41 */
    .endm

/* name:       sunseal_ascon_permute_12, and the last 8 of its rounds as sunseal_ascon_permute_8
 * registers:  r0..r9 = words 0 to 4, even bits and odd bits; with 8 rounds the even ones of word 1 come in r10, those
 *             of word 4 in r2; r10..r12 are lost
 * stack:      0 bytes
 * cycles:     648 and 432, and the return
 */
    .balign 4
    function sunseal_ascon_permute_12
    round   0xc, 0xc, r2, r8, r10           /* 0xf0 */
    round   0x9, 0xc, r10, r2, r8           /* 0xe1 */
    round   0xc, 0x9, r8, r10, r2           /* 0xd2 */
    round   0x9, 0x9, r2, r8, r10           /* 0xc3 */
    .global sunseal_ascon_permute_8
    .type sunseal_ascon_permute_8,%function
sunseal_ascon_permute_8:
    round   0x6, 0xc, r10, r2, r8           /* 0xb4 */
    round   0x3, 0xc, r8, r10, r2           /* 0xa5 */
    round   0x6, 0x9, r2, r8, r10           /* 0x96 */
    round   0x3, 0x9, r10, r2, r8           /* 0x87 */
    round   0xc, 0x6, r8, r10, r2           /* 0x78 */
    round   0x9, 0x6, r2, r8, r10           /* 0x69 */
    round   0xc, 0x3, r10, r2, r8           /* 0x5a */
    round   0x9, 0x3, r8, r10, r2           /* 0x4b */
    bx      lr

/* name:       void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds)
 * registers:  as above
 * stack:      40 bytes
 * cycles:     707 for 12 rounds
 */
    .balign 4
    function sunseal_ascon_permute
    push.w  {r0, r4-r11, lr}
    mov.w   r12, r1
    ldm.w   r0, {r0-r9}
    cmp.w   r12, #12
    beq.w   1f
    mov.w   r10, r2
    mov.w   r2, r8
    bl      sunseal_ascon_permute_8
    b.w     2f
1:  bl      sunseal_ascon_permute_12
2:  ldr.w   r10, [sp]
    stm.w   r10, {r0-r9}
    add     sp, #4
    pop.w   {r4-r11, pc}
