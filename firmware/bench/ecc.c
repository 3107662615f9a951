/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Elliptic curves; L = 20 and N = 21 for secp160r1, 28 for P-224, 32 for P-256:
 *
 *   keygen        in  entropy[32]                         out d[N] Qx[L] Qy[L]
 *   sign          in  d[N] added_entropy[32] message[..]  out r[N] s[N]
 *   sign_offline  in  entropy[32]                         out nothing but the status
 *   sign_online   in  d[N] entropy[32] message[..]        out r[N] s[N]
 *   verify        in  Qx[L] Qy[L] r[N] s[N] message[..]   out nothing but the status
 *   agree         in  d[N] Qx[L] Qy[L]                    out x[L]
 *   all           in  entropy[32] added_entropy[32]       out d[N] Qx[L] Qy[L] r[N] s[N]
 *                     message[..]
 *
 * sign and verify hash the message inside the marks: SHA-1 for secp160r1 as in
 * the thesis, SHA-256 for the others and for the workloads ending in -sha256.
 * sign_online has the hash and the coupon in front of them: what is left is what
 * a node does when the message is there. all makes a key, signs and verifies:
 * the program whose flash and RAM stand beside the thesis's table 4.2.
 *
 *   x25519   agree   in  d[32] u[32]                       out shared[32]
 *   ed25519  keygen  in  entropy[32]                       out d[64] q[32]
 *            sign    in  seed[32] q[32] message[..]        out signature[64]
 *            verify  in  q[32] signature[64] message[..]   out nothing but the status
 */
#include <stddef.h>

#include "bench.h"
#include "sunseal/ecdh.h"
#include "sunseal/ecdsa.h"
#include "sunseal/ed25519.h"
#include "sunseal/sha.h"
#include "sunseal/x25519.h"

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

static union {
    struct sunseal_ecdsa_secp160r1_coupon secp160r1;
    struct sunseal_ecdsa_p224_coupon p224;
    struct sunseal_ecdsa_p256_coupon p256;
} coupon;
static uint8_t hashed[SUNSEAL_SHA256_BYTES];

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

#define OFFLINE(curve)                                                                             \
    BENCH_LENGTH(SUNSEAL_ENTROPY_BYTES, SUNSEAL_ENTROPY_BYTES);                                    \
    return (int16_t)sunseal_ecdsa_##curve##_sign_offline(&coupon.curve, in)

#define BEFORE_ONLINE(curve, CURVE, hash)                                                          \
    const uint8_t *entropy = in + SUNSEAL_##CURVE##_PRIVATE_BYTES;                                 \
    const uint8_t *message = entropy + SUNSEAL_ENTROPY_BYTES;                                      \
    BENCH_LENGTH(SUNSEAL_##CURVE##_PRIVATE_BYTES + SUNSEAL_ENTROPY_BYTES, INPUT_BYTES);            \
    hash(hashed, message, in_len - (size_t)(message - in));                                        \
    return (int16_t)sunseal_ecdsa_##curve##_sign_offline(&coupon.curve, entropy)

#define ONLINE(curve, HASH)                                                                        \
    return (int16_t)sunseal_ecdsa_##curve##_sign_online(out, &coupon.curve, in, hashed,            \
                                                        SUNSEAL_##HASH##_BYTES)

#define AGREE(curve, CURVE)                                                                        \
    BENCH_LENGTH(SUNSEAL_##CURVE##_PRIVATE_BYTES + SUNSEAL_##CURVE##_PUBLIC_BYTES,                 \
                 SUNSEAL_##CURVE##_PRIVATE_BYTES + SUNSEAL_##CURVE##_PUBLIC_BYTES);                \
    return (int16_t)sunseal_ecdh_##curve(out, in, in + SUNSEAL_##CURVE##_PRIVATE_BYTES)

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
WORKLOAD(ecdsa_secp160r1_sign_offline) {
    OFFLINE(secp160r1);
}
SETUP(ecdsa_secp160r1_sign_online) {
    BEFORE_ONLINE(secp160r1, SECP160R1, sha1);
}
WORKLOAD(ecdsa_secp160r1_sign_online) {
    ONLINE(secp160r1, SHA1);
}
WORKLOAD(ecdh_secp160r1_agree) {
    AGREE(secp160r1, SECP160R1);
}

WORKLOAD(ecdsa_p224_keygen) {
    KEYGEN(p224, P224);
}
WORKLOAD(ecdsa_p224_sign) {
    SIGN(p224, P224, sha256, SHA256);
}
WORKLOAD(ecdsa_p224_verify) {
    VERIFY(p224, P224, sha256, SHA256);
}
WORKLOAD(ecdsa_p224_sign_offline) {
    OFFLINE(p224);
}
SETUP(ecdsa_p224_sign_online) {
    BEFORE_ONLINE(p224, P224, sha256);
}
WORKLOAD(ecdsa_p224_sign_online) {
    ONLINE(p224, SHA256);
}
WORKLOAD(ecdh_p224_agree) {
    AGREE(p224, P224);
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
WORKLOAD(ecdsa_p256_sign_offline) {
    OFFLINE(p256);
}
SETUP(ecdsa_p256_sign_online) {
    BEFORE_ONLINE(p256, P256, sha256);
}
WORKLOAD(ecdsa_p256_sign_online) {
    ONLINE(p256, SHA256);
}
WORKLOAD(ecdh_p256_agree) {
    AGREE(p256, P256);
}

WORKLOAD(ecdsa_secp160r1_all) {
    ALL(secp160r1, SECP160R1, sha1, SHA1);
}
WORKLOAD(ecdsa_p256_all) {
    ALL(p256, P256, sha256, SHA256);
}

WORKLOAD(x25519_agree) {
    BENCH_LENGTH(64, 64);
    return (int16_t)sunseal_x25519(out, in, in + 32);
}
WORKLOAD(ed25519_keygen) {
    BENCH_LENGTH(SUNSEAL_ENTROPY_BYTES, SUNSEAL_ENTROPY_BYTES);
    return (int16_t)sunseal_ed25519_keygen(out, out + SUNSEAL_ED25519_PRIVATE_BYTES, in);
}
WORKLOAD(ed25519_sign) {
    BENCH_LENGTH(SUNSEAL_ED25519_PRIVATE_BYTES, INPUT_BYTES);
    return (int16_t)sunseal_ed25519_sign(out, in, in + SUNSEAL_ED25519_PRIVATE_BYTES,
                                         in_len - (size_t)SUNSEAL_ED25519_PRIVATE_BYTES);
}
WORKLOAD(ed25519_verify) {
    const uint8_t *message = in + SUNSEAL_ED25519_PUBLIC_BYTES + SUNSEAL_ED25519_SIGNATURE_BYTES;
    BENCH_LENGTH(SUNSEAL_ED25519_PUBLIC_BYTES + SUNSEAL_ED25519_SIGNATURE_BYTES, INPUT_BYTES);
    return (int16_t)sunseal_ed25519_verify(in, in + SUNSEAL_ED25519_PUBLIC_BYTES, message,
                                           in_len - (size_t)(message - in));
}
