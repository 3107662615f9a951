/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define HASH(suffix) sha256_##suffix
#define sha256_oneshot sunseal_sha256
#define KIND(suffix) sunseal_coupon_wots_sha256_##suffix
#define CONTEXT sunseal_coupon_wots_sha256
#define KEY sunseal_ots_sha256_key
#define DIGEST SUNSEAL_SHA256_BYTES
#include "kind_wots.inc"
