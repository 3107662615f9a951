/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Ciphers, their modes, and Ascon; K = bytes of the key:
 *
 *   encrypt              in  key[K] blocks[..]                     out blocks
 *   aes128_ctr encrypt   in  key[16] counter[16] message[..]       out message
 *   aes128_ccm seal      in  key[16] nonce[13] aad[19] message[..] out message tag[16]
 *   aes128_cmac tag      in  key[16] message[..]                   out tag[16]
 *   ascon_aead128 seal   in  key[16] nonce[16] aad[16] message[..] out message tag[16]
 *   ascon_hash256 hash   in  message[..]                           out digest[32]
 *
 * The key schedule stands in front of the marks.
 */
#include <stddef.h>

#include "bench.h"
#include "sunseal/aes.h"
#include "sunseal/ascon.h"
#include "sunseal/ccm.h"
#include "sunseal/cmac.h"
#include "sunseal/ctr.h"
#include "sunseal/present.h"
#include "sunseal/xtea.h"

#if defined(SUNSEAL_AES_FPGA)
#define INPUT_BYTES (48 + 1024) /* the coprocessor's buffer, with one command */
BENCH_BUFFERS(INPUT_BYTES, 1024 + 16);
#else
#define INPUT_BYTES 304
BENCH_BUFFERS(INPUT_BYTES, 288);
#endif

static uint8_t schedule[SUNSEAL_SCHEDULE_BYTES_MAX]
    __attribute__((aligned(SUNSEAL_SCHEDULE_ALIGN)));

#define SET_KEY(cipher, key_bytes)                                                                 \
    BENCH_LENGTH(key_bytes, INPUT_BYTES);                                                          \
    return (int16_t)sunseal_block_set_key(&sunseal_##cipher, schedule, in, key_bytes)
#define ENCRYPT(cipher, key_bytes)                                                                 \
    return (int16_t)sunseal_block_encrypt(&sunseal_##cipher, schedule, out, in + (key_bytes),      \
                                          in_len - (size_t)(key_bytes))

#if defined(SUNSEAL_AES_FPGA)
#include "board.h"
#include "sunseal/coprocessor.h"

/* The key goes into the coprocessor in front of the marks, as a schedule is made there. */
static struct sunseal_coprocessor engine;
static struct sunseal_crypt crypt;
static volatile int event_error;

static void done(struct sunseal_crypt *from __attribute__((unused)), int error) {
    event_error = error;
}

static int16_t by_events(int status) {
    event_error = SUNSEAL_ERR_ENGINE;
    while (status == SUNSEAL_OK && sunseal_crypt_poll(&crypt))
        sunseal_coprocessor_sleep(&engine);
    return (int16_t)(status == SUNSEAL_OK ? event_error : status);
}

static int16_t coprocessor_key(enum sunseal_coprocessor_cipher cipher, const uint8_t *key) {
    static const struct sunseal_crypt_events events = {done, done};
    sunseal_coprocessor_power(true);
    bench_coprocessor_wait();
    sunseal_coprocessor_init(&engine, cipher);
    sunseal_crypt_init(&crypt, &engine.driver, &engine, &events);
    return by_events(sunseal_crypt_set_key(&crypt, key, 16));
}

#define BY_COPROCESSOR(name, cipher)                                                               \
    SETUP(name) {                                                                                  \
        BENCH_LENGTH(16, INPUT_BYTES);                                                             \
        return coprocessor_key(cipher, in);                                                        \
    }                                                                                              \
    WORKLOAD(name) {                                                                               \
        const size_t len = in_len - 16U;                                                           \
        return by_events(sunseal_crypt_encrypt_data(&crypt, out, len, in + 16, len));              \
    }

BY_COPROCESSOR(aes128_encrypt, SUNSEAL_COPROCESSOR_AES128)
BY_COPROCESSOR(xtea_encrypt, SUNSEAL_COPROCESSOR_XTEA)
BY_COPROCESSOR(present128_encrypt, SUNSEAL_COPROCESSOR_PRESENT128)

SETUP(aes128_ctr_encrypt) {
    BENCH_LENGTH(32, INPUT_BYTES);
    return coprocessor_key(SUNSEAL_COPROCESSOR_AES128, in);
}
WORKLOAD(aes128_ctr_encrypt) {
    int status = sunseal_coprocessor_start_ctr(&engine, in + 16, out, in + 32, in_len - 32U);
    if (status == SUNSEAL_OK)
        status = sunseal_coprocessor_finish(&engine);
    return (int16_t)status;
}

SETUP(aes128_ccm_seal) {
    BENCH_LENGTH(48, INPUT_BYTES);
    return coprocessor_key(SUNSEAL_COPROCESSOR_AES128, in);
}
WORKLOAD(aes128_ccm_seal) {
    const struct sunseal_ccm_public header = {in + 16, 13, in + 29, 19};
    const size_t len = in_len - 48U;
    return (int16_t)sunseal_coprocessor_ccm_seal(&engine, &header, out, in + 48, len, out + len,
                                                 16);
}
#else
SETUP(aes128_encrypt) {
    SET_KEY(aes128, 16);
}
WORKLOAD(aes128_encrypt) {
    ENCRYPT(aes128, 16);
}
SETUP(present128_encrypt) {
    SET_KEY(present128, 16);
}
WORKLOAD(present128_encrypt) {
    ENCRYPT(present128, 16);
}
SETUP(xtea_encrypt) {
    SET_KEY(xtea, 16);
}
WORKLOAD(xtea_encrypt) {
    ENCRYPT(xtea, 16);
}

static struct sunseal_ctr ctr;

SETUP(aes128_ctr_encrypt) {
    BENCH_LENGTH(32, INPUT_BYTES);
    int status = sunseal_block_set_key(&sunseal_aes128, schedule, in, 16);
    if (status == SUNSEAL_OK)
        status = sunseal_ctr_init(&ctr, &sunseal_aes128, schedule, in + 16);
    return (int16_t)status;
}
WORKLOAD(aes128_ctr_encrypt) {
    return (int16_t)sunseal_ctr_update(&ctr, out, in + 32, in_len - 32U);
}

SETUP(aes128_ccm_seal) {
    BENCH_LENGTH(48, INPUT_BYTES);
    return (int16_t)sunseal_block_set_key(&sunseal_aes128, schedule, in, 16);
}
WORKLOAD(aes128_ccm_seal) {
    const struct sunseal_ccm_public header = {in + 16, 13, in + 29, 19};
    const size_t len = in_len - 48U;
    return (int16_t)sunseal_ccm_seal(&sunseal_aes128, schedule, &header, out, in + 48, len,
                                     out + len, 16);
}
#endif
SETUP(aes128_sbox_encrypt) {
    SET_KEY(aes128_sbox, 16);
}
WORKLOAD(aes128_sbox_encrypt) {
    ENCRYPT(aes128_sbox, 16);
}
SETUP(aes128_tbox_encrypt) {
    SET_KEY(aes128_tbox, 16);
}
WORKLOAD(aes128_tbox_encrypt) {
    ENCRYPT(aes128_tbox, 16);
}
SETUP(aes128_fixslice_encrypt) {
    SET_KEY(aes128_fixslice, 16);
}
WORKLOAD(aes128_fixslice_encrypt) {
    ENCRYPT(aes128_fixslice, 16);
}
SETUP(aes128_hw_encrypt) {
    SET_KEY(aes128_hw, 16);
}
WORKLOAD(aes128_hw_encrypt) {
    ENCRYPT(aes128_hw, 16);
}
SETUP(present80_encrypt) {
    SET_KEY(present80, 10);
}
WORKLOAD(present80_encrypt) {
    ENCRYPT(present80, 10);
}
SETUP(present80_table_encrypt) {
    SET_KEY(present80_table, 10);
}
WORKLOAD(present80_table_encrypt) {
    ENCRYPT(present80_table, 10);
}

SETUP(aes128_cmac_tag) {
    SET_KEY(aes128, 16);
}
WORKLOAD(aes128_cmac_tag) {
    struct sunseal_cmac cmac;
    int status = sunseal_cmac_init(&cmac, &sunseal_aes128, schedule);
    if (status == SUNSEAL_OK)
        status = sunseal_cmac_update(&cmac, in + 16, in_len - 16U);
    if (status == SUNSEAL_OK)
        status = sunseal_cmac_final(&cmac, out, 16);
    return (int16_t)status;
}

WORKLOAD(ascon_aead128_seal) {
    const size_t len = in_len - 48U;
    BENCH_LENGTH(48, INPUT_BYTES);
    return (int16_t)sunseal_ascon_aead128_seal(in, in + 16, in + 32, 16, out, in + 48, len,
                                               out + len, 16);
}
WORKLOAD(ascon_hash256_hash) {
    BENCH_LENGTH(0, INPUT_BYTES);
    sunseal_ascon_hash256(out, in, in_len);
    return SUNSEAL_OK;
}
