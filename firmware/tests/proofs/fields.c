/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The four fields in C: for all operands, r an operand or not, every access lies inside of its
 * array and no signed sum leaves its type. That the results are right is tested, not proved.
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
    }                                                                                              \
    void prove_##field##_products(void) {                                                          \
        uint16_t a[n], b[n], r[n];                                                                 \
        sunseal_##field##_mul(r, a, b);                                                            \
        sunseal_##field##_sqr(a, a);                                                               \
    }

PROVE(fe160, 10)
PROVE(fe224, 14)
PROVE(fe256, 16)
PROVE(fe25519, 16)
