/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "p224_tables.h"

#define FE(suffix) sunseal_fe224_##suffix
#define CURVE(suffix) sunseal_ecdsa_p224_##suffix
#define COUPON sunseal_ecdsa_p224_coupon
#define ECDH sunseal_ecdh_p224
#define HMAC sunseal_hmac_sha256
#define HASH(suffix) sunseal_sha256_##suffix
#define DIGEST SUNSEAL_SHA256_BYTES
#include "curve.inc"

#include "ecdsa.inc"

#include "ecdh.inc"

#define MUL(suffix) sunseal_scalarmul_p224_##suffix
#define MUL_STATE sunseal_scalarmul_p224
#define SIGN(suffix) sunseal_ecdsa_p224_sign_##suffix
#define SIGN_STATE sunseal_ecdsa_p224_sign
#define OFFLINE(suffix) sunseal_ecdsa_p224_offline_##suffix
#define OFFLINE_STATE sunseal_ecdsa_p224_offline
#include "steps.inc"

#define PAIR sunseal_ecdsa_p224_pair
#include "pool.inc"
