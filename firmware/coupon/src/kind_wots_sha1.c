/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define HASH(suffix) sha1_##suffix
#define sha1_oneshot sunseal_sha1
#define KIND(suffix) sunseal_coupon_wots_sha1_##suffix
#define CONTEXT sunseal_coupon_wots_sha1
#define KEY sunseal_ots_sha1_key
#define DIGEST SUNSEAL_SHA1_BYTES
#include "kind_wots.inc"
