/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_FIELD_H
#define SUNSEAL_FIELD_H

#include <stdint.h>

/*
 * The prime fields. Elements are 16-bit words, least significant first, on Arm at addresses that
 * are multiples of 4; every function takes and gives any value below 2^160, 2^224 or 2^256, not
 * only the reduced one. r may be an operand. Constant-time. The multiplications may use static
 * scratch memory. half is a / 2.
 *
 *   fe160     mod 2^160 - 2^31 - 1
 *   fe224     mod 2^224 - 2^96 + 1
 *   fe256     mod 2^256 - 2^224 + 2^192 + 2^96 - 1; products are divided by 2^256 (Montgomery)
 *   fe25519   mod 2^255 - 19
 */

void sunseal_fe160_mul(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe160_sqr(uint16_t *r, const uint16_t *a);
void sunseal_fe160_add(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe160_sub(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe160_half(uint16_t *r, const uint16_t *a);

void sunseal_fe224_mul(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe224_sqr(uint16_t *r, const uint16_t *a);
void sunseal_fe224_add(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe224_sub(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe224_half(uint16_t *r, const uint16_t *a);

void sunseal_fe256_mul(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe256_sqr(uint16_t *r, const uint16_t *a);
void sunseal_fe256_add(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe256_sub(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe256_half(uint16_t *r, const uint16_t *a);

void sunseal_fe25519_mul(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe25519_sqr(uint16_t *r, const uint16_t *a);
void sunseal_fe25519_add(uint16_t *r, const uint16_t *a, const uint16_t *b);
void sunseal_fe25519_sub(uint16_t *r, const uint16_t *a, const uint16_t *b);
/* r = 121665 a: the (486662 - 2) / 4 of RFC 7748 */
void sunseal_fe25519_mul121665(uint16_t *r, const uint16_t *a);

#endif
