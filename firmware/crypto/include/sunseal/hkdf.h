/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_HKDF_H
#define SUNSEAL_HKDF_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * HKDF over SHA-256 (RFC 5869)
 * ============================
 *
 *   extract   a pseudorandom key from input key material and a salt (salt_len 0: no salt)
 *   expand    key material of any length up to 255 x 32 bytes from it and a context
 *   (none)    both
 *
 * Return SUNSEAL_OK, SUNSEAL_ERR_NULL, SUNSEAL_ERR_OVERLAP (okm and an input; prk may overlap what
 * it comes from) or SUNSEAL_ERR_LENGTH for an okm_len above SUNSEAL_HKDF_SHA256_MAX_BYTES, and then
 * write nothing. Constant time in keys and salt; time depends on lengths only.
 *
 * Stack in bytes, at most, with the return address: extract 550, expand 580, (none) 630.
 */

#define SUNSEAL_HKDF_SHA256_PRK_BYTES 32
#define SUNSEAL_HKDF_SHA256_MAX_BYTES (255 * 32)

int sunseal_hkdf_sha256_extract(uint8_t prk[32], const uint8_t *salt, size_t salt_len,
                                const uint8_t *ikm, size_t ikm_len);
int sunseal_hkdf_sha256_expand(uint8_t *okm, size_t okm_len, const uint8_t prk[32],
                               const uint8_t *info, size_t info_len);
int sunseal_hkdf_sha256(uint8_t *okm, size_t okm_len, const uint8_t *salt, size_t salt_len,
                        const uint8_t *ikm, size_t ikm_len, const uint8_t *info, size_t info_len);

#ifdef __cplusplus
}
#endif

#endif
