/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "mp.h"
#include "mp_invert30.h"

/* Inversion for a multiplier of 32 bits: division steps 30 at a time on numbers in limbs of 30
 * bits, the highest of which has the sign. Same source as in mp.h; the variant that starts at delta
 * 1/2. */

/* A number of so many words as limbs. */
static void limbs(int32_t *to, size_t n, const uint16_t *from, size_t words) {
    uint64_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < n; i++) {
        while (bits < 30) {
            held |= (uint64_t)(words > 0 ? *from++ : 0) << bits;
            words -= words > 0;
            bits += 16;
        }
        to[i] = (int32_t)(held & 0x3fffffff);
        held >>= 30;
        bits -= 30;
    }
}

/* d += mask ? m : 0; the carries stay in the limbs */
static void add_masked(struct sunseal_mp_inversion *s, int32_t mask) {
    int32_t carry = 0;
    for (int32_t i = 0; i < s->n; i++) {
        carry += s->d[i] + (s->m[i] & mask);
        s->d[i] = i < s->n - 1 ? carry & 0x3fffffff : carry;
        carry >>= 30;
    }
}

void sunseal_mp_invert(uint16_t *r, const uint16_t *x, const struct sunseal_mp_modulus *m) {
    struct sunseal_mp_inversion s;
    size_t words = m->wide;
    while (m->words[words - 1] == 0) {
        words--;
    }
    int32_t bits = (int32_t)(16 * words);
    for (uint16_t top = m->words[words - 1]; !(top & 0x8000); top = (uint16_t)(top << 1)) {
        bits--;
    }
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
    for (int32_t steps = (45907 * bits + 26313) / 19929; steps > 0; steps -= 30) {
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
    uint64_t held = 0;
    unsigned left = 0;
    size_t limb = 0;
    for (size_t i = 0; i < m->count; i++) {
        if (left < 16) {
            held |= (uint64_t)(limb < (size_t)s.n ? (uint32_t)s.d[limb] : 0) << left;
            limb++;
            left += 30;
        }
        r[i] = (uint16_t)held;
        held >>= 16;
        left -= 16;
    }
    sunseal_wipe(&s, sizeof s);
}
