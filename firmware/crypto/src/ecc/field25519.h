/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_FIELD25519_H
#define SUNSEAL_FIELD25519_H

#include <stdint.h>

#include "../field/field.h"
#include "../mp/mp.h"

/* What X25519 and Ed25519 share beyond the field's arithmetic. Constant-time. */

typedef uint16_t sunseal_fe25519[16] SUNSEAL_MP_ALIGNED;

/* r below p */
void sunseal_fe25519_reduce(uint16_t *r);
/* r = 1/a, 0 for 0 */
void sunseal_fe25519_invert(uint16_t *r, const uint16_t *a);
/* 0xffff if a is 0 modulo p, else 0 */
uint16_t sunseal_fe25519_is_zero(const uint16_t *a);
/* The 32 bytes, all 256 bits of them, and back, below p. */
void sunseal_fe25519_from_bytes(uint16_t *r, const uint8_t bytes[32]);
void sunseal_fe25519_to_bytes(uint8_t bytes[32], const uint16_t *a);
/* What the field keeps of the last product in static memory becomes that of 0 and 0. */
void sunseal_fe25519_forget(void);

#endif
