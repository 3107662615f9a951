/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "secp160r1_tables.h"

#define FE(suffix) sunseal_fe160_##suffix
#define CURVE(suffix) sunseal_ecdsa_secp160r1_##suffix
#define COUPON sunseal_ecdsa_secp160r1_coupon
#define ECDH sunseal_ecdh_secp160r1
#define HMAC sunseal_hmac_sha1
#define HASH(suffix) sunseal_sha1_##suffix
#define DIGEST SUNSEAL_SHA1_BYTES
#include "curve.inc"

#include "ecdsa.inc"

#include "ecdh.inc"

#define MUL(suffix) sunseal_scalarmul_secp160r1_##suffix
#define MUL_STATE sunseal_scalarmul_secp160r1
#define SIGN(suffix) sunseal_ecdsa_secp160r1_sign_##suffix
#define SIGN_STATE sunseal_ecdsa_secp160r1_sign
#define OFFLINE(suffix) sunseal_ecdsa_secp160r1_offline_##suffix
#define OFFLINE_STATE sunseal_ecdsa_secp160r1_offline
#include "steps.inc"

#define PAIR sunseal_ecdsa_secp160r1_pair
#include "pool.inc"
