/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Sums of the four fields in C, products of the shortest: for all operands, r an operand or not,
 * every access lies inside of its array and no signed sum leaves its type. That the results are
 * right is tested, not proved.
 *
 * sources: field/fe???_c.c field/fe25519_c.c mp/mp_c.c mp/mp_addmul_c.c
 * unwind: 17
 */
#include "field/field.h"
#include "proof.h"

#define PROVE(field, n)                                                                            \
    void prove_##field##_sums(void) {                                                              \
        uint16_t a[n], b[n], r[n];                                                                 \
        sunseal_##field##_add(r, a, b);                                                            \
        sunseal_##field##_sub(a, a, b);                                                            \
        sunseal_##field##_sub(b, r, b);                                                            \
    }

PROVE(fe160, 10)
PROVE(fe224, 14)
PROVE(fe256, 16)
PROVE(fe25519, 16)

/* The solver takes the products of the shortest field only within minutes. */
void prove_fe160_products(void) {
    uint16_t a[10], b[10], r[10];
    sunseal_fe160_mul(r, a, b);
    sunseal_fe160_sqr(a, a);
}
