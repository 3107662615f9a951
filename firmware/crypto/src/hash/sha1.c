/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdint.h>

/* FIPS 180-4, section 5.3.1 */
static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

#define NAME(suffix) sunseal_sha1_##suffix
#define ONESHOT sunseal_sha1
#define CONTEXT sunseal_sha1
#define COMPRESS sunseal_sha1_compress
#define WORD uint32_t
#define STATE_WORDS 5
#define BLOCK_BYTES SUNSEAL_SHA_BLOCK_BYTES
#define LENGTH_BYTES 8
#include "sha.inc"
