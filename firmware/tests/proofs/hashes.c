/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The hashes and HMAC around their compression functions, for all bytes: buffering and padding of
 * messages in two pieces on each side of every edge (a block, what the padding leaves of one); keys
 * around a block, tags and HKDF's outputs around a digest.
 *
 * sources: hash/sha1.c hash/sha256.c hash/sha512.c hash/hmac_sha256.c hash/hkdf_sha256.c
 * sources: mp/mp_verdict.c
 * unwind: 300
 */
#include "hash/compress.h"
#include "proof.h"
#include "sunseal/hkdf.h"
#include "sunseal/hmac.h"

void sunseal_sha1_compress(uint32_t state[5], const uint8_t block[64]) {
    READS(block, 64);
    MAY_WRITE(state, 20);
}

void sunseal_sha256_compress(uint32_t state[8], const uint8_t block[64]) {
    READS(block, 64);
    MAY_WRITE(state, 32);
}

void sunseal_sha512_compress(uint64_t state[8], const uint8_t block[128]) {
    READS(block, 128);
    MAY_WRITE(state, 64);
}

#define PROVE(hash, digest, block, ends)                                                           \
    void prove_##hash(void) {                                                                      \
        uint8_t a[140], b[140], c[140];                                                            \
        static const uint8_t pieces[][2] = {                                                       \
            {0, 0},      {1, (block) - 2},   {(block) - 1, 1},          {(ends) - 1, 0},           \
            {(ends), 0}, {(block), (block)}, {(block) + 1, (block) - 1}};                          \
        for (uint8_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {                             \
            struct sunseal_##hash context;                                                         \
            sunseal_##hash##_init(&context);                                                       \
            sunseal_##hash##_update(&context, LAST(a, pieces[i][0]), pieces[i][0]);                \
            sunseal_##hash##_update(&context, LAST(b, pieces[i][1]), pieces[i][1]);                \
            sunseal_##hash##_final(&context, LAST(c, digest));                                     \
        }                                                                                          \
    }

PROVE(sha1, 20, 64, 56)
PROVE(sha256, 32, 64, 56)
PROVE(sha512, 64, 128, 112)

void prove_hmac(void) {
    uint8_t a[136], b[136], c[136], d[136], e[136], f[136];
    static const uint8_t keys[] = {0, 63, 64, 65}, tags[] = {0, 1, 32, 33};
    for (uint8_t i = 0; i < sizeof keys; i++) {
        sunseal_hmac_sha256(LAST(a, 32), LAST(b, keys[i]), keys[i], LAST(c, 3), 3);
        sunseal_hmac_sha256_verify(LAST(d, tags[i]), tags[i], LAST(e, 1), 1, LAST(f, 65), 65);
    }
}

void prove_hkdf(void) {
    uint8_t a[136], b[136], c[136];
    static const uint8_t lengths[] = {0, 1, 31, 32, 33, 64};
    for (uint8_t i = 0; i < sizeof lengths; i++) {
        sunseal_hkdf_sha256_expand(LAST(a, lengths[i]), lengths[i], LAST(b, 32), LAST(c, 2), 2);
    }
}
