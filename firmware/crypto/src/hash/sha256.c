/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdint.h>

/* FIPS 180-4, section 5.3.3 */
static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

#define NAME(suffix) sunseal_sha256_##suffix
#define ONESHOT sunseal_sha256
#define CONTEXT sunseal_sha256
#define COMPRESS sunseal_sha256_compress
#define WORD uint32_t
#define STATE_WORDS 8
#define BLOCK_BYTES SUNSEAL_SHA_BLOCK_BYTES
#define LENGTH_BYTES 8
#include "sha.inc"
