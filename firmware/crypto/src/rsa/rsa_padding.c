/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "rsa_internal.h"

#include <string.h>

#include "mp/mp.h"
#include "sunseal/error.h"
#include "sunseal/sha.h"
#include "sunseal/wipe.h"

#define HASH SUNSEAL_SHA256_BYTES

/* --- PKCS#1 v1.5, RFC 8017 section 9.2 ---------------------------------------------------------
 */

const struct sunseal_rsa_hash sunseal_rsa_sha1 = {
    15,
    20,
    {0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14},
};
const struct sunseal_rsa_hash sunseal_rsa_sha256 = {
    19,
    32,
    {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
     0x00, 0x04, 0x20},
};

void sunseal_rsa_pkcs1_encode(uint8_t *em, const uint8_t *hash,
                              const struct sunseal_rsa_hash *which, size_t k) {
    size_t at = k - which->prefix_len - which->hash_len;
    em[0] = 0;
    em[1] = 1;
    memset(em + 2, 0xff, at - 3);
    em[at - 1] = 0;
    memcpy(em + at, which->prefix, which->prefix_len);
    memcpy(em + at + which->prefix_len, hash, which->hash_len);
}

void sunseal_rsa_pkcs1_compare(struct sunseal_verdict *verdict, uint8_t *em, const uint8_t *hash,
                               const struct sunseal_rsa_hash *which, size_t k) {
    sunseal_rsa_pkcs1_encode(em + k, hash, which, k);
    sunseal_verdict_add(verdict, em, em + k, k);
}

/* --- MGF1 with SHA-256, appendix B.2.1 ---------------------------------------------------------
 */

/* data ^= mask */
static void mask(uint8_t *data, size_t data_len, const uint8_t *seed, size_t seed_len) {
    struct sunseal_sha256 context;
    uint8_t block[HASH];
    uint8_t counter[4] = {0, 0, 0, 0};
    while (data_len > 0) {
        size_t count = data_len < HASH ? data_len : HASH;
        sunseal_sha256_init(&context);
        sunseal_sha256_update(&context, seed, seed_len);
        sunseal_sha256_update(&context, counter, sizeof counter);
        sunseal_sha256_final(&context, block);
        for (size_t i = 0; i < count; i++) {
            *data++ ^= block[i];
        }
        data_len -= count;
        counter[3]++;
    }
    sunseal_wipe(block, sizeof block);
}

/* --- PSS, section 9.1 --------------------------------------------------------------------------
 */

/* DB = 0..0 1 salt, H = SHA-256(0 (8 bytes), hash, salt) */
static void pss_hash(uint8_t h[HASH], const uint8_t hash[HASH], const uint8_t *salt) {
    struct sunseal_sha256 context;
    sunseal_sha256_init(&context);
    memset(h, 0, 8);
    sunseal_sha256_update(&context, h, 8);
    sunseal_sha256_update(&context, hash, HASH);
    sunseal_sha256_update(&context, salt, HASH);
    sunseal_sha256_final(&context, h);
}

void sunseal_rsa_pss_encode(uint8_t *em, const uint8_t hash[32], const uint8_t salt[32], size_t k) {
    size_t db = k - HASH - 1;
    memset(em, 0, db - HASH - 1);
    em[db - HASH - 1] = 1;
    memcpy(em + db - HASH, salt, HASH);
    pss_hash(em + db, hash, salt);
    mask(em, db, em + db, HASH);
    em[0] &= 0x7f;
    em[k - 1] = 0xbc;
}

void sunseal_rsa_pss_compare(struct sunseal_verdict *verdict, uint8_t *em, const uint8_t hash[32],
                             size_t k) {
    size_t db = k - HASH - 1;
    uint8_t *right = em + k, top = em[0] & 0x80;
    mask(em, db, em + db, HASH);
    /* The highest bit is none of the mask's: as it came, it must be 0. */
    em[0] = (uint8_t)((em[0] & 0x7f) | top);
    memset(right, 0, db - HASH - 1);
    right[db - HASH - 1] = 1;
    memcpy(right + db - HASH, em + db - HASH, HASH);
    pss_hash(right + db, hash, right + db - HASH);
    right[k - 1] = 0xbc;
    sunseal_verdict_add(verdict, em, right, k);
}

/* --- OAEP, section 7.1 -------------------------------------------------------------------------
 */

/* SHA-256 of the empty label. */
static const uint8_t LABEL[HASH] = {
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
    0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
};

/* EM = 0, seed, DB = label 0..0 1 message */
void sunseal_rsa_oaep_encode(uint8_t *em, const uint8_t *message, size_t message_len,
                             const uint8_t seed[32], size_t k) {
    uint8_t *db = em + 1 + HASH;
    size_t db_len = k - 1 - HASH;
    em[0] = 0;
    memcpy(em + 1, seed, HASH);
    memcpy(db, LABEL, HASH);
    memset(db + HASH, 0, db_len - HASH - message_len);
    db[db_len - message_len - 1] = 1;
    memcpy(db + db_len - message_len, message, message_len);
    mask(db, db_len, em + 1, HASH);
    mask(em + 1, HASH, db, db_len);
}

void sunseal_rsa_oaep_compare(struct sunseal_verdict *verdict, uint8_t *em, size_t message_len,
                              size_t k) {
    uint8_t *db = em + 1 + HASH, *right = em + k;
    size_t db_len = k - 1 - HASH;
    mask(em + 1, HASH, db, db_len);
    mask(db, db_len, em + 1, HASH);
    memcpy(right, em, k);
    right[0] = 0;
    memcpy(right + 1 + HASH, LABEL, HASH);
    memset(right + 1 + 2 * HASH, 0, db_len - HASH - message_len - 1);
    right[k - message_len - 1] = 1;
    sunseal_verdict_add(verdict, em, right, k);
}
