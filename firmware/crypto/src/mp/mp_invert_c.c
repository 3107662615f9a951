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
        uint16_t numbers[5][WIDE_MAX];
        struct sunseal_mp_matrix matrix;
    } s;
    /* f and d are made anew in t, which then is theirs, and what they were is t. */
    uint16_t *f = s.numbers[0], *g = s.numbers[1], *d = s.numbers[2], *e = s.numbers[3];
    uint16_t *t = s.numbers[4], *spare;
    memset(&s, 0, sizeof s);
    memcpy(f, m->words, (size_t)2 * m->wide);
    memcpy(g, x, (size_t)2 * m->count);
    e[0] = 1;
    s.matrix.eta = 0xffff;
    s.matrix.half = m->half;
    for (uint8_t batch = m->batches; batch > 0; batch--) {
        sunseal_mp_divsteps(&s.matrix, f[0], g[0]);
        struct sunseal_mp_term top[3] = {{s.matrix.u, f}, {s.matrix.v, g}, {0, m->words}};
        struct sunseal_mp_term bottom[3] = {{s.matrix.q, f}, {s.matrix.r, g}, {0, m->words}};
        sunseal_mp_combine_two(t, top, m->wide);
        sunseal_mp_combine_two(g, bottom, m->wide);
        spare = f;
        f = t;
        update(spare, s.matrix.u, s.matrix.v, d, e, m);
        update(e, s.matrix.q, s.matrix.r, d, e, m);
        t = d;
        d = spare;
    }
    /* g is 0 and f is 1 or -1, or m for x = 0: the inverse is d f, d in (-2m, m). */
    add_masked(d, m->words, sign(d, m->wide), t, m->wide);
    uint16_t negative = sign(f, m->wide);
    for (size_t i = 0; i < m->wide; i++) {
        d[i] ^= negative;
        e[i] = 0;
    }
    e[0] = negative & 1;
    sunseal_mp_add(d, d, e, m->wide);
    add_masked(d, m->words, sign(d, m->wide), t, m->wide);
    memcpy(r, d, (size_t)2 * m->count);
    sunseal_wipe(&s, sizeof s);
}
