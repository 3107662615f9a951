/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "rsa_internal.h"

#include <string.h>

#include "mp/mp.h"
#include "sunseal/error.h"
#include "sunseal/wipe.h"

#define BASE_WORDS 8   /* of the blinding's base r */
#define FACTOR_WORDS 2 /* of the exponents' blinding */

volatile uint8_t sunseal_rsa_verdict;

/*
 * Scratch in units of half words: a number modulo n takes two.
 *
 *   modulo n     x 2, modulus 2 (4 with its copy), y 2, z 2, t 4
 *   modulo p, q  x 2, sq 1, modulus 1 (2), t 2, acc 1, table 8 or 16, exponent 1 and 4 words
 *   both         at the end, where there is room, R^2 mod n 2
 *
 * x stays in its place: the blinded message, then the result.
 */
struct whole {
    struct sunseal_rsa_modulus m;
    uint16_t *x, *y, *z;
};

struct part {
    struct sunseal_rsa_modulus m;
    uint16_t *x, *sq, *acc, *table, *exponent;
};

static struct whole whole(const struct sunseal_rsa_size *size) {
    size_t n = 2 * size->half;
    struct whole w;
    w.x = size->scratch;
    w.m.words = w.x + n;
    w.y = w.m.words + SUNSEAL_RSA_COPIES * n;
    w.z = w.y + n;
    w.m.scratch = w.z + n;
    w.m.count = (uint16_t)n;
    return w;
}

static struct part part(const struct sunseal_rsa_size *size) {
    size_t h = size->half;
    struct part p;
    p.x = size->scratch;
    p.sq = p.x + 2 * h;
    p.m.words = p.sq + h;
    p.m.scratch = p.m.words + SUNSEAL_RSA_COPIES * h;
    p.acc = p.m.scratch + 2 * h;
    p.table = p.acc + h;
    p.exponent = p.table + (h << size->window);
    p.m.count = (uint16_t)h;
    return p;
}

/* --- moduli ------------------------------------------------------------------------------------
 */

/* -1/low mod 2^32 of an odd number, by Newton's iteration. */
static uint32_t negative_inverse(uint32_t low) {
    uint32_t y = (3 * low) ^ 2; /* 5 bits are right */
    y *= 2 - low * y;
    y *= 2 - low * y;
    y *= 2 - low * y;
    return -y;
}

/* n words from bytes and back, by halves: the targets' routines take less than 256 bytes. */
static void from_bytes(uint16_t *words, const uint8_t *bytes, size_t n) {
    sunseal_mp_from_bytes(words, bytes + n, n, n / 2);
    sunseal_mp_from_bytes(words + n / 2, bytes, n, n / 2);
}

static void to_bytes(uint8_t *bytes, const uint16_t *words, size_t n) {
    sunseal_mp_to_bytes(bytes, words + n / 2, n);
    sunseal_mp_to_bytes(bytes + n, words, n);
}

/* a = a mod m, of any a. */
static void canonical(uint16_t *a, uint16_t carry, const struct sunseal_rsa_modulus *m) {
    sunseal_mp_reduce_once(a, carry, m->words, m->scratch, m->count);
}

/* Take the modulus from its bytes. */
static void load(struct sunseal_rsa_modulus *m, const uint8_t *bytes) {
    size_t n = m->count;
    from_bytes(m->words, bytes, n);
#if SUNSEAL_RSA_REVERSED_LIMB
    for (size_t i = 0; i < n; i += SUNSEAL_RSA_REVERSED_LIMB) {
        memcpy(m->words + 2 * n - SUNSEAL_RSA_REVERSED_LIMB - i, m->words + i,
               2 * SUNSEAL_RSA_REVERSED_LIMB);
    }
#endif
    m->inverse = negative_inverse(m->words[0] | (uint32_t)m->words[1] << 16);
}

#if defined(__arm__) || (defined(__MSP430__) && SUNSEAL_MPY == 32)
/* r2 = R^2 modulo m: R mod m is R - m; 2^16 R after 16 doublings; each squaring doubles the
 * exponent. */
static void square_radix(uint16_t *r2, const struct sunseal_rsa_modulus *m) {
    size_t n = m->count;
    memset(r2, 0, 2 * n);
    sunseal_mp_sub(r2, r2, m->words, n);
    for (size_t i = 0; i < 16; i++) {
        canonical(r2, sunseal_mp_add(r2, r2, r2, n), m);
    }
    for (size_t power = 16; power < 16 * n; power *= 2) {
        sunseal_rsa_montsqr(r2, r2, m);
    }
}
#else
/* The quotient of 48 bits by 32, 2^31 at least, less 1 unless it is 0; below 2^16. */
static uint16_t estimate(uint16_t high, uint16_t middle, uint16_t low, uint32_t by) {
    uint32_t rest = (uint32_t)high << 16 | middle;
    uint16_t q = 0;
    for (uint8_t i = 0; i < 16; i++) {
        uint16_t above = (uint16_t)(rest >> 16);
        rest = rest << 1 | low >> 15;
        low = (uint16_t)(low << 1);
        uint32_t less = rest - by;
        uint16_t borrow = (uint16_t)(((~rest & by) | (~(rest ^ by) & less)) >> 16);
        uint16_t keep = sunseal_mp_mask_high(borrow & (uint16_t)~above);
        rest = less ^ ((less ^ rest) & ((uint32_t)keep << 16 | keep));
        q = (uint16_t)(q << 1) | (uint16_t)(~keep & 1);
    }
    return q - (uint16_t)((uint16_t)(q | (uint16_t)-q) >> 15);
}

/*
 * r2 = R^2 modulo m. From R mod m = R - m on, 14 bits at a time: t 2^14 - q m for a quotient q that
 * is short by 2 at most, so that t stays below 3 m. A row of products costs far less than the
 * squarings that Montgomery's way would take.
 */
static void square_radix(uint16_t *r2, const struct sunseal_rsa_modulus *m) {
    size_t n = m->count;
    uint16_t *t = m->scratch;
    uint32_t highest = (uint32_t)m->words[n - 1] << 16 | m->words[n - 2];
    uint16_t top = 0;
    memset(r2, 0, 2 * n);
    sunseal_mp_sub(r2, r2, m->words, n);
    memcpy(t, r2, 2 * n);
    for (size_t left = 16 * n; left > 0;) {
        uint16_t bits = left < 14 ? (uint16_t)left : 14;
        left -= bits;
        top = (uint16_t)(top << bits);
        top += sunseal_mp_addmul1(t, t, (uint16_t)((1u << bits) - 1), n);
        uint16_t q = estimate(top, t[n - 1], t[n - 2], highest);
        top += sunseal_mp_addmul1(t, r2, q, n);
        top -= q;
    }
    for (uint8_t i = 0; i < 3; i++) {
        uint16_t after = top - sunseal_mp_sub(t + n, t, m->words, n);
        uint16_t keep = sunseal_mp_mask_high(after);
        sunseal_mp_select(t, t + n, (uint16_t)~keep, n);
        top = after ^ ((after ^ top) & keep);
    }
    memcpy(r2, t, 2 * n);
}
#endif

/* --- keys --------------------------------------------------------------------------------------
 */

/*
 * What is right is gathered as bits, by operations that no compiler makes a branch of; they stop to
 * be secret in the verdict byte.
 */
#define NOT_ZERO 0x80
#define LONG 0x40
#define BELOW_N 0x20
#define ODD 0x01

/* NOT_ZERO, or 0 if all bytes are zero; the other bits are noise. */
static uint8_t not_zero(const uint8_t *bytes, size_t count) {
    uint8_t any = 0;
    for (size_t i = 0; i < count; i++) {
        any |= bytes[i];
    }
    return any | (uint8_t)-any;
}

/* What is right about a modulus; the other bits are noise. */
static uint8_t virtues(const uint8_t *bytes, size_t count) {
    return (uint8_t)((not_zero(bytes, count) & NOT_ZERO) | (bytes[0] >> 1 & LONG) |
                     (bytes[count - 1] & ODD));
}

static uint8_t verdict(uint8_t bits) {
    sunseal_rsa_verdict = bits;
    return sunseal_rsa_verdict;
}

/* The most serious of what is missing. */
static int decide(uint8_t right) {
    right = verdict(right & (NOT_ZERO | LONG | BELOW_N | ODD));
    if (!(right & NOT_ZERO)) {
        return SUNSEAL_ERR_RSA_ZERO;
    }
    if (!(right & LONG)) {
        return SUNSEAL_ERR_RSA_SIZE;
    }
    if (!(right & ODD)) {
        return SUNSEAL_ERR_RSA_EVEN;
    }
    return right & BELOW_N ? SUNSEAL_OK : SUNSEAL_ERR_RSA_RANGE;
}

/* Take n and x from their bytes; what is right about them. */
static uint8_t take(struct whole *w, const uint8_t *n, const uint8_t *x) {
    size_t bytes = 2 * w->m.count;
    load(&w->m, n);
    from_bytes(w->x, x, w->m.count);
    uint16_t borrow = sunseal_mp_sub(w->y, w->x, w->m.words, w->m.count);
    return virtues(n, bytes) | (uint8_t)(borrow << 5);
}

/* --- modulo n ----------------------------------------------------------------------------------
 */

/* y = y^65536 */
static void square_16(const struct whole *w) {
    for (size_t i = 0; i < 16; i++) {
        sunseal_rsa_montsqr(w->y, w->y, &w->m);
    }
}

/* y = x^65537 mod n, z = R^2 */
static void power_e(const struct whole *w) {
    sunseal_rsa_montmul(w->y, w->x, w->z, &w->m);
    square_16(w);
    sunseal_rsa_montmul(w->y, w->y, w->x, &w->m);
    canonical(w->y, 0, &w->m);
}

/*
 * Steps of a division by r from the low end, modulo powers of 2^16: each adds the multiple of r
 * that clears the lowest word left. p has steps + BASE_WORDS + 1 words; what remains stands in its
 * top BASE_WORDS + 1. The quotient, negated and in p's place, is -p/r mod 2^(16 steps).
 */
static void divide(uint16_t *p, const uint16_t *r, uint16_t inverse, size_t steps) {
    uint32_t carry = 0;
    for (size_t i = 0; i < steps; i++) {
        uint16_t quotient = (uint16_t)(p[i] * (uint32_t)inverse);
        carry += sunseal_mp_addmul1(p + i, r, quotient, BASE_WORDS);
        carry += p[i + BASE_WORDS];
        p[i + BASE_WORDS] = (uint16_t)carry;
        carry >>= 16;
        p[i] = quotient;
    }
    p[steps + BASE_WORDS] = (uint16_t)(p[steps + BASE_WORDS] + carry);
}

/* The base of the blinding: odd, of full length. */
static void base(uint16_t *r, const uint8_t *random) {
    sunseal_mp_from_bytes(r, random, 2 * BASE_WORDS, BASE_WORDS);
    r[0] |= 1;
    r[BASE_WORDS - 1] |= 0x8000;
}

/*
 * y = R/r mod n. r is so short that nearly all is exact division: with v = R/n mod r, (n v - R)/r
 * is a whole number and n less it is y.
 */
static void invert_base(const struct whole *w, const uint8_t *random) {
    size_t n = w->m.count;
    uint16_t *t = w->m.scratch;
    uint16_t r[BASE_WORDS + 1], v[BASE_WORDS];
    base(r, random);
    r[BASE_WORDS] = 0;
    uint16_t inverse = (uint16_t)negative_inverse(r[0] | (uint32_t)r[1] << 16);
    /* n/R mod r */
    memcpy(t, w->m.words, 2 * n);
    memset(t + n, 0, 2 * (BASE_WORDS + 1));
    divide(t, r, inverse, n);
    memcpy(v, t + n, 2 * BASE_WORDS);
    sunseal_mp_reduce_once(v, t[n + BASE_WORDS], r, t, BASE_WORDS);
    const struct sunseal_mp_modulus mod = {
        .words = r,
        .inverse = (uint16_t)-inverse & 0x3fff,
        .half = 0,
        .count = BASE_WORDS,
        .wide = BASE_WORDS + 1,
        .batches = 22, /* 297 steps for 128 bits: eprint 2019/266, with the start at delta 1/2 */
    };
    sunseal_mp_invert(v, v, &mod);
    /* n v - R, of which the low n words suffice */
    memset(t, 0, 2 * (n + BASE_WORDS + 1));
    for (size_t i = 0; i < BASE_WORDS; i++) {
        t[n + i] = sunseal_mp_addmul1(t + i, w->m.words, v[i], n);
    }
    divide(t, r, inverse, n);
    sunseal_mp_add(w->y, w->m.words, t, n);
    sunseal_wipe(r, sizeof r);
    sunseal_wipe(v, sizeof v);
}

/* x = m r^65537 mod n */
static void blind(const struct whole *w, const uint8_t *m, const uint8_t *random) {
    size_t n = w->m.count;
    memset(w->x, 0, 2 * n);
    base(w->x, random);
    sunseal_rsa_montmul(w->y, w->x, w->z, &w->m);
    from_bytes(w->x, m, n);
    sunseal_rsa_montmul(w->x, w->x, w->y, &w->m);
    square_16(w);
    sunseal_rsa_montmul(w->x, w->x, w->y, &w->m);
}

/* --- modulo a prime ----------------------------------------------------------------------------
 */

/* exponent = d + k (p-1) */
static void blind_exponent(const struct part *p, const uint8_t *d, const uint8_t *random) {
    size_t h = p->m.count;
    uint16_t k[FACTOR_WORDS];
    sunseal_mp_from_bytes(k, random, sizeof k, FACTOR_WORDS);
    sunseal_mp_from_bytes(p->exponent, d, 2 * h, h + FACTOR_WORDS + 1);
    p->m.words[0] &= 0xfffe; /* p-1 */
    for (size_t i = 0; i < FACTOR_WORDS; i++) {
        p->exponent[h + i] = sunseal_mp_addmul1(p->exponent + i, p->m.words, k[i], h);
    }
    p->m.words[0] |= 1;
    sunseal_wipe(k, sizeof k);
}

/* The digit of so many bits from this bit on. */
static uint16_t digit(const uint16_t *exponent, size_t bit, uint16_t window) {
    uint32_t words = exponent[bit / 16] | (uint32_t)exponent[bit / 16 + 1] << 16;
    return (uint16_t)(words >> bit % 16) & (uint16_t)((1u << window) - 1);
}

/* acc = x^exponent mod p, in Montgomery form; x of double length is reduced on the way. r2 may lie
 * in the table from its entry 2 on; kept, where given, receives it. pick is room for a number; both
 * may lie in x. */
static void exponentiate(const struct part *p, const uint16_t *r2, uint16_t *kept, uint16_t *pick,
                         uint16_t window) {
    size_t h = p->m.count;
    uint16_t *table = p->table;
    /* table[0] = 1, table[1] = x = low + R high */
    sunseal_rsa_montmul(p->acc, p->x + h, r2, &p->m);
    canonical(p->acc, 0, &p->m);
    memcpy(table, p->x, 2 * h);
    canonical(table, 0, &p->m);
    canonical(p->acc, sunseal_mp_add(p->acc, p->acc, table, h), &p->m);
    sunseal_rsa_montmul(table + h, p->acc, r2, &p->m);
    if (kept != NULL) {
        memcpy(kept, r2, 2 * h);
    }
    memset(table, 0, 2 * h);
    sunseal_mp_sub(table, table, p->m.words, h);
    for (size_t i = 2; i < (size_t)1 << window; i++) {
        if (i % 2 == 0) {
            sunseal_rsa_montsqr(table + i * h, table + i / 2 * h, &p->m);
        } else {
            sunseal_rsa_montmul(table + i * h, table + (i - 1) * h, table + h, &p->m);
        }
    }
    /* The blinded exponent's bits are a multiple of either window. */
    size_t bit = 16 * (h + FACTOR_WORDS) - window;
    uint16_t entries = (uint16_t)(1u << window);
    sunseal_rsa_pick(p->acc, table, digit(p->exponent, bit, window), entries, (uint16_t)h);
    while (bit > 0) {
        bit -= window;
        for (uint16_t i = 0; i < window; i++) {
            sunseal_rsa_montsqr(p->acc, p->acc, &p->m);
        }
        sunseal_rsa_pick(pick, table, digit(p->exponent, bit, window), entries, (uint16_t)h);
        sunseal_rsa_montmul(p->acc, p->acc, pick, &p->m);
    }
}

/* x = x^d mod n from its powers modulo p and q (Garner). */
static void chinese(const struct sunseal_rsa_key *key, const uint8_t *random,
                    const struct sunseal_rsa_size *size) {
    struct part p = part(size);
    size_t h = size->half;
    uint16_t *entry0 = p.table, *entry1 = entry0 + h, *entry2 = entry1 + h;

    load(&p.m, key->q);
    square_radix(entry2, &p.m);
    blind_exponent(&p, key->dq, random + 2 * FACTOR_WORDS);
    exponentiate(&p, entry2, NULL, p.sq, size->window);
    memset(entry0, 0, 2 * h);
    entry0[0] = 1;
    sunseal_rsa_montmul(p.sq, p.acc, entry0, &p.m);
    canonical(p.sq, 0, &p.m);

    load(&p.m, key->p);
    square_radix(entry2, &p.m);
    blind_exponent(&p, key->dp, random);
    exponentiate(&p, entry2, p.x + h, p.x, size->window);
    canonical(p.acc, 0, &p.m);

    /* acc = (sp - sq)/q mod p */
    sunseal_rsa_montmul(entry0, p.sq, p.x + h, &p.m);
    canonical(entry0, 0, &p.m);
    uint16_t borrow = sunseal_mp_sub(p.acc, p.acc, entry0, h);
    sunseal_mp_add(entry1, p.acc, p.m.words, h);
    sunseal_mp_select(p.acc, entry1, sunseal_mp_mask_low(borrow), h);
    from_bytes(entry1, key->qinv, h);
    sunseal_rsa_montmul(p.acc, p.acc, entry1, &p.m);
    canonical(p.acc, 0, &p.m);

    /* x = sq + q acc */
    from_bytes(entry1, key->q, h);
    memcpy(p.x, p.sq, 2 * h);
    for (size_t i = 0; i < h; i++) {
        p.x[h + i] = sunseal_mp_addmul1(p.x + i, entry1, p.acc[i], h);
    }
}

/* --- primitives --------------------------------------------------------------------------------
 */

int sunseal_rsa_public(const uint8_t *n, const uint8_t *in, const struct sunseal_rsa_size *size) {
    struct whole w = whole(size);
    int result = decide(take(&w, n, in));
    if (result != SUNSEAL_OK) {
        return result;
    }
    square_radix(w.z, &w.m);
    power_e(&w);
    to_bytes((uint8_t *)w.x, w.y, w.m.count);
    return SUNSEAL_OK;
}

int sunseal_rsa_private(const struct sunseal_rsa_key *key, const uint8_t *in,
                        const uint8_t random[24], const struct sunseal_rsa_size *size) {
    struct whole w = whole(size);
    size_t n = w.m.count;
    uint8_t others = not_zero(key->dp, n) & not_zero(key->dq, n) & not_zero(key->qinv, n);
    int result = decide(take(&w, key->n, in) & (virtues(key->p, n) | BELOW_N) &
                        (virtues(key->q, n) | BELOW_N) & (others | (uint8_t)~NOT_ZERO));
    if (result != SUNSEAL_OK) {
        return result;
    }
    square_radix(w.z, &w.m);
    if (size->kept != NULL) {
        memcpy(size->kept, w.z, 2 * n);
    }
    blind(&w, in, random);
    chinese(key, random + 2 * BASE_WORDS, size);
    load(&w.m, key->n);
    invert_base(&w, random);
    sunseal_rsa_montmul(w.x, w.x, w.y, &w.m);
    canonical(w.x, 0, &w.m);

    if (size->kept != NULL) {
        memcpy(w.z, size->kept, 2 * n);
    } else {
        square_radix(w.z, &w.m);
    }
    power_e(&w);
    from_bytes(w.z, in, n);
    uint16_t different = 0;
    for (size_t i = 0; i < n; i++) {
        different |= w.y[i] ^ w.z[i];
    }
    different |= (uint16_t)-different;
    memcpy(w.y, w.x, 2 * n);
    to_bytes((uint8_t *)w.x, w.y, n);
    return verdict((uint8_t)(different >> 8 & 0x80)) ? SUNSEAL_ERR_RSA_FAULT : SUNSEAL_OK;
}
