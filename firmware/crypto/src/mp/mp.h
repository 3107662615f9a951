/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_MP_H
#define SUNSEAL_MP_H

#include <stddef.h>
#include <stdint.h>

#include "../flash.h"
#include "sunseal/wipe.h"

/*
 * Arithmetic on arrays of 16-bit words, least significant first. All constant-time in the data;
 * masks are 0 or 0xffff.
 */

/* On a type of arrays of words: Arm's code loads two words at once. */
#ifdef __arm__
#define SUNSEAL_MP_ALIGNED __attribute__((aligned(4)))
#else
#define SUNSEAL_MP_ALIGNED
#endif

/*
 * 0xffff where the highest, or the lowest, bit of a word is set, else 0. In assembly for the
 * MSP430: a compiler that sees how a mask comes about may turn its use into a branch, and clang's
 * back end for that target does; docs/reference/constant-time.md says that the others do not.
 */
static inline uint16_t sunseal_mp_mask_high(uint16_t word) {
#ifdef __MSP430__
    __asm__("rla %0\n\tsubc %0, %0\n\tinv %0" : "+r"(word) : : "cc");
    return word;
#else
    return (uint16_t)-(word >> 15);
#endif
}

static inline uint16_t sunseal_mp_mask_low(uint16_t word) {
#ifdef __MSP430__
    __asm__("rra %0\n\tsubc %0, %0\n\tinv %0" : "+r"(word) : : "cc");
    return word;
#else
    return (uint16_t)-(word & 1);
#endif
}

/* acc[0..n-1] += a * b; returns the word that leaves at the top. */
uint16_t sunseal_mp_addmul1(uint16_t *acc, const uint16_t *a, uint16_t b, size_t n);

/* r = a + b; returns the carry. */
uint16_t sunseal_mp_add(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n);

/* r = a - b; returns the borrow. */
uint16_t sunseal_mp_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n);

/* r = mask ? a : r */
void sunseal_mp_select(uint16_t *r, const uint16_t *a, uint16_t mask, size_t n);

/* Exchanges a and b, n words, a multiple of 4, where the mask is 0xffff. */
void sunseal_mp_swap(uint16_t *a, uint16_t *b, uint16_t mask, size_t n);

/* r = entry index of a table of SUNSEAL_MP_PICK_ENTRIES entries of n words each, n a multiple of 4.
 * Reads all of them. */
#define SUNSEAL_MP_PICK_ENTRIES 32
void sunseal_mp_pick(uint16_t *r, const SUNSEAL_FLASH uint16_t *table, uint16_t index, size_t n);

/* The same of a table of 8 entries in RAM. */
void sunseal_mp_pick8(uint16_t *r, const uint16_t *table, uint16_t index, size_t n);

/* r = a mod m, given a < 2m; scratch is n words. */
void sunseal_mp_reduce_once(uint16_t *r, uint16_t carry, const uint16_t *m, uint16_t *scratch,
                            size_t n);

/* 0xffff if all words are zero, else 0. */
uint16_t sunseal_mp_is_zero(const uint16_t *a, size_t n);

#ifdef __ARM_ARCH_7EM__
/* 0xffff if 0 < a < m, else 0; n is even. */
uint16_t sunseal_mp_in_range(const uint16_t *a, const uint16_t *m, size_t n);
#endif

/* Big-endian bytes to words (count bytes, 2 n at most, the rest of the n words zero), and back. */
void sunseal_mp_from_bytes(uint16_t *r, const uint8_t *bytes, size_t count, size_t n);
void sunseal_mp_to_bytes(uint8_t *bytes, const uint16_t *a, size_t count);

/*
 * Inversion by Bernstein-Yang division steps (eprint 2019/266), 14 at a time: the steps are found
 * on the lowest words and gathered in a 2 x 2 matrix, which is then applied to the whole numbers.
 */
#define SUNSEAL_MP_STEPS 14

struct sunseal_mp_modulus {
    const uint16_t *words; /* odd */
    uint16_t inverse;      /* 1/m mod 2^14 */
    uint16_t half;         /* 0: the variant that starts at delta 1/2; 0xffff: at delta 1 */
    uint8_t count;         /* words of a number below m */
    uint8_t wide;          /* words that hold 2^15 m and a sign */
    uint8_t batches;       /* of 14 steps, enough for any x */
    uint32_t n0;           /* -1/m mod 2^32 */
};

/* r = a b / 2^(16 count) mod m, below m, given a b < 2^(16 count) m; count is even and at most 16.
 * r may be an operand. (Montgomery) */
#define SUNSEAL_MP_MONTMUL_WORDS 16
void sunseal_mp_montmul(uint16_t *r, const uint16_t *a, const uint16_t *b,
                        const struct sunseal_mp_modulus *m);

/* The same function for a count that is known when compiling: the products of a fixed length are
 * faster, and on AVR those as long as a field's elements are there already. */
#ifdef __AVR__
void sunseal_mp_montmul_12(uint16_t *r, const uint16_t *a, const uint16_t *b,
                           const struct sunseal_mp_modulus *m);
void sunseal_mp_montmul_14(uint16_t *r, const uint16_t *a, const uint16_t *b,
                           const struct sunseal_mp_modulus *m);
void sunseal_mp_montmul_16(uint16_t *r, const uint16_t *a, const uint16_t *b,
                           const struct sunseal_mp_modulus *m);
#define SUNSEAL_MP_MONTMUL(count)                                                                  \
    ((count) == 16   ? sunseal_mp_montmul_16                                                       \
     : (count) == 14 ? sunseal_mp_montmul_14                                                       \
     : (count) == 12 ? sunseal_mp_montmul_12                                                       \
                     : sunseal_mp_montmul)
#elif defined(__ARM_ARCH_7EM__)
/* With b and m below 2^191. */
void sunseal_mp_montmul_12(uint16_t *r, const uint16_t *a, const uint16_t *b,
                           const struct sunseal_mp_modulus *m);
#define SUNSEAL_MP_MONTMUL(count) ((count) == 12 ? sunseal_mp_montmul_12 : sunseal_mp_montmul)
#elif defined(__MSP430__) && SUNSEAL_MPY == 16
void sunseal_mp_montmul_12(uint16_t *r, const uint16_t *a, const uint16_t *b,
                           const struct sunseal_mp_modulus *m);
void sunseal_mp_montmul_16(uint16_t *r, const uint16_t *a, const uint16_t *b,
                           const struct sunseal_mp_modulus *m);
#define SUNSEAL_MP_MONTMUL(count)                                                                  \
    ((count) == 16   ? sunseal_mp_montmul_16                                                       \
     : (count) == 12 ? sunseal_mp_montmul_12                                                       \
                     : sunseal_mp_montmul)
#elif defined(__MSP430__) && SUNSEAL_MPY == 32
void sunseal_mp_montmul_16(uint16_t *r, const uint16_t *a, const uint16_t *b,
                           const struct sunseal_mp_modulus *m);
#define SUNSEAL_MP_MONTMUL(count) ((count) == 16 ? sunseal_mp_montmul_16 : sunseal_mp_montmul)
#else
#define SUNSEAL_MP_MONTMUL(count) sunseal_mp_montmul
#endif

/* Start with eta = -1. Applies 14 steps to f and g, of which the low words suffice:
 * 2^14 f' = u f + v g, 2^14 g' = q f + r g. All signed. */
struct sunseal_mp_matrix {
    uint16_t u, v, q, r;
    uint16_t eta, half;
};
void sunseal_mp_divsteps(struct sunseal_mp_matrix *matrix, uint16_t f, uint16_t g);

/* r = sum(factor * words) / 2^14, exact, two's complement of n words; r may be one of the words.
 * The factors are signed, their magnitudes add up to less than 2^16. */
struct sunseal_mp_term {
    uint16_t factor;
    const uint16_t *words;
};
void sunseal_mp_combine(uint16_t *r, const struct sunseal_mp_term terms[3], size_t n);

/* The same of two terms; a third must be there and its factor be 0, so that a target may do
 * without. */
#ifdef __AVR__
void sunseal_mp_combine_two(uint16_t *r, const struct sunseal_mp_term terms[3], size_t n);
#else
#define sunseal_mp_combine_two sunseal_mp_combine
#endif

/* r = 1/x mod m for 0 < x < m; 0 for x = 0. */
void sunseal_mp_invert(uint16_t *r, const uint16_t *x, const struct sunseal_mp_modulus *m);

/*
 * Signed odd digits of a public number from the top, of width bits (at most 8), for a table of
 * 2^(width
 * - 2) odd multiples. The mutual opposite form of u, 2u - u bit by bit, has digits u[i-1] - u[i]
 * and, other than the usual NAF, can be read from the top: no room for digits is needed. At the
 * first digit that is not zero a window of width digits becomes one odd digit at its lowest place
 * that is not zero (Okeya, Schmidt-Samoa, Spahn, Takagi 2004).
 */
struct sunseal_mp_digits {
    const uint16_t *words; /* the word being read; so many are left below it */
    uint8_t words_left;
    uint8_t bits_left; /* in word */
    uint16_t word;
    uint16_t window; /* bits i to i - width of u */
    uint8_t width;
    uint8_t busy;  /* places until the next window may begin */
    uint8_t until; /* places until value */
    int8_t value;
};

void sunseal_mp_digits_begin_vartime(struct sunseal_mp_digits *digits, const uint16_t *u,
                                     uint16_t bits, uint8_t width);
/* The digit at the next place, first that of 2^bits, last that of 1. */
int8_t sunseal_mp_digits_next_vartime(struct sunseal_mp_digits *digits);

#endif
