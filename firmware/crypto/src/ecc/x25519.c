/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/x25519.h"

#include <string.h>

#include "field25519.h"

struct ladder {
    sunseal_fe25519 x2, z2; /* of the lower multiple, and of the next one */
    sunseal_fe25519 x3, z3;
    sunseal_fe25519 a, b;
};

#ifdef __ARM_ARCH_7EM__
/* x25519_ladder_armv7em.S: all steps from bit 254 of k down. */
void sunseal_x25519_ladder(uint16_t *ladder, const uint16_t *x1, const uint16_t *k);

static void climb(struct ladder *l, const uint16_t *x1, const uint16_t *k) {
    sunseal_x25519_ladder(l->x2, x1, k);
}

#else

/* The lower point doubled, given a = x2 + z2, b = x2 - z2. */
static void double_lower(struct ladder *l) {
    sunseal_fe25519_sqr(l->a, l->a); /* AA */
    sunseal_fe25519_sqr(l->b, l->b); /* BB */
    sunseal_fe25519_mul(l->x2, l->a, l->b);
    sunseal_fe25519_sub(l->b, l->a, l->b); /* E */
    sunseal_fe25519_mul121665(l->z2, l->b);
    sunseal_fe25519_add(l->z2, l->z2, l->a);
    sunseal_fe25519_mul(l->z2, l->z2, l->b); /* E (AA + 121665 E) */
}

static void sum_and_difference(struct ladder *l) {
    sunseal_fe25519_add(l->a, l->x2, l->z2);
    sunseal_fe25519_sub(l->b, l->x2, l->z2);
}

/* RFC 7748, section 5, the body of the loop. */
static void step(struct ladder *l, const uint16_t *x1) {
    sum_and_difference(l);
    sunseal_fe25519_add(l->x2, l->x3, l->z3); /* C */
    sunseal_fe25519_sub(l->z2, l->x3, l->z3); /* D */
    sunseal_fe25519_mul(l->z2, l->z2, l->a);  /* DA */
    sunseal_fe25519_mul(l->x2, l->x2, l->b);  /* CB */
    sunseal_fe25519_add(l->x3, l->z2, l->x2);
    sunseal_fe25519_sub(l->z3, l->z2, l->x2);
    sunseal_fe25519_sqr(l->x3, l->x3); /* (DA + CB)^2 */
    sunseal_fe25519_sqr(l->z3, l->z3);
    sunseal_fe25519_mul(l->z3, l->z3, x1); /* x1 (DA - CB)^2 */
    double_lower(l);
}

static void climb(struct ladder *l, const uint16_t *x1, const uint16_t *k) {
    /* Bit 254 of a key is set: 2u and u, which change places. */
    memcpy(l->x2, x1, sizeof l->x2);
    l->z2[0] = 1;
    sum_and_difference(l);
    double_lower(l);
    uint16_t swapped = 0xffff;
    for (uint8_t i = 253; i >= 3; i--) {
        uint16_t bit = sunseal_mp_mask_low(k[i >> 4] >> (i & 15));
        sunseal_mp_swap(l->x2, l->x3, bit ^ swapped, 32);
        swapped = bit;
        step(l, x1);
    }
    /* Its lowest bits are clear: three doublings. */
    sunseal_mp_swap(l->x2, l->x3, swapped, 32);
    for (uint8_t i = 0; i < 3; i++) {
        sum_and_difference(l);
        double_lower(l);
    }
}

#endif

int sunseal_x25519(uint8_t shared[32], const uint8_t d[32], const uint8_t u[32]) {
    sunseal_fe25519 k, x1;
    struct ladder l;
    if (shared == NULL || d == NULL || u == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    sunseal_fe25519_from_bytes(k, d);
    k[0] &= 0xfff8;
    k[15] = (k[15] & 0x7fff) | 0x4000;
    sunseal_fe25519_from_bytes(x1, u);
    x1[15] &= 0x7fff;
    memset(&l, 0, sizeof l);
    l.x2[0] = 1;
    memcpy(l.x3, x1, sizeof x1);
    l.z3[0] = 1;
    climb(&l, x1, k);
    /* A key is a multiple of 8: nothing to swap. */
    sunseal_fe25519_invert(l.z2, l.z2);
    sunseal_fe25519_mul(l.x2, l.x2, l.z2);
    sunseal_fe25519_to_bytes(shared, l.x2);
    uint16_t none = sunseal_fe25519_is_zero(l.x2);
    sunseal_wipe(&l, sizeof l);
    sunseal_wipe(k, sizeof k);
    sunseal_fe25519_forget();
    return none ? SUNSEAL_ERR_INFINITY : SUNSEAL_OK;
}

int sunseal_x25519_keygen(uint8_t d[32], uint8_t q[32], const uint8_t entropy[32]) {
    static const uint8_t base[32] = {9};
    if (d == NULL || q == NULL || entropy == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    memmove(d, entropy, 32);
    return sunseal_x25519(q, d, base);
}
