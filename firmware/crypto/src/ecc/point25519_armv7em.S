/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The formulas of ed25519.c: one save of the registers for all operations of each.
 */
#define FE(suffix) sunseal_fe25519_##suffix
#define BYTES 32
#include "../field/formula_armv7em.inc"

    element x, 0
    element y, 0, BYTES
    element z, 0, 2 * BYTES
    element t, 0, 3 * BYTES

    /* void sunseal_fe25519_point_double(uint16_t *r, uint16_t with_t) */
    own     e, 0
    own     h, 1

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
    element sum, 1
    element difference, 1, BYTES
    element product, 1, 2 * BYTES
    element twice_z, 2
    own     a, 0
    own     b, 1

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
