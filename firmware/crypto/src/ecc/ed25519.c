/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, x y = T/Z. The formulas are complete
 * (hyperelliptic.org EFD, twisted Edwards, a = -1: madd-2008-hwcd-3, add-2008-hwcd-3,
 * dbl-2008-hwcd).
 */
#include "sunseal/ed25519.h"

#include <string.h>

#include "../buffers.h"
#include "../verdict.h"
#include "ed25519_tables.h"
#include "field25519.h"
#include "sunseal/sha.h"

typedef uint16_t scalar[ORDER_WORDS] SUNSEAL_MP_ALIGNED;

#include "../ecdsa/comb.inc"

struct point {
    sunseal_fe25519 x, y, z, t;
};

/* y + x, y - x, 2 d x y, as the tables have them */
struct niels {
    sunseal_fe25519 sum, difference, product;
};

/* Y + X, Y - X, 2 d T, 2 Z */
struct cached {
    struct niels niels;
    sunseal_fe25519 z;
};

static void copy(uint16_t *r, const uint16_t *a) {
    memcpy(r, a, sizeof(sunseal_fe25519));
}

#ifdef __ARM_ARCH_7EM__
/* The formulas below in point25519_armv7em.S. */
void sunseal_fe25519_point_double(uint16_t *r, uint16_t with_t);
void sunseal_fe25519_point_add(uint16_t *r, const uint16_t *q, const uint16_t *twice_z,
                               uint16_t with_t);

static void point_double(struct point *r, uint16_t with_t) {
    sunseal_fe25519_point_double(r->x, with_t);
}

static void add_with(struct point *r, const struct niels *q, const uint16_t *twice_z,
                     uint16_t with_t) {
    sunseal_fe25519_point_add(r->x, q->sum, twice_z, with_t);
}

#else

/* r = 2 r; t only where it is asked for */
static void point_double(struct point *r, uint16_t with_t) {
    sunseal_fe25519 e, h;
    sunseal_fe25519_add(e, r->x, r->y);
    sunseal_fe25519_sqr(e, e);
    sunseal_fe25519_sqr(r->x, r->x);
    sunseal_fe25519_sqr(r->y, r->y);
    sunseal_fe25519_sqr(r->z, r->z);
    sunseal_fe25519_add(r->z, r->z, r->z);
    sunseal_fe25519_add(h, r->x, r->y);
    sunseal_fe25519_sub(e, h, e);
    sunseal_fe25519_sub(r->y, r->x, r->y); /* G */
    sunseal_fe25519_add(r->x, r->z, r->y); /* F */
    sunseal_fe25519_mul(r->z, r->x, r->y);
    sunseal_fe25519_mul(r->x, r->x, e);
    sunseal_fe25519_mul(r->y, r->y, h);
    if (with_t) {
        sunseal_fe25519_mul(r->t, e, h);
    }
}

/* r += q, given 2 Z of the one times Z of the other; t only where it is asked for */
static void add_with(struct point *r, const struct niels *q, const uint16_t *twice_z,
                     uint16_t with_t) {
    sunseal_fe25519 a, b;
    sunseal_fe25519_sub(a, r->y, r->x);
    sunseal_fe25519_mul(a, a, q->difference);
    sunseal_fe25519_add(b, r->y, r->x);
    sunseal_fe25519_mul(b, b, q->sum);
    sunseal_fe25519_mul(r->t, r->t, q->product);
    sunseal_fe25519_sub(r->x, b, a);          /* E */
    sunseal_fe25519_add(b, b, a);             /* H */
    sunseal_fe25519_sub(a, twice_z, r->t);    /* F */
    sunseal_fe25519_add(r->y, twice_z, r->t); /* G */
    sunseal_fe25519_mul(r->z, a, r->y);
    if (with_t) {
        sunseal_fe25519_mul(r->t, r->x, b);
    }
    sunseal_fe25519_mul(r->x, r->x, a);
    sunseal_fe25519_mul(r->y, r->y, b);
}

#endif

static void add_niels(struct point *r, const struct niels *q, uint16_t with_t) {
    sunseal_fe25519 twice_z;
    sunseal_fe25519_add(twice_z, r->z, r->z);
    add_with(r, q, twice_z, with_t);
}

static void add_cached(struct point *r, const struct cached *q, uint16_t with_t) {
    sunseal_fe25519 twice_z;
    sunseal_fe25519_mul(twice_z, r->z, q->z);
    add_with(r, &q->niels, twice_z, with_t);
}

static void negate_if(struct niels *q, uint16_t negative) {
    static const sunseal_fe25519 zero = {0};
    sunseal_fe25519 t;
    sunseal_mp_swap(q->sum, q->difference, negative, 16);
    sunseal_fe25519_sub(t, zero, q->product);
    sunseal_mp_select(q->product, t, negative, 16);
}

/* r = k B for k below the order */
static void comb_multiply(struct point *r, const scalar k) {
    uint8_t digits[COMB_BITS];
    struct niels q;
    uint16_t flip = comb_recode(digits, k);
    memset(r, 0, sizeof *r);
    r->y[0] = 1;
    r->z[0] = 1;
    for (size_t column = COMB_STEP; column-- > 0;) {
        if (column != COMB_STEP - 1) {
            point_double(r, 1);
        }
        for (size_t table = COMB_TABLES; table-- > 0;) {
            uint16_t negative;
            uint16_t index = comb_index(&negative, digits, table, column);
            sunseal_mp_pick(q.sum, comb_table + table * (COMB_POINTS * 48), index, 48);
            negate_if(&q, negative ^ flip);
            add_niels(r, &q, table > 0);
        }
    }
    sunseal_wipe(digits, sizeof digits);
    sunseal_wipe(&q, sizeof q);
}

/* RFC 8032, section 5.1.2 */
static void point_encode(uint8_t bytes[32], struct point *point) {
    sunseal_fe25519_invert(point->z, point->z);
    sunseal_fe25519_mul(point->x, point->x, point->z);
    sunseal_fe25519_mul(point->y, point->y, point->z);
    sunseal_fe25519_reduce(point->x);
    sunseal_fe25519_to_bytes(bytes, point->y);
    bytes[31] |= (uint8_t)((point->x[0] & 1) << 7);
}

/* ---- scalars -------------------------------------------------------------------------------- */

/* r = 512 bits modulo n */
static void scalar_reduce(scalar r, const uint8_t bytes[64]) {
    static const scalar unit = {1};
    scalar high;
    sunseal_fe25519_from_bytes(r, bytes);
    sunseal_fe25519_from_bytes(high, bytes + 32);
    SUNSEAL_MP_MONTMUL(16)(high, high, order_r2, &order_n_modulus); /* high 2^256 */
    SUNSEAL_MP_MONTMUL(16)(r, r, order_r2, &order_n_modulus);
    SUNSEAL_MP_MONTMUL(16)(r, r, unit, &order_n_modulus);
    uint16_t carry = sunseal_mp_add(r, r, high, ORDER_WORDS);
    sunseal_mp_reduce_once(r, carry, order_n, high, ORDER_WORDS);
    sunseal_wipe(high, sizeof high);
}

/* The scalar of RFC 8032, section 5.1.5, modulo n: clamped, which half a hash is for nothing else.
 */
static void scalar_clamped(scalar a, uint8_t hash[64]) {
    uint8_t wide[64] = {0};
    memcpy(wide, hash, 32);
    wide[0] &= 0xf8;
    wide[31] = (uint8_t)((wide[31] & 0x7f) | 0x40);
    scalar_reduce(a, wide);
    sunseal_wipe(wide, sizeof wide);
}

/* r = hash of up to three parts, modulo n */
static __attribute__((noinline)) void scalar_hash(scalar r, const uint8_t first[32],
                                                  const uint8_t second[32], const uint8_t *message,
                                                  size_t message_len) {
    uint8_t digest[SUNSEAL_SHA512_BYTES];
    struct sunseal_sha512 hash;
    sunseal_sha512_init(&hash);
    sunseal_sha512_update(&hash, first, 32);
    if (second != NULL) {
        sunseal_sha512_update(&hash, second, 32);
    }
    sunseal_sha512_update(&hash, message, message_len);
    sunseal_sha512_final(&hash, digest);
    scalar_reduce(r, digest);
    sunseal_wipe(digest, sizeof digest);
}

/* ---- keys and signatures -------------------------------------------------------------------- */

int sunseal_ed25519_keygen(uint8_t d[64], uint8_t q[32], const uint8_t entropy[32]) {
    uint8_t hash[SUNSEAL_SHA512_BYTES];
    scalar a;
    struct point point;
    if (entropy == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    SUNSEAL_REQUIRE_APART(d, 64, q, 32);
    memmove(d, entropy, 32);
    sunseal_sha512(hash, d, 32);
    scalar_clamped(a, hash);
    comb_multiply(&point, a);
    point_encode(q, &point);
    memcpy(d + 32, q, 32);
    sunseal_wipe(hash, sizeof hash);
    sunseal_wipe(a, sizeof a);
    sunseal_wipe(&point, sizeof point);
    sunseal_fe25519_forget();
    return SUNSEAL_OK;
}

int sunseal_ed25519_sign(uint8_t sig[64], const uint8_t d[64], const uint8_t *message,
                         size_t message_len) {
    uint8_t hash[SUNSEAL_SHA512_BYTES];
    scalar r, a, k;
    struct point point;
    SUNSEAL_REQUIRE_APART(sig, 64, d, 64);
    SUNSEAL_REQUIRE_APART(sig, 64, message, message_len);
    sunseal_sha512(hash, d, 32);
    scalar_clamped(a, hash);
    scalar_hash(r, hash + 32, NULL, message, message_len);
    comb_multiply(&point, r);
    point_encode(sig, &point);
    scalar_hash(k, sig, d + 32, message, message_len);
    /* S = r + k a */
    SUNSEAL_MP_MONTMUL(16)(k, k, order_r2, &order_n_modulus);
    SUNSEAL_MP_MONTMUL(16)(k, k, a, &order_n_modulus);
    uint16_t carry = sunseal_mp_add(r, r, k, ORDER_WORDS);
    sunseal_mp_reduce_once(r, carry, order_n, k, ORDER_WORDS);
    for (uint8_t i = 0; i < 16; i++) {
        sig[32 + 2 * i] = (uint8_t)r[i];
        sig[33 + 2 * i] = (uint8_t)(r[i] >> 8);
    }
    sunseal_wipe(hash, sizeof hash);
    sunseal_wipe(a, sizeof a);
    sunseal_wipe(r, sizeof r);
    sunseal_wipe(k, sizeof k);
    sunseal_wipe(&point, sizeof point);
    sunseal_fe25519_forget();
    return SUNSEAL_OK;
}

/* ---- verification --------------------------------------------------------------------------- */

#define A_WIDTH 4
#define A_POINTS 4 /* A, 3A, 5A, 7A */

static void square_times(uint16_t *r, uint8_t times) {
    while (times-- > 0) {
        sunseal_fe25519_sqr(r, r);
    }
}

/* r = a^(2^252 - 3), where 2^252 - 3 = (p - 5)/8; t is one more element */
static void power_vartime(uint16_t *r, const uint16_t *a) {
    sunseal_fe25519 s, t, u;
    sunseal_fe25519_sqr(s, a);
    sunseal_fe25519_mul(s, s, a); /* 2^2 - 1 */
    sunseal_fe25519_sqr(t, s);
    sunseal_fe25519_mul(t, t, a); /* 2^3 - 1 */
    square_times(t, 2);
    sunseal_fe25519_mul(s, t, s); /* 2^5 - 1 */
    copy(t, s);
    square_times(t, 5);
    sunseal_fe25519_mul(s, t, s); /* 2^10 - 1 */
    copy(t, s);
    square_times(t, 10);
    sunseal_fe25519_mul(t, t, s); /* 2^20 - 1 */
    copy(u, t);
    square_times(u, 20);
    sunseal_fe25519_mul(t, u, t); /* 2^40 - 1 */
    square_times(t, 10);
    sunseal_fe25519_mul(s, t, s); /* 2^50 - 1 */
    copy(t, s);
    square_times(t, 50);
    sunseal_fe25519_mul(t, t, s); /* 2^100 - 1 */
    copy(u, t);
    square_times(u, 100);
    sunseal_fe25519_mul(t, u, t); /* 2^200 - 1 */
    square_times(t, 50);
    sunseal_fe25519_mul(t, t, s); /* 2^250 - 1 */
    square_times(t, 2);
    sunseal_fe25519_mul(r, t, a);
}

/* The point -A of RFC 8032, section 5.1.3. */
static int decode_negative_vartime(struct point *point, const uint8_t bytes[32]) {
    sunseal_fe25519 u, v, w;
    sunseal_fe25519_from_bytes(point->y, bytes);
    uint16_t odd = point->y[15] >> 15;
    point->y[15] &= 0x7fff;
    copy(u, point->y);
    sunseal_fe25519_reduce(u);
    if (memcmp(u, point->y, sizeof u) != 0) {
        return SUNSEAL_ERR_PUBLIC_KEY_RANGE;
    }
    memset(point->z, 0, sizeof point->z);
    point->z[0] = 1;
    sunseal_fe25519_sqr(u, point->y);
    sunseal_fe25519_mul(v, u, curve_d);
    sunseal_fe25519_sub(u, u, point->z); /* y^2 - 1 */
    sunseal_fe25519_add(v, v, point->z); /* d y^2 + 1 */
    /* x = u v^3 (u v^7)^((p - 5)/8) */
    sunseal_fe25519_sqr(w, v);
    sunseal_fe25519_mul(w, w, v);
    sunseal_fe25519_mul(point->x, w, u);
    sunseal_fe25519_sqr(w, w);
    sunseal_fe25519_mul(w, w, v);
    sunseal_fe25519_mul(w, w, u);
    power_vartime(w, w);
    sunseal_fe25519_mul(point->x, point->x, w);
    sunseal_fe25519_sqr(w, point->x);
    sunseal_fe25519_mul(w, w, v);
    sunseal_fe25519_sub(v, w, u);
    if (!sunseal_fe25519_is_zero(v)) {
        sunseal_fe25519_add(v, w, u);
        if (!sunseal_fe25519_is_zero(v)) {
            return SUNSEAL_ERR_PUBLIC_KEY;
        }
        sunseal_fe25519_mul(point->x, point->x, root_of_minus_one);
    }
    sunseal_fe25519_reduce(point->x);
    if (sunseal_mp_is_zero(point->x, 16) && odd) {
        return SUNSEAL_ERR_PUBLIC_KEY;
    }
    if ((point->x[0] & 1) == odd) {
        memset(u, 0, sizeof u);
        sunseal_fe25519_sub(point->x, u, point->x);
    }
    sunseal_fe25519_mul(point->t, point->x, point->y);
    return SUNSEAL_OK;
}

static void cache(struct cached *r, const struct point *point) {
    sunseal_fe25519_add(r->niels.sum, point->y, point->x);
    sunseal_fe25519_sub(r->niels.difference, point->y, point->x);
    sunseal_fe25519_mul(r->niels.product, point->t, curve_2d);
    sunseal_fe25519_add(r->z, point->z, point->z);
}

/* table = A, 3A, 5A, 7A of the point A, or an error for one of a small subgroup */
static int table_vartime(struct cached table[A_POINTS], struct point *point) {
    struct cached twice;
    struct point sum = *point;
    cache(&table[0], point);
    point_double(&sum, 1);
    cache(&twice, &sum);
    for (uint8_t i = 1; i < A_POINTS; i++) {
        /* 2A + A, ... */
        sum = *point;
        add_cached(&sum, &twice, 1);
        *point = sum;
        cache(&table[i], point);
    }
    /* 8A = 7A + A is the neutral element, (0, Z)? */
    add_cached(&sum, &table[0], 0);
    return sunseal_fe25519_is_zero(sum.x) && !sunseal_fe25519_is_zero(sum.y) ? SUNSEAL_ERR_INFINITY
                                                                             : SUNSEAL_OK;
}

/* r = s B + k A, sharing the doublings */
static void multiply_two_vartime(struct point *r, const scalar s, const scalar k,
                                 const struct cached table[A_POINTS]) {
    struct sunseal_mp_digits of_b, of_a;
    struct cached q;
    sunseal_mp_digits_begin_vartime(&of_b, s, ORDER_BITS, B_WIDTH);
    sunseal_mp_digits_begin_vartime(&of_a, k, ORDER_BITS, A_WIDTH);
    memset(r, 0, sizeof *r);
    r->y[0] = 1;
    r->z[0] = 1;
    uint16_t begun = 0;
    for (uint16_t i = 0; i <= ORDER_BITS; i++) {
        int8_t b = sunseal_mp_digits_next_vartime(&of_b);
        int8_t a = sunseal_mp_digits_next_vartime(&of_a);
        if (begun) {
            point_double(r, a != 0 || b != 0);
        }
        begun |= a != 0 || b != 0;
        if (a != 0) {
            q = table[(a < 0 ? -a : a) >> 1];
            negate_if(&q.niels, a < 0 ? 0xffff : 0);
            add_cached(r, &q, b != 0);
        }
        if (b != 0) {
            const SUNSEAL_FLASH uint16_t *from = b_table + ((b < 0 ? -b : b) >> 1) * 48;
            for (uint8_t j = 0; j < 16; j++) {
                q.niels.sum[j] = from[j];
                q.niels.difference[j] = from[16 + j];
                q.niels.product[j] = from[32 + j];
            }
            negate_if(&q.niels, b < 0 ? 0xffff : 0);
            add_niels(r, &q.niels, 0);
        }
    }
}

int sunseal_ed25519_verify(const uint8_t q[32], const uint8_t sig[64], const uint8_t *message,
                           size_t message_len) {
    uint8_t bytes[32];
    scalar s, k;
    struct cached table[A_POINTS];
    struct point point;
    if (q == NULL || sig == NULL || (message == NULL && message_len > 0)) {
        return SUNSEAL_ERR_NULL;
    }
    int status = decode_negative_vartime(&point, q);
    if (status == SUNSEAL_OK) {
        status = table_vartime(table, &point);
    }
    if (status != SUNSEAL_OK) {
        return sunseal_refused(status);
    }
    sunseal_fe25519_from_bytes(s, sig + 32);
    if (!sunseal_mp_sub(k, s, order_n, ORDER_WORDS)) {
        return SUNSEAL_ERR_SIGNATURE_RANGE;
    }
    scalar_hash(k, sig, q, message, message_len);
    multiply_two_vartime(&point, s, k, table);
    point_encode(bytes, &point);
    SUNSEAL_RETURN(sunseal_verdict_same(bytes, sig, 32, SUNSEAL_ERR_SIGNATURE));
}
