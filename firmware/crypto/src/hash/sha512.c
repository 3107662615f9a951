/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdint.h>

/* FIPS 180-4, section 5.3.5 */
static const uint64_t initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                    0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                    0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

#define NAME(suffix) sunseal_sha512_##suffix
#define ONESHOT sunseal_sha512
#define CONTEXT sunseal_sha512
#define COMPRESS sunseal_sha512_compress
#define WORD uint64_t
#define STATE_WORDS 8
#define BLOCK_BYTES SUNSEAL_SHA512_BLOCK_BYTES
#define LENGTH_BYTES 16
#include "sha.inc"
