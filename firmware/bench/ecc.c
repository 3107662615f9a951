/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * ECDSA; L = 20 and N = 21 for secp160r1, 32 and 32 for P-256:
 *
 *   keygen   in  entropy[32]                         out d[N] Qx[L] Qy[L]
 *   sign     in  d[N] added_entropy[32] message[..]  out r[N] s[N]
 *   verify   in  Qx[L] Qy[L] r[N] s[N] message[..]   out nothing but the status
 *   all      in  entropy[32] added_entropy[32]       out d[N] Qx[L] Qy[L] r[N] s[N]
 *                message[..]
 *
 * sign and verify hash the message inside the marks: SHA-1 for secp160r1 as in
 * the thesis, SHA-256 for the others and for the workloads ending in -sha256.
 * all makes a key, signs and verifies: the program whose flash and RAM stand
 * beside the thesis's table 4.2.
 */
#include <stddef.h>

#include "bench.h"
#include "sunseal/ecdsa.h"
#include "sunseal/sha.h"

#define INPUT_BYTES 192
BENCH_BUFFERS(INPUT_BYTES, 192);

/* Not inlined: the context's bytes must not lie under the scalar multiplication's stack. */
__attribute__((noinline)) static void sha1(uint8_t *digest, const uint8_t *message, size_t len) {
    struct sunseal_sha1 context;
    sunseal_sha1_init(&context);
    sunseal_sha1_update(&context, message, len);
    sunseal_sha1_final(&context, digest);
}

__attribute__((noinline)) static void sha256(uint8_t *digest, const uint8_t *message, size_t len) {
    struct sunseal_sha256 context;
    sunseal_sha256_init(&context);
    sunseal_sha256_update(&context, message, len);
    sunseal_sha256_final(&context, digest);
}

#define KEYGEN(curve, CURVE)                                                                       \
    BENCH_LENGTH(SUNSEAL_ENTROPY_BYTES, SUNSEAL_ENTROPY_BYTES);                                    \
    return (int16_t)sunseal_ecdsa_##curve##_keygen(out, out + SUNSEAL_##CURVE##_PRIVATE_BYTES, in)

#define SIGN(curve, CURVE, hash, HASH)                                                             \
    const uint8_t *entropy = in + SUNSEAL_##CURVE##_PRIVATE_BYTES;                                 \
    const uint8_t *message = entropy + SUNSEAL_ENTROPY_BYTES;                                      \
    uint8_t digest[SUNSEAL_##HASH##_BYTES];                                                        \
    BENCH_LENGTH(SUNSEAL_##CURVE##_PRIVATE_BYTES + SUNSEAL_ENTROPY_BYTES, INPUT_BYTES);            \
    hash(digest, message, in_len - (size_t)(message - in));                                        \
    return (int16_t)sunseal_ecdsa_##curve##_sign(out, in, digest, sizeof digest, entropy)

#define VERIFY(curve, CURVE, hash, HASH)                                                           \
    const uint8_t *signature = in + SUNSEAL_##CURVE##_PUBLIC_BYTES;                                \
    const uint8_t *message = signature + SUNSEAL_##CURVE##_SIGNATURE_BYTES;                        \
    uint8_t digest[SUNSEAL_##HASH##_BYTES];                                                        \
    BENCH_LENGTH(SUNSEAL_##CURVE##_PUBLIC_BYTES + SUNSEAL_##CURVE##_SIGNATURE_BYTES, INPUT_BYTES); \
    hash(digest, message, in_len - (size_t)(message - in));                                        \
    return (int16_t)sunseal_ecdsa_##curve##_verify(in, signature, digest, sizeof digest)

#define ALL(curve, CURVE, hash, HASH)                                                              \
    const uint8_t *entropy = in + SUNSEAL_ENTROPY_BYTES;                                           \
    const uint8_t *message = entropy + SUNSEAL_ENTROPY_BYTES;                                      \
    uint8_t *q = out + SUNSEAL_##CURVE##_PRIVATE_BYTES;                                            \
    uint8_t *signature = q + SUNSEAL_##CURVE##_PUBLIC_BYTES;                                       \
    uint8_t digest[SUNSEAL_##HASH##_BYTES];                                                        \
    BENCH_LENGTH(2 * SUNSEAL_ENTROPY_BYTES, INPUT_BYTES);                                          \
    hash(digest, message, in_len - (size_t)(message - in));                                        \
    int status = sunseal_ecdsa_##curve##_keygen(out, q, in);                                       \
    if (status == SUNSEAL_OK)                                                                      \
        status = sunseal_ecdsa_##curve##_sign(signature, out, digest, sizeof digest, entropy);     \
    if (status == SUNSEAL_OK)                                                                      \
        status = sunseal_ecdsa_##curve##_verify(q, signature, digest, sizeof digest);              \
    return (int16_t)status

WORKLOAD(ecdsa_secp160r1_keygen) {
    KEYGEN(secp160r1, SECP160R1);
}
WORKLOAD(ecdsa_secp160r1_sign) {
    SIGN(secp160r1, SECP160R1, sha1, SHA1);
}
WORKLOAD(ecdsa_secp160r1_verify) {
    VERIFY(secp160r1, SECP160R1, sha1, SHA1);
}
WORKLOAD(ecdsa_secp160r1_sign_sha256) {
    SIGN(secp160r1, SECP160R1, sha256, SHA256);
}
WORKLOAD(ecdsa_secp160r1_verify_sha256) {
    VERIFY(secp160r1, SECP160R1, sha256, SHA256);
}
WORKLOAD(ecdsa_p256_keygen) {
    KEYGEN(p256, P256);
}
WORKLOAD(ecdsa_p256_sign) {
    SIGN(p256, P256, sha256, SHA256);
}
WORKLOAD(ecdsa_p256_verify) {
    VERIFY(p256, P256, sha256, SHA256);
}

WORKLOAD(ecdsa_secp160r1_all) {
    ALL(secp160r1, SECP160R1, sha1, SHA1);
}
WORKLOAD(ecdsa_p256_all) {
    ALL(p256, P256, sha256, SHA256);
}
