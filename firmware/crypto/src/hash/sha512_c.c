/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdint.h>

#include "../flash.h"

#define K(word) word,
static const SUNSEAL_FLASH uint64_t constants[80] = {
#include "sha512_k.inc"
};
#undef K

#define COMPRESS sunseal_sha512_compress
#define WORD uint64_t
#define WORD_BYTES 8
#define ROUNDS 80
#define SUM_0 28, 34, 39
#define SUM_1 14, 18, 41
#define SIGMA_0 1, 8, 7
#define SIGMA_1 19, 61, 6
#include "sha2_c.inc"
