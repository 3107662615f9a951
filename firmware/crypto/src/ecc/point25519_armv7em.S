/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The formulas of ed25519.c: one save of the registers for all operations of each.
 */
#define FE(suffix) sunseal_fe25519_##suffix
#define BYTES 32
#include "../field/formula_armv7em.inc"

    .macro  place_x reg
    place_argument \reg, 0
    .endm
    .macro  place_y reg
    place_argument \reg, 0, BYTES
    .endm
    .macro  place_z reg
    place_argument \reg, 0, 2 * BYTES
    .endm
    .macro  place_t reg
    place_argument \reg, 0, 3 * BYTES
    .endm

    /* void sunseal_fe25519_point_double(uint16_t *r, uint16_t with_t) */
    .macro  place_e reg
    place_own \reg, 0
    .endm
    .macro  place_h reg
    place_own \reg, 1
    .endm

    routine FE(point_double)
    enter   2
    fadd    e, x, y
    fsqr    e, e
    fsqr    x, x
    fsqr    y, y
    fsqr    z, z
    fadd    z, z, z
    fadd    h, x, y
    fsub    e, h, e
    fsub    y, x, y                 /* G */
    fadd    x, z, y                 /* F */
    fmul    z, x, y
    fmul    x, x, e
    fmul    y, y, h
    ldr     r3, [sp, #ARGUMENTS + 4]
    cbz     r3, 1f
    fmul    t, e, h
1:  leave

    /* void sunseal_fe25519_point_add(uint16_t *r, const uint16_t *q, const uint16_t *twice_z, uint16_t with_t), q as y + x,
     * y - x, 2 d x y, and twice_z = 2 Z of the one times Z of the other */
    .macro  place_sum reg
    place_argument \reg, 1
    .endm
    .macro  place_difference reg
    place_argument \reg, 1, BYTES
    .endm
    .macro  place_product reg
    place_argument \reg, 1, 2 * BYTES
    .endm
    .macro  place_twice_z reg
    place_argument \reg, 2
    .endm
    .macro  place_a reg
    place_own \reg, 0
    .endm
    .macro  place_b reg
    place_own \reg, 1
    .endm

    routine FE(point_add)
    enter   2
    fsub    a, y, x
    fmul    a, a, difference
    fadd    b, y, x
    fmul    b, b, sum
    fmul    t, t, product
    fsub    x, b, a                 /* E */
    fadd    b, b, a                 /* H */
    fsub    a, twice_z, t           /* F */
    fadd    y, twice_z, t           /* G */
    fmul    z, a, y
    ldr     r3, [sp, #ARGUMENTS + 12]
    cbz     r3, 1f
    fmul    t, x, b
1:  fmul    x, x, a
    fmul    y, y, b
    leave
