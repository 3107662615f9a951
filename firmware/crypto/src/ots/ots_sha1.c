/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define HASH(suffix) sha1_##suffix
#define HASH_CONTEXT sunseal_sha1
#define WOTS(suffix) sunseal_wots_sha1_##suffix
#define LAMPORT(suffix) sunseal_lamport_sha1_##suffix
#define LAMPORT_STATE sunseal_lamport_sha1
#define KEY sunseal_ots_sha1_key
#define DIGEST SUNSEAL_SHA1_BYTES
#define sha1_init sunseal_sha1_init
#define sha1_update sunseal_sha1_update
#define sha1_final sunseal_sha1_final
#define sha1_oneshot sunseal_sha1
#include "ots.inc"
