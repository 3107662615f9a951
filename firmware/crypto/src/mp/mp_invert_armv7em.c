/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "mp.h"
#include "mp_invert30.h"

/* Inversion for a multiplier of 32 bits: division steps 30 at a time on numbers in limbs of 30
 * bits, the highest of which has the sign. Same source as in mp.h; the variant that starts at delta
 * 1/2. */

/* GCC does not know it and says so. */
#ifdef __clang__
#define MINSIZE __attribute__((minsize))
#else
#define MINSIZE
#endif

/* Bits 32 i to 32 i + 31 of a number of so many words. */
static uint32_t pair(const uint16_t *a, size_t words, size_t i) {
    uint32_t low = 2 * i < words ? a[2 * i] : 0;
    return low | (2 * i + 1 < words ? (uint32_t)a[2 * i + 1] << 16 : 0);
}

/* A number of so many words as limbs: limb i begins 2 i bits below the end of pair i - 1. */
MINSIZE static void limbs(int32_t *to, size_t n, const uint16_t *from, size_t words) {
    uint32_t below = pair(from, words, 0);
    to[0] = (int32_t)(below & 0x3fffffff);
    for (size_t i = 1; i < n; i++) {
        uint32_t here = pair(from, words, i);
        to[i] = (int32_t)((below >> (32 - 2 * i) | here << (2 * i)) & 0x3fffffff);
        below = here;
    }
}

/* d += mask ? m : 0; the carries stay in the limbs */
MINSIZE static void add_masked(struct sunseal_mp_inversion *s, int32_t mask) {
    int32_t carry = 0;
    for (int32_t i = 0; i < s->n; i++) {
        carry += s->d[i] + (s->m[i] & mask);
        s->d[i] = i < s->n - 1 ? carry & 0x3fffffff : carry;
        carry >>= 30;
    }
}

MINSIZE void sunseal_mp_invert(uint16_t *r, const uint16_t *x, const struct sunseal_mp_modulus *m) {
    struct sunseal_mp_inversion s;
    /* Of a modulus that is secret, as RSA's blinding has one, not even the length may show. */
    size_t words = m->count < m->wide ? m->count : m->wide;
    int32_t bits = (int32_t)(16 * words);
    memset(&s, 0, sizeof s);
    s.n = (bits + 31) / 30; /* d and e lie between -2m and m */
    limbs(s.m, (size_t)s.n, m->words, words);
    memcpy(s.f, s.m, sizeof s.f);
    limbs(s.g, (size_t)s.n, x, m->count);
    s.e[0] = 1;
    uint32_t inverse = (3 * (uint32_t)s.m[0]) ^ 2; /* 5 bits are right, then 10, 20, 40 */
    for (int i = 0; i < 3; i++) {
        inverse *= 2 - (uint32_t)s.m[0] * inverse;
    }
    s.inverse = inverse;
    int32_t zeta = -1; /* -(delta + 1/2) */
    for (int32_t steps = SUNSEAL_MP_STEPS * m->batches; steps > 0; steps -= 30) {
        zeta = sunseal_mp_divsteps30(&s, zeta);
        sunseal_mp_apply30(&s);
        sunseal_mp_apply30_mod(&s);
    }
    /* g is 0 and f is 1 or -1, or m for x = 0: the inverse is d f, d in (-2m, m). */
    add_masked(&s, s.d[s.n - 1] >> 31);
    int32_t negative = s.f[s.n - 1] >> 31;
    for (int32_t i = 0; i < s.n; i++) {
        s.d[i] = (s.d[i] ^ negative) - negative;
    }
    add_masked(&s, 0);
    add_masked(&s, s.d[s.n - 1] >> 31);
    for (size_t i = 0; i < m->count; i += 2) {
        size_t limb = i / 2;
        uint32_t here = limb < (size_t)s.n ? (uint32_t)s.d[limb] >> i : 0;
        uint32_t above = limb + 1 < (size_t)s.n ? (uint32_t)s.d[limb + 1] << (30 - i) : 0;
        r[i] = (uint16_t)(here | above);
        if (i + 1 < m->count) {
            r[i + 1] = (uint16_t)((here | above) >> 16);
        }
    }
    sunseal_wipe(&s, sizeof s);
}
