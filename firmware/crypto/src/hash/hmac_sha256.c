/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define HMAC sunseal_hmac_sha256
#define HMAC_NAME(suffix) sunseal_hmac_sha256_##suffix
#define HASH_NAME(suffix) sunseal_sha256_##suffix
#define DIGEST SUNSEAL_SHA256_BYTES
#include "hmac.inc"
