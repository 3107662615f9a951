/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../field/armv7em.inc"

    /* void sunseal_mp_from_bytes(uint16_t *r, const uint8_t *bytes, size_t count, size_t n) */
    routine sunseal_mp_from_bytes
    push.w  {r4, lr}
    add.w   r1, r1, r2              /* behind the lowest byte */
    subs.w  r3, r3, #2
    blo     3f
1:  subs.w  r2, r2, #4
    blo     2f
    ldr     r12, [r1, #-4]!
    rev     r12, r12
    str     r12, [r0], #4
    subs.w  r3, r3, #2
    bhs     1b
    b       3f
2:  add.w   r2, r2, #4              /* the bytes of the highest word, then none */
8:  mov     r12, #0
    cbz     r2, 5f
    sub     r1, r1, r2
4:  ldrb    r4, [r1], #1
    orr     r12, r4, r12, lsl #8
    subs.w  r2, r2, #1
    bne     4b
5:  str     r12, [r0], #4
    subs.w  r3, r3, #2
    bhs     8b
3:  adds.w  r3, r3, #2
    beq     7f
    mov     r12, #0                 /* half a word is left */
    cbz     r2, 6f
    ldrb    r12, [r1, #-1]!
    subs.w  r2, r2, #1
    beq     6f
    ldrb    r4, [r1, #-1]!
    orr     r12, r12, r4, lsl #8
6:  strh    r12, [r0]
7:  pop.w   {r4, pc}

    /* void sunseal_mp_to_bytes(uint8_t *bytes, const uint16_t *a, size_t count) */
    routine sunseal_mp_to_bytes
    add.w   r0, r0, r2
1:  subs.w  r2, r2, #4
    blo     2f
    ldr     r3, [r1], #4
    rev     r3, r3
    str     r3, [r0, #-4]!
    b       1b
2:  adds.w  r2, r2, #4
    beq     4f
3:  ldrb    r3, [r1], #1
    strb    r3, [r0, #-1]!
    subs.w  r2, r2, #1
    bne     3b
4:  bx      lr
