/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "secp160r1_tables.h"

#define FE(suffix) sunseal_fe160_##suffix
#define CURVE(suffix) sunseal_ecdsa_secp160r1_##suffix
#define HMAC sunseal_hmac_sha1
#define HMAC_NAME(suffix) sunseal_hmac_sha1_##suffix
#define HASH(suffix) sunseal_sha1_##suffix
#define DIGEST SUNSEAL_SHA1_BYTES
#include "ecdsa.inc"
