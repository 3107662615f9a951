/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_ECDSA_INTERNAL_H
#define SUNSEAL_ECDSA_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

/* As sunseal_ecdsa_<curve>_sign, with added entropy of any length: with none it is plain RFC 6979,
 * which known-answer tests need and nobody else should (and which, on secp160r1, throws away every
 * second candidate).
 */
int sunseal_ecdsa_secp160r1_sign_added(uint8_t *sig, const uint8_t *d, const uint8_t *hash,
                                       size_t hash_len, const uint8_t *added, size_t added_len);
int sunseal_ecdsa_p224_sign_added(uint8_t *sig, const uint8_t *d, const uint8_t *hash,
                                  size_t hash_len, const uint8_t *added, size_t added_len);
int sunseal_ecdsa_p256_sign_added(uint8_t *sig, const uint8_t *d, const uint8_t *hash,
                                  size_t hash_len, const uint8_t *added, size_t added_len);

#endif
