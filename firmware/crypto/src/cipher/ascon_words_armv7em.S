/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Bytes into Ascon's state and out of it. Each word stands as its even and its odd bits: then a rotation is one of each
 * half, which the shifter of the next instruction does for nothing. Between the two forms the six bits of a bit's
 * place turn by one: word and byte and nibble, .. change places with the lowest one by one, for both halves at once.
 * All instructions are wide and aligned, which the fetch unit needs to keep up.
 */
    .syntax unified
    .thumb
#include "function.inc"
#include "swap_armv7em.inc"

    /* The lower and the upper half of a word become its even and its odd bits, and back; t is free. */
    .macro apart a, b, t
    pkhtb   \t, \b, \a, asr #16
    pkhbt   \a, \a, \b, lsl #16
    swap_step 8, 0x00ff00ff, \b, \a, \t
    swap_step 4, 0x0f0f0f0f, \b, \a, \t
    swap_step 2, 0x33333333, \b, \a, \t
    eor.w   \b, \t, \a, lsr #1
    and.w   \b, \b, #0x55555555
    eor.w   \a, \a, \b, lsl #1
    eor.w   \b, \t, \b
    .endm

    .macro together a, b, t
    swap_step 1, 0x55555555, \t, \a, \b
    swap_step 2, 0x33333333, \t, \a, \b
    swap_step 4, 0x0f0f0f0f, \t, \a, \b
    swap_step 8, 0x00ff00ff, \t, \a, \b
    mov.w   \t, \a
    pkhbt   \a, \a, \b, lsl #16
    pkhtb   \b, \b, \t, asr #16
    .endm

/* name:       void sunseal_ascon_add(struct sunseal_ascon_state *state, uint8_t index, const uint8_t *bytes,
 *                                    uint8_t words)
 * registers:  r0 = words of the state, r2 = bytes, r3 = count
 * stack:      12 bytes
 */
    .balign 4
    function sunseal_ascon_add
    push.w  {r4-r6}
    add.w   r0, r0, r1, lsl #3
1:  ldr.w   r12, [r2], #4
    ldr.w   r1, [r2], #4
    ldrd    r5, r6, [r0]
    apart   r12, r1, r4
    eor.w   r5, r5, r12
    eor.w   r6, r6, r1
    strd    r5, r6, [r0], #8
    subs.w  r3, r3, #1
    bne.w   1b
    pop.w   {r4-r6}
    bx      lr

/* name:       void sunseal_ascon_get(uint8_t *bytes, const struct sunseal_ascon_state *state, uint8_t index,
 *                                    uint8_t words)
 * registers:  r0 = bytes, r1 = words of the state, r3 = count
 * stack:      4 bytes
 */
    .balign 4
    function sunseal_ascon_get
    push    {r4}
    nop
    add.w   r1, r1, r2, lsl #3
1:  ldrd    r2, r12, [r1], #8
    together r2, r12, r4
    str.w   r2, [r0], #4
    str.w   r12, [r0], #4
    subs.w  r3, r3, #1
    bne.w   1b
    pop     {r4}
    bx      lr

    /* 8 bytes at in + \at and word even:odd of the state: their sum goes to out + \at and, where the flags say that
     * the bytes are plaintext, into the state; else the bytes do. */
    .macro crypt_word even, odd, at
    ldr.w   lr, [sp, #8]
    ldr.w   r10, [lr, #\at]
    ldr.w   r11, [lr, #\at+4]
    .if \at
    add.w   lr, lr, #16
    str.w   lr, [sp, #8]
    .endif
    apart   r10, r11, r12
    eor.w   r12, \even, r10
    eor.w   lr, \odd, r11
    nop
    itete   ne
    movne.w \even, r10
    moveq.w \even, r12
    movne.w \odd, r11
    moveq.w \odd, lr
    together r12, lr, r10
    ldr.w   r10, [sp, #4]
    str.w   r12, [r10, #\at]
    str.w   lr, [r10, #\at+4]
    .if \at
    add.w   r10, r10, #16
    str.w   r10, [sp, #4]
    .endif
    .endm

/* name:       void sunseal_ascon_crypt(struct sunseal_ascon_state *state, uint8_t *out, const uint8_t *in,
 *                                      size_t blocks, bool open)
 * registers:  r0..r9 = state
 * stack:      52 bytes
 * cycles:     570 a block
 */
    .balign 4
    function sunseal_ascon_crypt
    push.w  {r0-r11, lr}                    /* [sp]: state, out, in, blocks */
    cmp.w   r3, #0
    beq.w   2f
    ldm.w   r0, {r0-r9}
1:  ldr.w   r12, [sp, #52]
    cmp.w   r12, #0
    crypt_word r0, r1, 0
    crypt_word r2, r3, 8
    mov.w   r10, r2
    mov.w   r2, r8
    bl      sunseal_ascon_permute_8
    ldr.w   r10, [sp, #12]
    subs.w  r10, r10, #1
    str.w   r10, [sp, #12]
    bne.w   1b
    ldr.w   r10, [sp]
    stm.w   r10, {r0-r9}
2:  add     sp, #16
    pop.w   {r4-r11, pc}

/* name:       void sunseal_ascon_absorb(struct sunseal_ascon_state *state, const uint8_t *in, size_t blocks)
 * registers:  r0..r9 = state
 * stack:      48 bytes
 * cycles:     690 a block
 */
    .balign 4
    function sunseal_ascon_absorb
    push.w  {r0-r2, r4-r11, lr}             /* [sp]: state, in, blocks */
    ldm.w   r0, {r0-r9}
1:  ldr.w   lr, [sp, #4]
    ldr.w   r10, [lr], #4
    ldr.w   r11, [lr], #4
    str.w   lr, [sp, #4]
    apart   r10, r11, r12
    eor.w   r0, r0, r10
    eor.w   r1, r1, r11
    bl      sunseal_ascon_permute_12
    ldr.w   r10, [sp, #8]
    subs.w  r10, r10, #1
    str.w   r10, [sp, #8]
    bne.w   1b
    ldr.w   r10, [sp]
    stm.w   r10, {r0-r9}
    add     sp, #12
    pop.w   {r4-r11, pc}

    /* The key, which lies behind the state at [sp] */
    .macro load_key
    ldr.w   r10, [sp]
    add.w   r10, r10, #40
    ldm.w   r10, {r10-r12, lr}
    .endm

    .macro add_key a, b, c, d
    load_key
    eor.w   \a, \a, r10
    eor.w   \b, \b, r11
    eor.w   \c, \c, r12
    eor.w   \d, \d, lr
    .endm

    /* 16 bytes at \from to two words */
    .macro load_words a, b, c, d, from
    ldr.w   \a, [\from]
    ldr.w   \b, [\from, #4]
    ldr.w   \c, [\from, #8]
    ldr.w   \d, [\from, #12]
    apart   \a, \b, r12
    apart   \c, \d, r12
    .endm

/* name:       void sunseal_ascon_start(struct sunseal_ascon_keyed *keyed, const uint8_t *key, const uint8_t *nonce)
 * registers:  r0..r9 = state
 * stack:      40 bytes
 */
    .balign 4
    function sunseal_ascon_start
    push.w  {r0, r4-r11, lr}
    load_words r6, r7, r8, r9, r2
    load_words r2, r3, r4, r5, r1
    add.w   r12, r0, #40
    stm.w   r12, {r2-r5}
    movw    r0, #0x0201                     /* the initial value 0x00001000808c0001: even bits */
    movt    r0, #0x0040
    movw    r1, #0x8a00                     /* odd ones */
    bl      sunseal_ascon_permute_12
    add_key r6, r7, r8, r9
    ldr.w   r10, [sp]
    stm.w   r10, {r0-r9}
    add     sp, #4
    pop.w   {r4-r11, pc}

/* name:       void sunseal_ascon_finish(struct sunseal_ascon_keyed *keyed, uint8_t *tag)
 * registers:  r0..r9 = state
 * stack:      44 bytes
 */
    .balign 4
    function sunseal_ascon_finish
    push.w  {r0, r1, r4-r11, lr}            /* [sp]: keyed, tag */
    ldm.w   r0, {r0-r9}
    add_key r4, r5, r6, r7
    bl      sunseal_ascon_permute_12
    add_key r6, r7, r8, r9
    together r6, r7, r12
    together r8, r9, r12
    ldr.w   r10, [sp, #4]
    str.w   r6, [r10]
    str.w   r7, [r10, #4]
    str.w   r8, [r10, #8]
    str.w   r9, [r10, #12]
    add     sp, #8
    pop.w   {r4-r11, pc}
