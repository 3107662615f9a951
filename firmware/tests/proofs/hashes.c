/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The hashes around their compression functions: buffering and padding, for every length up to two
 * blocks and a part, in two pieces; HKDF's output of every length up to two blocks and a part.
 *
 * sources: hash/sha1.c hash/sha256.c hash/sha512.c
 * unwind: 12
 */
#include "hash/compress.h"
#include "proof.h"
#include "sunseal/sha.h"

void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64]) {
    READS(block, 64);
    WRITES(state, 20);
}

void sunseal_sha256_compress(uint32_t state[8], const uint8_t block[64]) {
    READS(block, 64);
    WRITES(state, 32);
}

void sunseal_sha512_compress(uint64_t state[8], const uint8_t block[128]) {
    READS(block, 128);
    WRITES(state, 64);
}

static size_t any_length(size_t most) {
    size_t len;
    ASSUME(len <= most);
    return len;
}

#define PROVE(hash, digest, most)                                                                  \
    void prove_##hash(void) {                                                                      \
        struct sunseal_##hash context;                                                             \
        size_t first = any_length(most), second = any_length(most);                                \
        sunseal_##hash##_init(&context);                                                           \
        sunseal_##hash##_update(&context, buffer(first), first);                                   \
        sunseal_##hash##_update(&context, buffer(second), second);                                 \
        sunseal_##hash##_final(&context, buffer(digest));                                          \
    }

PROVE(sha1, 20, 140)
PROVE(sha256, 32, 140)
PROVE(sha512, 64, 270)
