/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * LMS with SHA-256/192: a tree of 32 keys, chains of 4 bits, the parameters
 * whose signature and store fit into the RAM of each board. The tree's nodes
 * come with the input; the store is opened in front of the marks. In and out:
 * crypto/algorithms/lms.toml.
 */
#include <stddef.h>
#include <string.h>

#include "bench.h"
#include "sunseal/lms.h"

#define STORE_BYTES (SUNSEAL_INDEX_BYTES + 63 * 24)
#define KEY_BYTES 48
#define INPUT_BYTES (KEY_BYTES + STORE_BYTES + 64)
#define SIGNATURE_BYTES SUNSEAL_LMS_SIGNATURE_BYTES(24, 51, 5)
BENCH_BUFFERS(INPUT_BYTES, SIGNATURE_BYTES);

static struct sunseal_store_memory memory;
static struct sunseal_store store;
static struct sunseal_lms_key key;

SETUP(lms_sign) {
    uint8_t public_key[SUNSEAL_LMS_PUBLIC_BYTES(24)];
    BENCH_LENGTH(KEY_BYTES + STORE_BYTES, INPUT_BYTES);
    memory.bytes = bench_input + KEY_BYTES;
    memory.count = STORE_BYTES;
    store.read = sunseal_store_memory_read;
    store.write = sunseal_store_memory_write;
    store.context = &memory;
    key.lms_type = SUNSEAL_LMS_SHA256_M24_H5;
    key.lmots_type = SUNSEAL_LMOTS_SHA256_N24_W4;
    memcpy(key.identifier, in, 16);
    memcpy(key.seed, in + 16, 32);
    return (int16_t)sunseal_lms_keygen_finish(public_key, &key, &store);
}
WORKLOAD(lms_sign) {
    const uint8_t *message = in + KEY_BYTES + STORE_BYTES;
    return (int16_t)sunseal_lms_sign(out, SIGNATURE_BYTES, &key, &store, NULL, message,
                                     in_len - (size_t)(message - in), NULL);
}
