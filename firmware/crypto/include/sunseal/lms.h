/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_LMS_H
#define SUNSEAL_LMS_H

#include "sunseal/ots.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * LMS (RFC 8554, SP 800-208) over SHA-256 and SHA-256/192
 * =======================================================
 *
 * A tree of 2^h one-time keys (LM-OTS) under one public key. Types are the numbers of RFC 8554 and
 * SP 800-208; n is 32 or 24 bytes, h is 5, 10, 15, 20 or 25, w is 1, 2, 4 or 8 bits a chain. p
 * chains a signature:
 *
 *                            w = 1    2    4    8
 *   n = 32                     265  133   67   34
 *   n = 24                     200  101   51   26
 *
 * A signature of index q may leave once. Its index is burnt in the store, and read back, before the
 * first hash of the signature is computed (sunseal/ots.h). A power cut at any moment costs an index
 * and never uses one twice; so do not restore an old copy of the store.
 *
 * Secrets are H(I || u32 q || u16 i || u8 255 || seed), RFC 8554 appendix A. The randomizer C may
 * come from the caller (SP 800-208 wants an approved generator's) or, with NULL, from the seed with
 * i = 65533.
 *
 * Every call returns SUNSEAL_ERR_NULL where a buffer, a structure or a function of the store is
 * missing, and SUNSEAL_ERR_OVERLAP where an output shares bytes with another argument, the chains'
 * nodes included; then nothing is written and no index burnt.
 *
 * Timing: nothing depends on the seed; the number of steps depends on the randomized hash, which
 * the signature shows. verify is _vartime: all of its inputs are public.
 *
 * Stack in bytes, at most, with the return address: keygen 900, sign 750, chains_fill 650,
 * verify 850; and what the store's functions need.
 */

#define SUNSEAL_LMS_SHA256_M32_H5 5
#define SUNSEAL_LMS_SHA256_M32_H10 6
#define SUNSEAL_LMS_SHA256_M32_H15 7
#define SUNSEAL_LMS_SHA256_M32_H20 8
#define SUNSEAL_LMS_SHA256_M32_H25 9
#define SUNSEAL_LMS_SHA256_M24_H5 10
#define SUNSEAL_LMS_SHA256_M24_H10 11
#define SUNSEAL_LMS_SHA256_M24_H15 12
#define SUNSEAL_LMS_SHA256_M24_H20 13
#define SUNSEAL_LMS_SHA256_M24_H25 14
#define SUNSEAL_LMOTS_SHA256_N32_W1 1
#define SUNSEAL_LMOTS_SHA256_N32_W2 2
#define SUNSEAL_LMOTS_SHA256_N32_W4 3
#define SUNSEAL_LMOTS_SHA256_N32_W8 4
#define SUNSEAL_LMOTS_SHA256_N24_W1 5
#define SUNSEAL_LMOTS_SHA256_N24_W2 6
#define SUNSEAL_LMOTS_SHA256_N24_W4 7
#define SUNSEAL_LMOTS_SHA256_N24_W8 8

#define SUNSEAL_LMS_IDENTIFIER_BYTES 16
#define SUNSEAL_LMS_PUBLIC_BYTES(n) (24u + (n))
#define SUNSEAL_LMS_SIGNATURE_BYTES(n, p, h) (12u + (n) * (1u + (p) + (h)))
/* The index, then the tree's nodes 1, 2, ... */
#define SUNSEAL_LMS_STORE_BYTES(n, h) (SUNSEAL_INDEX_BYTES + (n) * ((2UL << (h)) - 1))

/* 16 bytes that are no other key's, not secret, and a secret seed, both random. The seed has 32
 * bytes whatever n is, as ACVP's key generation has it. */
struct sunseal_lms_key {
    uint8_t lms_type, lmots_type;
    uint8_t identifier[SUNSEAL_LMS_IDENTIFIER_BYTES];
    uint8_t seed[32];
};

/*
 * Key generation
 * --------------
 * 2^h leaves of p (2^w - 1) hashes each: with a harvester, one leaf after the other. leaf computes
 * leaf q and what nodes it completes; q = 0, 1, ... 2^h - 1, any number of times, in this order.
 * finish writes the public key u32 lms_type || u32 lmots_type || I || root, and opens the index.
 * keygen does all of it. Return SUNSEAL_OK, SUNSEAL_ERR_PARAMETERS (types, or q),
 * SUNSEAL_ERR_STORE, or SUNSEAL_ERR_INDEX_USED where this key has signed already. The store knows
 * a key by the first 8 bytes of its identifier: they must differ between keys of one store.
 */
int sunseal_lms_keygen_leaf(const struct sunseal_lms_key *key, const struct sunseal_store *store,
                            uint32_t q);
int sunseal_lms_keygen_finish(uint8_t *public_key, const struct sunseal_lms_key *key,
                              const struct sunseal_store *store);
int sunseal_lms_keygen(uint8_t *public_key, const struct sunseal_lms_key *key,
                       const struct sunseal_store *store);

/*
 * Chains computed ahead
 * ---------------------
 * With energy to spare, the nodes of the next signature's chains, every 2^log2_every-th from the
 * first on, go into nodes (SUNSEAL_LMS_CHAINS_BYTES of them; they are as secret as the seed). sign
 * then takes (2^log2_every - 1) / 2 hashes a chain, on average, and wipes them.
 * Returns SUNSEAL_OK, SUNSEAL_ERR_PARAMETERS (log2_every above w, too), SUNSEAL_ERR_STORE or
 * SUNSEAL_ERR_EXHAUSTED; on one of these errors the nodes are zero.
 */
#define SUNSEAL_LMS_CHAINS_BYTES(n, p, w, log2_every) ((n) * (p) * (1UL << ((w) - (log2_every))))

struct sunseal_lms_chains {
    uint8_t *nodes;
    uint32_t nodes_len;
    uint8_t log2_every;
    uint8_t filled;
    /* What they were filled for. */
    uint8_t filled_every;
    uint8_t identifier[SUNSEAL_LMS_IDENTIFIER_BYTES];
    uint32_t lms_type, lmots_type;
    uint32_t q;
};

int sunseal_lms_chains_fill(struct sunseal_lms_chains *chains, const struct sunseal_lms_key *key,
                            const struct sunseal_store *store);

/*
 * Signature
 * ---------
 * sig_len is that of SUNSEAL_LMS_SIGNATURE_BYTES, else SUNSEAL_ERR_LENGTH. chains may be NULL; they
 * are used if they are this key's and of the index that is next. Returns SUNSEAL_OK,
 * SUNSEAL_ERR_PARAMETERS, SUNSEAL_ERR_LENGTH, SUNSEAL_ERR_EXHAUSTED or SUNSEAL_ERR_STORE.
 */
int sunseal_lms_sign(uint8_t *sig, size_t sig_len, const struct sunseal_lms_key *key,
                     const struct sunseal_store *store, struct sunseal_lms_chains *chains,
                     const void *message, size_t message_len, const uint8_t *randomizer);

/*
 * Verification
 * ------------
 * Any of the types above. Returns SUNSEAL_OK, SUNSEAL_ERR_SIGNATURE,
 * SUNSEAL_ERR_PUBLIC_KEY_FORMAT or SUNSEAL_ERR_SIGNATURE_FORMAT. _vartime.
 */
int sunseal_lms_verify(const uint8_t *public_key, size_t public_key_len, const uint8_t *sig,
                       size_t sig_len, const void *message, size_t message_len);

#ifdef __cplusplus
}
#endif

#endif
