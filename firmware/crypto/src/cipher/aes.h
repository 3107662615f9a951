/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_AES_H
#define SUNSEAL_CIPHER_AES_H

#include "sunseal/aes.h"

/* FIPS 197, section 5.2. */
int sunseal_aes128_expand(void *schedule, const uint8_t *key);

int sunseal_aes128_sbox_encrypt(const void *schedule, uint8_t *out, const uint8_t *in,
                                size_t blocks);
int sunseal_aes128_tbox_encrypt(const void *schedule, uint8_t *out, const uint8_t *in,
                                size_t blocks);
int sunseal_aes128_decrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);

int sunseal_aes128_fixslice_set_key(void *schedule, const uint8_t *key);
int sunseal_aes128_fixslice_encrypt(const void *schedule, uint8_t *out, const uint8_t *in,
                                    size_t blocks);

int sunseal_aes128_hw_set_key(void *schedule, const uint8_t *key);
int sunseal_aes128_hw_encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);
int sunseal_aes128_hw_decrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks);
int sunseal_aes128_hw_ctr(const void *schedule, uint8_t *out, const uint8_t *in, uint8_t *counter,
                          size_t blocks);

#ifdef __arm__
int sunseal_aes128_tbox_ctr(const void *schedule, uint8_t *out, const uint8_t *in, uint8_t *counter,
                            size_t blocks);
#define SUNSEAL_AES128_TBOX_CTR sunseal_aes128_tbox_ctr
#else
#define SUNSEAL_AES128_TBOX_CTR NULL
#endif

#define SUNSEAL_AES128_SBOX                                                                        \
    {.block_bytes = 16,                                                                            \
     .key_bytes = 16,                                                                              \
     .schedule_bytes = sizeof(struct sunseal_aes128),                                              \
     .together = 1,                                                                                \
     .set_key = sunseal_aes128_expand,                                                             \
     .encrypt = sunseal_aes128_sbox_encrypt,                                                       \
     .decrypt = sunseal_aes128_decrypt,                                                            \
     .ctr = NULL}

#define SUNSEAL_AES128_TBOX                                                                        \
    {.block_bytes = 16,                                                                            \
     .key_bytes = 16,                                                                              \
     .schedule_bytes = sizeof(struct sunseal_aes128),                                              \
     .together = 1,                                                                                \
     .set_key = sunseal_aes128_expand,                                                             \
     .encrypt = sunseal_aes128_tbox_encrypt,                                                       \
     .decrypt = sunseal_aes128_decrypt,                                                            \
     .ctr = SUNSEAL_AES128_TBOX_CTR}

#define SUNSEAL_AES128_FIXSLICE                                                                    \
    {.block_bytes = 16,                                                                            \
     .key_bytes = 16,                                                                              \
     .schedule_bytes = sizeof(struct sunseal_aes128_fixslice),                                     \
     .together = 2,                                                                                \
     .set_key = sunseal_aes128_fixslice_set_key,                                                   \
     .encrypt = sunseal_aes128_fixslice_encrypt,                                                   \
     .decrypt = NULL,                                                                              \
     .ctr = NULL}

#define SUNSEAL_AES128_HW                                                                          \
    {.block_bytes = 16,                                                                            \
     .key_bytes = 16,                                                                              \
     .schedule_bytes = sizeof(struct sunseal_aes128),                                              \
     .together = 1,                                                                                \
     .set_key = sunseal_aes128_hw_set_key,                                                         \
     .encrypt = sunseal_aes128_hw_encrypt,                                                         \
     .decrypt = sunseal_aes128_hw_decrypt,                                                         \
     .ctr = sunseal_aes128_hw_ctr}

#endif
