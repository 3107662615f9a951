/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Hashes: in message[..], out digest. And what is built of them:
 *
 *   hmac_sha256 tag      in  key[32] message[..]         out tag[32]
 *   hkdf_sha256 derive   in  salt[32] ikm[32] info[..]   out okm[42]
 */
#include "bench.h"
#include "sunseal/error.h"
#include "sunseal/hkdf.h"
#include "sunseal/hmac.h"
#include "sunseal/sha.h"

#define INPUT_BYTES 192
BENCH_BUFFERS(INPUT_BYTES, 64);

#define HASH(hash)                                                                                 \
    struct sunseal_##hash context;                                                                 \
    BENCH_LENGTH(0, INPUT_BYTES);                                                                  \
    sunseal_##hash##_init(&context);                                                               \
    sunseal_##hash##_update(&context, in, in_len);                                                 \
    sunseal_##hash##_final(&context, out);                                                         \
    return SUNSEAL_OK

WORKLOAD(sha1_hash) {
    HASH(sha1);
}
WORKLOAD(sha256_hash) {
    HASH(sha256);
}
WORKLOAD(sha512_hash) {
    HASH(sha512);
}
WORKLOAD(hmac_sha256_tag) {
    BENCH_LENGTH(32, INPUT_BYTES);
    sunseal_hmac_sha256(out, in, 32, in + 32, in_len - 32U);
    return SUNSEAL_OK;
}
WORKLOAD(hkdf_sha256_derive) {
    BENCH_LENGTH(64, INPUT_BYTES);
    return (int16_t)sunseal_hkdf_sha256(out, 42, in, 32, in + 32, 32, in + 64, in_len - 64U);
}
