/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdint.h>

#include "../flash.h"

#define K(word) word,
static const SUNSEAL_FLASH uint32_t constants[64] = {
#include "sha256_k.inc"
};
#undef K

#define COMPRESS sunseal_sha256_compress
#define WORD uint32_t
#define WORD_BYTES 4
#define ROUNDS 64
#define SUM_0 2, 13, 22
#define SUM_1 6, 11, 25
#define SIGMA_0 7, 18, 3
#define SIGMA_1 17, 19, 10
#include "sha2_c.inc"
