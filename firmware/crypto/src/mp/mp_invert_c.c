/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_invert_*.S: one division step at a time, on whole numbers; host only. */

#define MAX_WORDS 17

/* Steps that surely suffice for b-bit numbers: (49 b + 57) / 17 for b >= 46 (theorem 11.2). */
static size_t step_count(size_t bits) {
    return (49 * bits + 57) / 17;
}

static void shift_right(uint16_t *a, uint16_t top, size_t n) {
    for (size_t i = n; i-- > 0;) {
        uint16_t out = a[i] & 1;
        a[i] = (uint16_t)((a[i] >> 1) | (top << 15));
        top = out;
    }
}

static void mask_words(uint16_t *r, const uint16_t *a, uint16_t flip, uint16_t mask, size_t n) {
    for (size_t i = 0; i < n; i++) {
        r[i] = (uint16_t)((a[i] ^ flip) & mask);
    }
}

void sunseal_mp_invert(uint16_t *r, const uint16_t *x, const uint16_t *m, size_t n) {
    uint16_t f[MAX_WORDS], g[MAX_WORDS], d[MAX_WORDS], e[MAX_WORDS], t[MAX_WORDS], u[MAX_WORDS];
    size_t w = n + 1;
    int16_t delta = 1;
    for (size_t i = 0; i < w; i++) {
        f[i] = i < n ? m[i] : 0;
        g[i] = i < n ? x[i] : 0;
        d[i] = 0;
        e[i] = i == 0;
    }
    for (size_t step = step_count(16 * n); step > 0; step--) {
        uint16_t odd = (uint16_t)-(g[0] & 1);
        uint16_t swap = (uint16_t)((uint16_t)-((uint16_t)-delta >> 15) & odd);
        /* g += odd ? (swap ? -f : f) : 0, as two's complement */
        mask_words(t, f, swap, odd, w);
        for (size_t i = 0; i < w; i++) {
            u[i] = (uint16_t)(i == 0 ? swap & 1 : 0);
        }
        sunseal_mp_add(t, t, u, w);
        sunseal_mp_add(g, g, t, w);
        mask_words(t, g, 0, swap, w);
        sunseal_mp_add(f, f, t, w);
        shift_right(g, g[w - 1] >> 15, w);
        /* The same on d, e modulo m: e' = e - d or e + d, then d' = swap ? e : d. */
        mask_words(t, d, 0, odd, w);
        mask_words(u, e, 0, 0xffff, w);
        sunseal_mp_sub(r, m, t, n); /* m - t, in (0, m] */
        for (size_t i = 0; i < n; i++) {
            t[i] = (uint16_t)((t[i] & ~swap) | (r[i] & swap));
        }
        uint16_t carry = sunseal_mp_add(e, e, t, n);
        sunseal_mp_reduce_once(e, carry, m, t, n);
        sunseal_mp_select(d, u, swap, n);
        mask_words(t, m, 0, (uint16_t)-(e[0] & 1), n);
        carry = sunseal_mp_add(e, e, t, n);
        shift_right(e, carry, n);
        delta = (int16_t)(1 + ((delta ^ (int16_t)swap) - (int16_t)swap));
    }
    /* f is 1 or -1; the inverse is d or -d. */
    uint16_t negative = (uint16_t)-(f[w - 1] >> 15);
    sunseal_mp_sub(t, m, d, n);
    sunseal_mp_select(d, t, negative, n);
    mask_words(r, d, 0, (uint16_t)~sunseal_mp_is_zero(x, n), n);
    sunseal_wipe(f, sizeof f);
    sunseal_wipe(g, sizeof g);
    sunseal_wipe(d, sizeof d);
    sunseal_wipe(e, sizeof e);
    sunseal_wipe(t, sizeof t);
    sunseal_wipe(u, sizeof u);
}
