/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The step of x25519.c's ladder: one save of the registers for all operations.
 */
#define FE(suffix) sunseal_fe25519_##suffix
#define BYTES 32
#include "../field/formula_armv7em.inc"

    /* struct ladder, and x1 */
    .macro  place_x2 reg
    place_argument \reg, 0
    .endm
    .macro  place_z2 reg
    place_argument \reg, 0, BYTES
    .endm
    .macro  place_x3 reg
    place_argument \reg, 0, 2 * BYTES
    .endm
    .macro  place_z3 reg
    place_argument \reg, 0, 3 * BYTES
    .endm
    .macro  place_a reg
    place_argument \reg, 0, 4 * BYTES
    .endm
    .macro  place_b reg
    place_argument \reg, 0, 5 * BYTES
    .endm
    .macro  place_x1 reg
    place_argument \reg, 1
    .endm

    /* void sunseal_x25519_step(uint16_t *ladder, const uint16_t *x1) */
    routine sunseal_x25519_step
    enter   0
    fadd    a, x2, z2
    fsub    b, x2, z2
    fadd    x2, x3, z3              /* C */
    fsub    z2, x3, z3              /* D */
    fmul    z2, z2, a               /* DA */
    fmul    x2, x2, b               /* CB */
    fadd    x3, z2, x2
    fsub    z3, z2, x2
    fsqr    x3, x3                  /* (DA + CB)^2 */
    fsqr    z3, z3
    fmul    z3, z3, x1              /* x1 (DA - CB)^2 */
    fsqr    a, a                    /* AA */
    fsqr    b, b                    /* BB */
    fmul    x2, a, b
    fsub    b, a, b                 /* E */
    operate_on FE(mul121665_core), z2, b
    fadd    z2, z2, a
    fmul    z2, z2, b               /* E (AA + 121665 E) */
    leave
