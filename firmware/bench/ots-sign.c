/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One-time signatures over SHA-256, key 0 of a fresh store; the hash of the
 * message and the store stand in front of the marks. In and out:
 * crypto/algorithms/ots.toml.
 */
#include <stddef.h>
#include <string.h>

#include "bench.h"
#include "sunseal/ots.h"

#define INPUT_BYTES 192
#define KEY_BYTES 40
BENCH_BUFFERS(INPUT_BYTES, SUNSEAL_WOTS_SHA256_SIGNATURE_BYTES);

static uint8_t record[SUNSEAL_INDEX_BYTES];
static struct sunseal_store_memory memory;
static struct sunseal_store store;
static struct sunseal_ots_sha256_key key;
static uint8_t digest[SUNSEAL_SHA256_BYTES];

static int16_t prepare(const uint8_t *in, uint16_t in_len) {
    BENCH_LENGTH(KEY_BYTES, INPUT_BYTES);
    memory.bytes = record;
    memory.count = sizeof record;
    store.read = sunseal_store_memory_read;
    store.write = sunseal_store_memory_write;
    store.context = &memory;
    memcpy(key.identifier, in, 8);
    memcpy(key.seed, in + 8, 32);
    sunseal_sha256(digest, in + KEY_BYTES, in_len - (size_t)KEY_BYTES);
    return (int16_t)sunseal_index_create(&store, key.identifier);
}

SETUP(wots_keygen) {
    return prepare(in, in_len);
}
WORKLOAD(wots_keygen) {
    sunseal_wots_sha256_public_key(out, &key, 0);
    return SUNSEAL_OK;
}
SETUP(wots_sign) {
    return prepare(in, in_len);
}
WORKLOAD(wots_sign) {
    return (int16_t)sunseal_wots_sha256_sign(out, &key, &store, 0, digest);
}
SETUP(ldots_sign) {
    return prepare(in, in_len);
}
WORKLOAD(ldots_sign) {
    struct sunseal_lamport_sha256 signature;
    uint8_t value[32];
    memset(out, 0, sizeof value);
    int status = sunseal_lamport_sha256_begin(&signature, &key, &store, 0, digest);
    for (uint16_t i = 0; i < 256 && status == SUNSEAL_OK; i++) {
        status = sunseal_lamport_sha256_next(value, &signature);
        for (uint8_t j = 0; j < sizeof value; j++)
            out[j] ^= value[j];
    }
    return (int16_t)status;
}
