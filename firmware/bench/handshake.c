/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The server's side of a handshake: from the client's hello to the server's finished. In and out:
 * handshake/algorithms/handshake.toml. In front of the marks certificate and key are held to the
 * suite.
 */
#include "bench.h"

#include "sunseal/handshake.h"
#include "sunseal/rsa.h"

#define RSA_KEY_BYTES sizeof(struct sunseal_rsa1024_key)
#define ECC_KEY_BYTES 21
/* Key, certificate, server's random, blinding, hello, key exchange and finished. */
#define FED(key, suite)                                                                            \
    ((key) + SUNSEAL_HANDSHAKE_##suite##_CERTIFICATE_BYTES + SUNSEAL_HANDSHAKE_RANDOM_BYTES +      \
     SUNSEAL_HANDSHAKE_BLINDING_BYTES + SUNSEAL_HANDSHAKE_HELLO_BYTES +                            \
     SUNSEAL_HANDSHAKE_##suite##_EXCHANGE_BYTES)
#define GIVEN                                                                                      \
    (SUNSEAL_HANDSHAKE_HELLO_BYTES + SUNSEAL_HANDSHAKE_ANSWER_BYTES + SUNSEAL_HANDSHAKE_KEY_BYTES)

BENCH_BUFFERS(FED(RSA_KEY_BYTES, RSA1024), GIVEN);

static struct sunseal_handshake session;

static int16_t serve(const uint8_t *in, uint16_t exchange_bytes, uint8_t *out) {
    const uint8_t *random = in;
    const uint8_t *blinding = random + SUNSEAL_HANDSHAKE_RANDOM_BYTES;
    const uint8_t *hello = blinding + SUNSEAL_HANDSHAKE_BLINDING_BYTES;
    uint8_t *answer = out + SUNSEAL_HANDSHAKE_HELLO_BYTES;
    int status =
        sunseal_handshake_hello(&session, out, hello, SUNSEAL_HANDSHAKE_HELLO_BYTES, random);
    if (status == SUNSEAL_OK) {
        status = sunseal_handshake_finish(&session, answer, answer + SUNSEAL_HANDSHAKE_ANSWER_BYTES,
                                          hello + SUNSEAL_HANDSHAKE_HELLO_BYTES, exchange_bytes,
                                          blinding);
    }
    return (int16_t)status;
}

#define HANDSHAKE(name, suite, key_bytes)                                                          \
    SETUP(handshake_##name##_serve) {                                                              \
        BENCH_LENGTH(FED(key_bytes, suite), FED(key_bytes, suite));                                \
        return (int16_t)sunseal_handshake_begin(                                                   \
            &session, &sunseal_handshake_##name, in + (key_bytes),                                 \
            SUNSEAL_HANDSHAKE_##suite##_CERTIFICATE_BYTES, in);                                    \
    }                                                                                              \
    WORKLOAD(handshake_##name##_serve) {                                                           \
        return serve(in + (key_bytes) + SUNSEAL_HANDSHAKE_##suite##_CERTIFICATE_BYTES,             \
                     SUNSEAL_HANDSHAKE_##suite##_EXCHANGE_BYTES, out);                             \
    }

HANDSHAKE(rsa1024, RSA1024, RSA_KEY_BYTES)
HANDSHAKE(secp160r1, SECP160R1, ECC_KEY_BYTES)
