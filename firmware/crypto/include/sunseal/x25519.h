/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_X25519_H
#define SUNSEAL_X25519_H

#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * X25519 (RFC 7748)
 * =================
 *
 * Little-endian byte strings, as the RFC has them; u's highest bit is ignored, and values from p to
 * 2^255 - 1 are taken. keygen makes d and q = X25519(d, 9) from 32 bytes of full entropy.
 *
 * Returns SUNSEAL_OK, or SUNSEAL_ERR_INFINITY where the shared secret is all zero because u is of a
 * small subgroup (RFC 7748, section 6.1). The shared secret is no key: put it through HKDF. It may
 * overlap an input. SUNSEAL_ERR_NULL for a null pointer; then nothing is written.
 *
 * Constant-time. Interrupts and static scratch memory: as sunseal/ecdsa.h.
 *
 * Stack in bytes, at most, with the return address: 720.
 */

#define SUNSEAL_X25519_BYTES 32

int sunseal_x25519_keygen(uint8_t d[32], uint8_t q[32], const uint8_t entropy[32]);
int sunseal_x25519(uint8_t shared[32], const uint8_t d[32], const uint8_t u[32]);

#ifdef __cplusplus
}
#endif

#endif
