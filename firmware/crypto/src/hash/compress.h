/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_COMPRESS_H
#define SUNSEAL_COMPRESS_H

#include <stdint.h>

/* state = compression of the block under state. The state is native words; block is any address.
 * Constant-time. */
void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64]);
void sunseal_sha256_compress(uint32_t state[8], const uint8_t block[64]);
void sunseal_sha512_compress(uint64_t state[8], const uint8_t block[128]);

/* The same for a block whose 32-bit words 6 to 14 are all equal, as a padded digest's and a padded
 * key's are. */
#ifdef __ARM_ARCH_7EM__
void sunseal_sha1_compress_short(uint32_t state[5], const uint8_t block[64]);
#else
#define sunseal_sha1_compress_short sunseal_sha1_compress
#endif
#define sunseal_sha256_compress_short sunseal_sha256_compress

#endif
