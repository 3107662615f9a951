/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_AES_H
#define SUNSEAL_CIPHER_AES_H

#include "decrypts.h"
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

/* A function for any number of blocks, by block(): round keys, output, input, two states. */
#define SUNSEAL_AES128_BYTES(name)                                                                 \
    int name(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {               \
        const struct sunseal_aes128 *aes = schedule;                                               \
        uint8_t states[32];                                                                        \
        for (; blocks > 0; blocks--, out += 16, in += 16) {                                        \
            block((const uint8_t *)aes->round_keys, out, in, states, states + 16);                 \
        }                                                                                          \
        sunseal_wipe(states, sizeof states);                                                       \
        return SUNSEAL_OK;                                                                         \
    }

#define SUNSEAL_AES128_BLOCK(schedule, blocks, set, enc, dec, counter)                             \
    {.block_bytes = 16,                                                                            \
     .key_bytes = 16,                                                                              \
     .schedule_bytes = sizeof(struct schedule),                                                    \
     .together = (blocks),                                                                         \
     .set_key = (set),                                                                             \
     .encrypt = (enc),                                                                             \
     .decrypt = (dec),                                                                             \
     .ctr = (counter)}

#define SUNSEAL_AES128_SBOX                                                                        \
    SUNSEAL_AES128_BLOCK(sunseal_aes128, 1, sunseal_aes128_expand, sunseal_aes128_sbox_encrypt,    \
                         SUNSEAL_DECRYPTS(sunseal_aes128_decrypt), NULL)
#define SUNSEAL_AES128_TBOX                                                                        \
    SUNSEAL_AES128_BLOCK(sunseal_aes128, 1, sunseal_aes128_expand, sunseal_aes128_tbox_encrypt,    \
                         SUNSEAL_DECRYPTS(sunseal_aes128_decrypt), SUNSEAL_AES128_TBOX_CTR)
#define SUNSEAL_AES128_FIXSLICE                                                                    \
    SUNSEAL_AES128_BLOCK(sunseal_aes128_fixslice, 2, sunseal_aes128_fixslice_set_key,              \
                         sunseal_aes128_fixslice_encrypt, NULL, NULL)
#define SUNSEAL_AES128_HW                                                                          \
    SUNSEAL_AES128_BLOCK(sunseal_aes128, 1, sunseal_aes128_hw_set_key, sunseal_aes128_hw_encrypt,  \
                         SUNSEAL_DECRYPTS(sunseal_aes128_hw_decrypt), sunseal_aes128_hw_ctr)

#endif
