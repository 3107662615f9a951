/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * RSA with a modulus of L = 128 or 256 bytes:
 *
 *   sign     in  key[7 L / 2] random[24] message[..]  out signature[L]
 *   verify   in  n[L] signature[L] message[..]        out nothing but the status
 *
 * RSASSA-PKCS1-v1_5; SHA-256 of the message inside the marks.
 */
#include <stddef.h>

#include "bench.h"
#include "sunseal/rsa.h"
#include "sunseal/sha.h"

#define INPUT_BYTES 992
BENCH_BUFFERS(INPUT_BYTES, SUNSEAL_RSA2048_BYTES);

#define SIGN(bits)                                                                                 \
    const struct sunseal_rsa##bits##_key *key = (const void *)in;                                  \
    const uint8_t *random = in + sizeof *key;                                                      \
    const uint8_t *message = random + SUNSEAL_RSA_RANDOM_BYTES;                                    \
    uint8_t digest[SUNSEAL_SHA256_BYTES];                                                          \
    BENCH_LENGTH(sizeof *key + SUNSEAL_RSA_RANDOM_BYTES, INPUT_BYTES);                             \
    sunseal_sha256(digest, message, in_len - (size_t)(message - in));                              \
    return (int16_t)sunseal_rsa##bits##_sign_pkcs1_sha256(out, key, digest, random)

#define VERIFY(bits)                                                                               \
    const uint8_t *signature = in + SUNSEAL_RSA##bits##_BYTES;                                     \
    const uint8_t *message = signature + SUNSEAL_RSA##bits##_BYTES;                                \
    uint8_t digest[SUNSEAL_SHA256_BYTES];                                                          \
    BENCH_LENGTH(2 * SUNSEAL_RSA##bits##_BYTES, INPUT_BYTES);                                      \
    sunseal_sha256(digest, message, in_len - (size_t)(message - in));                              \
    return (int16_t)sunseal_rsa##bits##_verify_pkcs1_sha256(in, signature, digest)

WORKLOAD(rsa_1024_sign) {
    SIGN(1024);
}
WORKLOAD(rsa_1024_verify) {
    VERIFY(1024);
}
WORKLOAD(rsa_2048_sign) {
    SIGN(2048);
}
WORKLOAD(rsa_2048_verify) {
    VERIFY(2048);
}
