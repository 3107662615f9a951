/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_MP_H
#define SUNSEAL_MP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Arithmetic on arrays of 16-bit words, least significant first. All constant-time in the data;
 * masks are 0 or 0xffff.
 */

/* acc[0..n-1] += a * b; returns the word that leaves at the top. */
uint16_t sunseal_mp_addmul1(uint16_t *acc, const uint16_t *a, uint16_t b, size_t n);

/* r = a + b; returns the carry. */
uint16_t sunseal_mp_add(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n);

/* r = a - b; returns the borrow. */
uint16_t sunseal_mp_sub(uint16_t *r, const uint16_t *a, const uint16_t *b, size_t n);

/* r = mask ? a : r */
void sunseal_mp_select(uint16_t *r, const uint16_t *a, uint16_t mask, size_t n);

/* r = a mod m, given a < 2m; scratch is n words. */
void sunseal_mp_reduce_once(uint16_t *r, uint16_t carry, const uint16_t *m, uint16_t *scratch,
                            size_t n);

/* 0xffff if all words are zero, else 0. */
uint16_t sunseal_mp_is_zero(const uint16_t *a, size_t n);

/* Big-endian bytes to words (count bytes, the rest of the n words zero), and back. */
void sunseal_mp_from_bytes(uint16_t *r, const uint8_t *bytes, size_t count, size_t n);
void sunseal_mp_to_bytes(uint8_t *bytes, const uint16_t *a, size_t count);

/*
 * r = 1/x mod m, for an odd m and 0 < x < m; 0 for x = 0. n words each, n <= 16 and the top word of m
 * below 2 where n is not 16. Bernstein-Yang division steps (eprint 2019/266), fixed count.
 */
void sunseal_mp_invert(uint16_t *r, const uint16_t *x, const uint16_t *m, size_t n);

/* Set to zero in a way that no compiler removes. */
void sunseal_wipe(void *bytes, size_t count);

#endif
