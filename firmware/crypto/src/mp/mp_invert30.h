/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_MP_INVERT30_H
#define SUNSEAL_MP_INVERT30_H

#include <stdint.h>

/* Limbs of 30 bits: 9 hold any modulus below 2^257. */
#define SUNSEAL_MP_LIMBS 9

/* mp_invert30_armv7em.S knows the places. */
struct sunseal_mp_inversion {
    int32_t u, v, q, r; /* 2^30 f' = u f + v g, 2^30 g' = q f + r g */
    uint32_t inverse;   /* 1/m mod 2^30 */
    int32_t n;          /* limbs in use, at least 2 */
    int32_t m[SUNSEAL_MP_LIMBS];
    int32_t f[SUNSEAL_MP_LIMBS], g[SUNSEAL_MP_LIMBS];
    int32_t d[SUNSEAL_MP_LIMBS], e[SUNSEAL_MP_LIMBS];
};

/* The matrix of 30 steps on the low bits of f and g; takes and gives zeta. */
int32_t sunseal_mp_divsteps30(struct sunseal_mp_inversion *s, int32_t zeta);

/* The matrix on f and g. */
void sunseal_mp_apply30(struct sunseal_mp_inversion *s);

/* The matrix on d and e modulo m; they stay in (-2m, m). */
void sunseal_mp_apply30_mod(struct sunseal_mp_inversion *s);

#endif
