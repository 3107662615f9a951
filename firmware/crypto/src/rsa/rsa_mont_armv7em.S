// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Montgomery arithmetic of any length. Four rows of a product run side by side over the columns: UMAAL
// adds a word of the product and a carry to each limb product, so nothing ever overflows and no flag is
// needed. Limbs have 32 bits; their number is a multiple of 16.

    .syntax unified
    .thumb

#define WORDS 0
#define SCRATCH 4
#define INVERSE 8
#define COUNT 12

#include "function.inc"

// What a function keeps on its stack.
#define RESULT 0
#define MODULUS 4
#define LIMBS 8
#define PRODUCT 12
#define FACTOR 16
#define OTHER 20
#define LEFT 24
#define CARRY 28
#define FRAME 32

    .macro routine name
    .section .text.\name,"ax",%progbits
    .p2align 2
    function \name
    .endm

// One column of four rows: the product's word AT bytes behind r0 gets r4..r7 times the limb as far behind
// r1. Of what belongs to later columns the lowest four words wait in \w0 (this column's) to \w3;
// afterwards in \w1 to \c. Nothing but 32-bit instructions, which want to lie at multiples of 4.
    .macro column w0, w1, w2, w3, c
    ldr.w   \c, [r0, #AT]
    ldr.w   lr, [r1, #AT]
    umaal   \w0, \c, r4, lr
    umaal   \w1, \c, r5, lr
    umaal   \w2, \c, r6, lr
    umaal   \w3, \c, r7, lr
    str.w   \w0, [r0, #AT]
    .set AT, AT + 4
    .endm

    .macro columns_4
    .p2align 2
    .set AT, 0
    column  r8, r9, r10, r11, r12
    column  r9, r10, r11, r12, r8
    column  r10, r11, r12, r8, r9
    column  r11, r12, r8, r9, r10
    add     r0, r0, #16
    add     r1, r1, #16
    mov     r11, r10
    mov     r10, r9
    mov     r9, r8
    mov     r8, r12
    .endm

    .macro columns_5
    column  r8, r9, r10, r11, r12
    column  r9, r10, r11, r12, r8
    column  r10, r11, r12, r8, r9
    column  r11, r12, r8, r9, r10
    column  r12, r8, r9, r10, r11
    .endm

// r2 columns, a multiple of 16, or 4 less than that and entered at 5, four columns late, with the window in
// r12, r8, r9, r10. What belongs to the next four columns is in r9..r12 at the end.
    .macro columns_16
    .p2align 2
4:  .set AT, 0
    column  r8, r9, r10, r11, r12
    column  r9, r10, r11, r12, r8
    column  r10, r11, r12, r8, r9
    column  r11, r12, r8, r9, r10
5:  column  r12, r8, r9, r10, r11
    columns_5
    columns_5
    column  r8, r9, r10, r11, r12
    add     r0, r0, #64
    add     r1, r1, #64
    subs    r2, r2, #16
    bls     6f
    mov     r8, r9
    mov     r9, r10
    mov     r10, r11
    mov     r11, r12
    b       4b
6:
    .endm

// r2 columns, a multiple of 4; the window is in r8..r11 before and after.
    .macro columns
    subs    r2, r2, #16
    blo     2f
    .p2align 2
1:  .set AT, 0
    columns_5
    columns_5
    columns_5
    column  r8, r9, r10, r11, r12
    add     r0, r0, #64
    add     r1, r1, #64
    mov     r8, r9
    mov     r9, r10
    mov     r10, r11
    mov     r11, r12
    subs    r2, r2, #16
    bhs     1b
2:  adds    r2, r2, #16
    beq     4f
3:  columns_4
    subs    r2, r2, #4
    bne     3b
4:
    .endm

    .macro no_carries
    mov     r8, #0
    mov     r9, #0
    mov     r10, #0
    mov     r11, #0
    .endm

// The frame, and zeros in the lower half of the product. r0 = r, r1 = a, r2 = b, r3 = modulus
    .macro enter
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    ldrh    r4, [r3, #COUNT]
    lsrs    r4, r4, #1
    ldr     r5, [r3, #SCRATCH]
    str     r0, [sp, #RESULT]
    str     r3, [sp, #MODULUS]
    str     r4, [sp, #LIMBS]
    str     r5, [sp, #PRODUCT]
    str     r1, [sp, #FACTOR]
    str     r2, [sp, #OTHER]
    str     r4, [sp, #LEFT]
    no_carries
1:  stmia   r5!, {r8-r11}
    subs    r4, r4, #4
    bne     1b
    .endm

// name:       void sunseal_rsa_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b,
//                                      const struct sunseal_rsa_modulus *m)
// registers:  four limbs of a in r4..r7, columns as in `column`
// stack:      68 bytes
    routine sunseal_rsa_montmul
    enter
1:  ldr     r1, [sp, #FACTOR]
    ldmia   r1!, {r4-r7}
    str     r1, [sp, #FACTOR]
    no_carries
    ldr     r0, [sp, #PRODUCT]
    ldr     r1, [sp, #OTHER]
    ldr     r2, [sp, #LIMBS]
    add     r12, r0, #16
    str     r12, [sp, #PRODUCT]
    columns_16
    stmia   r0, {r9-r12}
    ldr     r2, [sp, #LEFT]
    subs    r2, r2, #4
    str     r2, [sp, #LEFT]
    bne     1b
    b       sunseal_rsa_reduce

// name:       void sunseal_rsa_montsqr(uint16_t *r, const uint16_t *a,
//                                      const struct sunseal_rsa_modulus *m)
//
// Four limbs are multiplied by themselves and then, doubled, by all limbs above them. The bit that the
// doubling moves across belongs to the next four limbs' doubled value; with those limbs themselves,
// which meet no doubled value, it is multiplied by being the first columns' carry.
// registers:  four limbs of a in r4..r7, columns as in `column`
// stack:      68 bytes
    routine sunseal_rsa_montsqr
    mov     r3, r2
    enter
    mov     r3, #0                  // the bit that moves across
7:  ldr     r1, [sp, #FACTOR]
    ldmia   r1, {r4-r7}
    rsb     r12, r3, #0
    and     r8, r4, r12
    and     r9, r5, r12
    and     r10, r6, r12
    and     r11, r7, r12
    ldr     r0, [sp, #PRODUCT]
    add     r2, r0, #32
    str     r2, [sp, #PRODUCT]
    columns_4
    str     r1, [sp, #FACTOR]
    lsr     lr, r7, #31
    lsl     r7, r7, #1
    orr     r7, r7, r6, lsr #31
    lsl     r6, r6, #1
    orr     r6, r6, r5, lsr #31
    lsl     r5, r5, #1
    orr     r5, r5, r4, lsr #31
    orr     r4, r3, r4, lsl #1
    mov     r3, lr
    ldr     r2, [sp, #LEFT]
    subs    r2, r2, #4
    str     r2, [sp, #LEFT]
    columns
    stmia   r0, {r8-r11}
    ldr     r2, [sp, #LEFT]
    cmp     r2, #0
    bne     7b
    b       sunseal_rsa_reduce

// The way out of both: the product divided by R, to the result.
// registers:  four limbs of the quotient in r4..r7, columns as in `column`
    routine sunseal_rsa_reduce
    ldr     r3, [sp, #MODULUS]
    ldr     r0, [r3, #SCRATCH]
    mov     r1, #0
    str     r1, [sp, #CARRY]
    ldr     r2, [sp, #LIMBS]
    str     r2, [sp, #LEFT]
1:  // four limbs of the quotient, and with them the four columns that they make zero
    ldr     r3, [sp, #MODULUS]
    ldr     r1, [r3, #WORDS]
    ldr     r2, [r3, #INVERSE]
    ldr     r12, [r0]
    ldm     r1, {r9-r11}            // modulus limbs 0 to 2
    mul     r4, r12, r2
    mov     r8, #0                  // the rows' carries in r8, r3, lr, r2
    umaal   r12, r8, r4, r9
    ldr     r12, [r0, #4]
    umaal   r12, r8, r4, r10
    mul     r5, r12, r2
    mov     r3, #0
    umaal   r12, r3, r5, r9
    ldr     r12, [r0, #8]
    umaal   r12, r8, r4, r11
    umaal   r12, r3, r5, r10
    mul     r6, r12, r2
    mov     lr, #0
    umaal   r12, lr, r6, r9
    ldr     r12, [r0, #12]
    ldr     r7, [r1, #12]           // limb 3
    umaal   r12, r8, r4, r7
    umaal   r12, r3, r5, r11
    umaal   r12, lr, r6, r10
    mul     r7, r12, r2
    mov     r2, #0
    umaal   r12, r2, r7, r9
    ldr     r9, [r1, #12]
    umaal   r8, r3, r5, r9
    umaal   r8, lr, r6, r11
    umaal   r3, lr, r6, r9
    umaal   r8, r2, r7, r10
    umaal   r3, r2, r7, r11
    umaal   lr, r2, r7, r9
    mov     r12, r8
    mov     r8, r3
    mov     r9, lr
    mov     r10, r2
    ldr     r2, [sp, #LIMBS]
    b       5f
    columns_16
    ldm     r0, {r4-r7}
    ldr     r1, [sp, #CARRY]
    cmp     r1, #1
    adcs    r4, r4, r9
    adcs    r5, r5, r10
    adcs    r6, r6, r11
    adcs    r7, r7, r12
    mov     r1, #0
    adc     r1, r1, r1
    stm     r0, {r4-r7}
    str     r1, [sp, #CARRY]
    ldr     r2, [sp, #LIMBS]
    sub     r0, r0, r2, lsl #2
    add     r0, r0, #16
    ldr     r2, [sp, #LEFT]
    subs    r2, r2, #4
    str     r2, [sp, #LEFT]
    bne     1b
    // once less the modulus where a carry is left
    ldr     r2, [sp, #MODULUS]
    ldr     r2, [r2, #WORDS]
    rsb     r3, r1, #0
    mov     r1, r0
    ldr     r0, [sp, #RESULT]
    ldr     r12, [sp, #LIMBS]
    cmp     r0, r0
8:  ldmia   r1!, {r4-r7}
    ldmia   r2!, {r8-r11}
    and     r8, r8, r3
    and     r9, r9, r3
    and     r10, r10, r3
    and     r11, r11, r3
    sbcs    r4, r4, r8
    sbcs    r5, r5, r9
    sbcs    r6, r6, r10
    sbcs    r7, r7, r11
    stmia   r0!, {r4-r7}
    sub     r12, r12, #4
    teq     r12, #0
    bne     8b
    add     sp, sp, #FRAME
    pop     {r4-r11, pc}
