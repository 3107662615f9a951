/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The curve that this program is built for: NODE_secp160r1 or NODE_p256.
 */
#ifndef SUNSEAL_SUITE_H
#define SUNSEAL_SUITE_H

#include "sunseal/ecdsa.h"

#define SUITE_P256_SHA256 1
#define SUITE_SECP160R1_SHA1 2
#define SUITE_SECP160R1_SHA256 3

#if defined(NODE_secp160r1)
#define SUITE_DEFAULT SUITE_SECP160R1_SHA1
#define SUITE_FITS(suite) ((suite) == SUITE_SECP160R1_SHA1 || (suite) == SUITE_SECP160R1_SHA256)
#define SUITE_PRIVATE_BYTES SUNSEAL_SECP160R1_PRIVATE_BYTES
#define SUITE_PUBLIC_BYTES SUNSEAL_SECP160R1_PUBLIC_BYTES
#define SUITE_SIGNATURE_BYTES SUNSEAL_SECP160R1_SIGNATURE_BYTES
#define SUITE_KEYGEN sunseal_ecdsa_secp160r1_keygen
#define SUITE_SIGN sunseal_ecdsa_secp160r1_sign
#define SUITE_COUPON sunseal_ecdsa_secp160r1_coupon
#define SUITE_COUPON_ID 1
#define SUITE_COUPON_MAKE sunseal_coupon_ecdsa_secp160r1_make
#define SUITE_SIGN_ONLINE sunseal_ecdsa_secp160r1_sign_online
#elif defined(NODE_p256)
#define SUITE_DEFAULT SUITE_P256_SHA256
#define SUITE_FITS(suite) ((suite) == SUITE_P256_SHA256)
#define SUITE_PRIVATE_BYTES SUNSEAL_P256_PRIVATE_BYTES
#define SUITE_PUBLIC_BYTES SUNSEAL_P256_PUBLIC_BYTES
#define SUITE_SIGNATURE_BYTES SUNSEAL_P256_SIGNATURE_BYTES
#define SUITE_KEYGEN sunseal_ecdsa_p256_keygen
#define SUITE_SIGN sunseal_ecdsa_p256_sign
#define SUITE_COUPON sunseal_ecdsa_p256_coupon
#define SUITE_COUPON_ID 2
#define SUITE_COUPON_MAKE sunseal_coupon_ecdsa_p256_make
#define SUITE_SIGN_ONLINE sunseal_ecdsa_p256_sign_online
#else
#error "define NODE_secp160r1 or NODE_p256"
#endif

#endif
