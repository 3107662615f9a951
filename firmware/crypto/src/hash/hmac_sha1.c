/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define HMAC sunseal_hmac_sha1
#define HMAC_NAME(suffix) sunseal_hmac_sha1_##suffix
#define HASH_NAME(suffix) sunseal_sha1_##suffix
#define DIGEST SUNSEAL_SHA1_BYTES
#include "hmac.inc"
