/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_FIELD_H
#define SUNSEAL_FIELD_H

#include <stdint.h>

/*
 * The two prime fields. Elements are 16-bit words, least significant first; every function takes
 * and gives any value below 2^160 or 2^256, not only the reduced one. r may be an operand.
 * Constant-time. The multiplications use static scratch memory.
 *
 *   fe160   mod 2^160 - 2^31 - 1
 *   fe256   mod 2^256 - 2^224 + 2^192 + 2^96 - 1; products are divided by 2^256 (Montgomery)
 */

void sunseal_fe160_mul(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe160_sqr(uint16_t *r, const uint16_t *a);
void sunseal_fe160_add(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe160_sub(uint16_t *r, const uint16_t *a, const uint16_t *b);

void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a);
void sunseal_fe256_add(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe256_sub(uint16_t *r, const uint16_t *a, const uint16_t *b);

#endif
