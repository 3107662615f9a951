/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_XTEA_H
#define SUNSEAL_CIPHER_XTEA_H

#include "decrypts.h"
#include "sunseal/xtea.h"

int sunseal_xtea_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);
int sunseal_xtea_decrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
