/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ED25519_H
#define SUNSEAL_ED25519_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Ed25519 (RFC 8032, section 5.1; FIPS 186-5, section 7)
 * ======================================================
 *
 *   private key d   64 bytes: the RFC's 32-byte private key, then the public key. Both go into a
 *                   signature, and one made with another public key would give the private one
 *                   away: keep them together, as keygen writes them
 *   public key q    32 bytes
 *   signature       64 bytes
 *
 * keygen takes 32 bytes of full entropy as the private key. Signatures are deterministic. A null
 * pointer is SUNSEAL_ERR_NULL, a signature that shares bytes with the message or the key, or d with
 * q, SUNSEAL_ERR_OVERLAP; then nothing is written.
 *
 * verify is the check without the cofactor, S B = R + k A, and compares R as bytes. It returns
 * SUNSEAL_OK, or for the public key SUNSEAL_ERR_PUBLIC_KEY_RANGE (y is not below p),
 * SUNSEAL_ERR_PUBLIC_KEY (no point has this y, or no odd x), SUNSEAL_ERR_INFINITY (a point of order
 * 1, 2, 4 or 8, which would fit any message), then for the signature SUNSEAL_ERR_SIGNATURE_RANGE (S
 * is not below the order) or SUNSEAL_ERR_SIGNATURE.
 *
 * Timing: keygen and sign are constant-time, in the message too, but for its length; verify is
 * _vartime: all of its inputs are public. Interrupts and static scratch memory: as sunseal/ecdsa.h.
 *
 * Stack in bytes, at most, with the return address:
 *
 *   keygen   1190
 *   sign     1330
 *   verify   2060
 */

#define SUNSEAL_ED25519_PRIVATE_BYTES 64
#define SUNSEAL_ED25519_PUBLIC_BYTES 32
#define SUNSEAL_ED25519_SIGNATURE_BYTES 64

int sunseal_ed25519_keygen(uint8_t d[64], uint8_t q[32], const uint8_t entropy[32]);
int sunseal_ed25519_sign(uint8_t sig[64], const uint8_t d[64], const uint8_t *message,
                         size_t message_len);
int sunseal_ed25519_verify(const uint8_t q[32], const uint8_t sig[64], const uint8_t *message,
                           size_t message_len);

#ifdef __cplusplus
}
#endif

#endif
