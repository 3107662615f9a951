/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Ciphers behind the coprocessor: on a board that has it, in place of the generated programs of the
 * same names. Input and output are laid out as those are.
 */
#include <stddef.h>

#include "bench.h"
#include "board.h"
#include "sunseal/coprocessor.h"

#define INPUT_BYTES (48 + 1024) /* the coprocessor's buffer, with one command */
BENCH_BUFFERS(INPUT_BYTES, 1024 + 16);

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
