/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ECDH_H
#define SUNSEAL_ECDH_H

#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ECDH on secp160r1, P-224 and P-256
 * ==================================
 *
 * SP 800-56A revision 3, section 5.7.1.2, and SEC 1 version 2.0, section 3.3.1 (the cofactors are
 * 1): the abscissa of d Q, which is a shared secret and no key: put it through HKDF. Keys are those
 * of sunseal/ecdsa.h, big-endian byte strings; d comes from sunseal_ecdsa_<curve>_keygen.
 *
 * The other side's key is validated in full (SP 800-56A, section 5.6.2.3.3): SUNSEAL_ERR_INFINITY
 * for two zeros, SUNSEAL_ERR_PUBLIC_KEY_RANGE for a coordinate that is not below p,
 * SUNSEAL_ERR_PUBLIC_KEY for a point off the curve. SUNSEAL_ERR_PRIVATE_KEY if d is not in [1,
 * n-1]. On an error the shared secret is all zero. It must not overlap an input.
 *
 * Constant-time. Interrupts and static scratch memory: as sunseal/ecdsa.h.
 *
 * Stack in bytes, at most, with the return address:
 *
 *   secp160r1   1360
 *   P-224       1730
 *   P-256       1910
 */

#define SUNSEAL_ECDH_SECP160R1_BYTES 20
#define SUNSEAL_ECDH_P224_BYTES 28
#define SUNSEAL_ECDH_P256_BYTES 32

int sunseal_ecdh_secp160r1(uint8_t shared[20], const uint8_t d[21], const uint8_t q[40]);
int sunseal_ecdh_p224(uint8_t shared[28], const uint8_t d[28], const uint8_t q[56]);
int sunseal_ecdh_p256(uint8_t shared[32], const uint8_t d[32], const uint8_t q[64]);

#ifdef __cplusplus
}
#endif

#endif
