/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Hashes: in message[..], out digest.
 */
#include "bench.h"
#include "sunseal/error.h"
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
