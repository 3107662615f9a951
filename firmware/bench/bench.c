/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One workload between two edges of the trigger pin; see bench.h. The build
 * defines WORKLOAD_<name> and compiles this file once for each workload.
 */
#include "bench.h"

#include "board.h"
#include "msp430f5438a.h"
#include "sunseal/ecdsa.h"
#include "sunseal/sha.h"

#define NOINIT __attribute__((section(".noinit"), used, aligned(2)))

NOINIT uint8_t bench_input[BENCH_INPUT_BYTES];
NOINIT uint8_t bench_output[BENCH_OUTPUT_BYTES];
NOINIT uint16_t bench_input_len;
NOINIT int16_t bench_status;

int main(void);

/* The curve and the hash that the workload's name stands for. */
#if defined(WORKLOAD_ecdsa_secp160r1_keygen) || defined(WORKLOAD_ecdsa_secp160r1_sign) ||          \
    defined(WORKLOAD_ecdsa_secp160r1_verify) || defined(WORKLOAD_ecdsa_secp160r1_sign_sha256) ||   \
    defined(WORKLOAD_ecdsa_secp160r1_verify_sha256) || defined(WORKLOAD_ecdsa_secp160r1_all)
#define PRIVATE_BYTES SUNSEAL_SECP160R1_PRIVATE_BYTES
#define PUBLIC_BYTES SUNSEAL_SECP160R1_PUBLIC_BYTES
#define SIGNATURE_BYTES SUNSEAL_SECP160R1_SIGNATURE_BYTES
#define KEYGEN sunseal_ecdsa_secp160r1_keygen
#define SIGN sunseal_ecdsa_secp160r1_sign
#define VERIFY sunseal_ecdsa_secp160r1_verify
#else
#define PRIVATE_BYTES SUNSEAL_P256_PRIVATE_BYTES
#define PUBLIC_BYTES SUNSEAL_P256_PUBLIC_BYTES
#define SIGNATURE_BYTES SUNSEAL_P256_SIGNATURE_BYTES
#define KEYGEN sunseal_ecdsa_p256_keygen
#define SIGN sunseal_ecdsa_p256_sign
#define VERIFY sunseal_ecdsa_p256_verify
#endif

#if defined(WORKLOAD_ecdsa_secp160r1_sign) || defined(WORKLOAD_ecdsa_secp160r1_verify) ||          \
    defined(WORKLOAD_ecdsa_secp160r1_all) || defined(WORKLOAD_sha1_hash)
#define DIGEST_BYTES SUNSEAL_SHA1_BYTES
#define HASH_CONTEXT struct sunseal_sha1
#define HASH_INIT sunseal_sha1_init
#define HASH_UPDATE sunseal_sha1_update
#define HASH_FINAL sunseal_sha1_final
#else
#define DIGEST_BYTES SUNSEAL_SHA256_BYTES
#define HASH_CONTEXT struct sunseal_sha256
#define HASH_INIT sunseal_sha256_init
#define HASH_UPDATE sunseal_sha256_update
#define HASH_FINAL sunseal_sha256_final
#endif

#if defined(WORKLOAD_ecdsa_secp160r1_keygen) || defined(WORKLOAD_ecdsa_p256_keygen)

#define INPUT_BYTES_MIN SUNSEAL_ENTROPY_BYTES
#define INPUT_BYTES_MAX SUNSEAL_ENTROPY_BYTES
static int16_t operation(void) {
    return (int16_t)KEYGEN(bench_output, bench_output + PRIVATE_BYTES, bench_input);
}

#else

/* Not inlined: the context's bytes must not lie under the scalar multiplication's stack. */
__attribute__((noinline)) static void hash(uint8_t *digest, uint16_t offset) {
    HASH_CONTEXT context;
    HASH_INIT(&context);
    HASH_UPDATE(&context, bench_input + offset, (size_t)(bench_input_len - offset));
    HASH_FINAL(&context, digest);
}

#if defined(WORKLOAD_ecdsa_secp160r1_sign) || defined(WORKLOAD_ecdsa_p256_sign) ||                 \
    defined(WORKLOAD_ecdsa_secp160r1_sign_sha256)

#define INPUT_BYTES_MIN (PRIVATE_BYTES + SUNSEAL_ENTROPY_BYTES)
#define INPUT_BYTES_MAX BENCH_INPUT_BYTES
static int16_t operation(void) {
    uint8_t digest[DIGEST_BYTES];
    hash(digest, INPUT_BYTES_MIN);
    return (int16_t)SIGN(bench_output, bench_input, digest, sizeof digest,
                         bench_input + PRIVATE_BYTES);
}

#elif defined(WORKLOAD_ecdsa_secp160r1_verify) || defined(WORKLOAD_ecdsa_p256_verify) ||           \
    defined(WORKLOAD_ecdsa_secp160r1_verify_sha256)

#define INPUT_BYTES_MIN (PUBLIC_BYTES + SIGNATURE_BYTES)
#define INPUT_BYTES_MAX BENCH_INPUT_BYTES
static int16_t operation(void) {
    uint8_t digest[DIGEST_BYTES];
    hash(digest, INPUT_BYTES_MIN);
    return (int16_t)VERIFY(bench_input, bench_input + PUBLIC_BYTES, digest, sizeof digest);
}

#elif defined(WORKLOAD_ecdsa_secp160r1_all) || defined(WORKLOAD_ecdsa_p256_all)

#define INPUT_BYTES_MIN (2 * SUNSEAL_ENTROPY_BYTES)
#define INPUT_BYTES_MAX BENCH_INPUT_BYTES
static int16_t operation(void) {
    uint8_t *key = bench_output;
    uint8_t *public_key = key + PRIVATE_BYTES;
    uint8_t *signature = public_key + PUBLIC_BYTES;
    uint8_t digest[DIGEST_BYTES];
    hash(digest, INPUT_BYTES_MIN);
    int status = KEYGEN(key, public_key, bench_input);
    if (status == SUNSEAL_OK) {
        status = SIGN(signature, key, digest, sizeof digest, bench_input + SUNSEAL_ENTROPY_BYTES);
    }
    if (status == SUNSEAL_OK) {
        status = VERIFY(public_key, signature, digest, sizeof digest);
    }
    return (int16_t)status;
}

#elif defined(WORKLOAD_sha1_hash) || defined(WORKLOAD_sha256_hash)

#define INPUT_BYTES_MIN 0
#define INPUT_BYTES_MAX BENCH_INPUT_BYTES
static int16_t operation(void) {
    hash(bench_output, 0);
    return SUNSEAL_OK;
}

#else
#error "define WORKLOAD_<name> as one of the workloads that firmware/Makefile lists"
#endif
#endif

int main(void) {
    bench_status = BENCH_RUNNING;
    board_trigger_init();
    if ((uint16_t)(bench_input_len - INPUT_BYTES_MIN) > INPUT_BYTES_MAX - INPUT_BYTES_MIN) {
        bench_status = BENCH_ERR_INPUT;
        return 0;
    }
    board_trigger_high();
    int16_t status = operation();
    board_trigger_low();
    bench_status = status;
    return 0;
}
