/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

#include <string.h>

#define WIDE_MAX 17

/* The sign of a two's complement number as a mask. */
static uint16_t sign(const uint16_t *a, size_t n) {
    return sunseal_mp_mask_high(a[n - 1]);
}

/* One row of the matrix on d and e: a multiple of m, chosen to clear 14 bits, makes the division
 * exact, and keeps the result in (-2m, m). */
static void update(uint16_t *r, uint16_t u, uint16_t v, const uint16_t *d, const uint16_t *e,
                   const struct sunseal_mp_modulus *m) {
    uint16_t base = (uint16_t)((sign(d, m->wide) & u) + (sign(e, m->wide) & v));
    uint16_t low = (uint16_t)((uint16_t)(u * (unsigned)d[0]) + (uint16_t)(v * (unsigned)e[0]));
    uint16_t clear = (uint16_t)((uint16_t)(m->inverse * (unsigned)low) + base) & 0x3fff;
    struct sunseal_mp_term terms[3] = {{u, d}, {v, e}, {(uint16_t)(base - clear), m->words}};
    sunseal_mp_combine(r, terms, m->wide);
}

/* a += mask ? m : 0 */
static void add_masked(uint16_t *a, const uint16_t *m, uint16_t mask, uint16_t *scratch, size_t n) {
    for (size_t i = 0; i < n; i++) {
        scratch[i] = m[i] & mask;
    }
    sunseal_mp_add(a, a, scratch, n);
}

void sunseal_mp_invert(uint16_t *r, const uint16_t *x, const struct sunseal_mp_modulus *m) {
    struct {
        uint16_t f[WIDE_MAX], g[WIDE_MAX], d[WIDE_MAX], e[WIDE_MAX], t[WIDE_MAX];
        struct sunseal_mp_matrix matrix;
    } s;
    size_t bytes = 2 * m->wide;
    memset(&s, 0, sizeof s);
    memcpy(s.f, m->words, bytes);
    memcpy(s.g, x, 2 * m->count);
    s.e[0] = 1;
    s.matrix.eta = 0xffff;
    s.matrix.half = m->half;
    for (uint8_t batch = m->batches; batch > 0; batch--) {
        sunseal_mp_divsteps(&s.matrix, s.f[0], s.g[0]);
        struct sunseal_mp_term top[3] = {{s.matrix.u, s.f}, {s.matrix.v, s.g}, {0, m->words}};
        struct sunseal_mp_term bottom[3] = {{s.matrix.q, s.f}, {s.matrix.r, s.g}, {0, m->words}};
        sunseal_mp_combine_two(s.t, top, m->wide);
        sunseal_mp_combine_two(s.g, bottom, m->wide);
        memcpy(s.f, s.t, bytes);
        update(s.t, s.matrix.u, s.matrix.v, s.d, s.e, m);
        update(s.e, s.matrix.q, s.matrix.r, s.d, s.e, m);
        memcpy(s.d, s.t, bytes);
    }
    /* g is 0 and f is 1 or -1, or m for x = 0: the inverse is d f, d in (-2m, m). */
    add_masked(s.d, m->words, sign(s.d, m->wide), s.t, m->wide);
    uint16_t negative = sign(s.f, m->wide);
    for (size_t i = 0; i < m->wide; i++) {
        s.d[i] ^= negative;
        s.e[i] = 0;
    }
    s.e[0] = negative & 1;
    sunseal_mp_add(s.d, s.d, s.e, m->wide);
    add_masked(s.d, m->words, sign(s.d, m->wide), s.t, m->wide);
    memcpy(r, s.d, 2 * m->count);
    sunseal_wipe(&s, sizeof s);
}
