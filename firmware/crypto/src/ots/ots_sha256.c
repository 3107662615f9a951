/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define HASH(suffix) sha256_##suffix
#define HASH_CONTEXT sunseal_sha256
#define WOTS(suffix) sunseal_wots_sha256_##suffix
#define LAMPORT(suffix) sunseal_lamport_sha256_##suffix
#define LAMPORT_STATE sunseal_lamport_sha256
#define KEY sunseal_ots_sha256_key
#define DIGEST SUNSEAL_SHA256_BYTES
#define sha256_init sunseal_sha256_init
#define sha256_update sunseal_sha256_update
#define sha256_final sunseal_sha256_final
#define sha256_oneshot sunseal_sha256
#include "ots.inc"
