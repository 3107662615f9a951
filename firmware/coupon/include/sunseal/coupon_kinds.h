/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_COUPON_KINDS_H
#define SUNSEAL_COUPON_KINDS_H

#include "sunseal/aes.h"
#include "sunseal/coupon.h"
#include "sunseal/ecdh.h"
#include "sunseal/ecdsa.h"
#include "sunseal/ecdsa_pool.h"
#include "sunseal/ecdsa_steps.h"
#include "sunseal/ots.h"

/*
 * Kinds of coupons
 * ================
 *
 * Each has a make function for struct sunseal_coupon_kind, the context that it wants, the bytes of
 * its payload, and a call that uses a coupon, or computes all at once where there is none and says
 * so by SUNSEAL_COUPON_MONOLITHIC. What a call returns besides is that of the store or the
 * algorithm; outputs are zero then.
 *
 * Keystream of AES-CTR
 * --------------------
 * Counter block j of number s is nonce[8] || u32 s || u32 j, big-endian: with the number, which
 * travels with the message, the peer makes the same. One key has one pool and one nonce: the number
 * never repeats, so neither does a counter block. schedule is that of the pool's key; the store's
 * epoch changes with it. encrypt answers with the number that it used; a message is at most
 * bytes long with a coupon, 2^32 blocks without. out and in are apart.
 */
struct sunseal_coupon_keystream {
    const struct sunseal_block *cipher; /* blocks of 16 bytes */
    const void *schedule;
    uint8_t nonce[8];
    uint16_t bytes; /* of the payload, a multiple of 16 */
};

int sunseal_coupon_keystream_make(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ctr_encrypt(struct sunseal_coupon_store *store, uint8_t pool, uint8_t *out,
                               const uint8_t *in, size_t len, uint32_t *sequence);

/*
 * Keystream of AES-CCM with its first MAC block
 * ---------------------------------------------
 * SP 800-38C with a nonce of 13 bytes, nonce[8] || u32 s || 0, at least one byte of data that is
 * covered besides, and messages of exactly len bytes (a multiple of 16), so that the first block of
 * the MAC, too, is known ahead. The payload is E(B_0), E(A_0), E(A_1) .. : bytes is 32 + len. What
 * is left for the message is its MAC, a block of AES for each 16 bytes. seal answers as
 * sunseal_ccm_seal with this nonce.
 */
struct sunseal_coupon_ccm {
    const struct sunseal_block *cipher;
    const void *schedule;
    uint8_t nonce[8];
    uint16_t len;
    uint8_t tag_len;
};

int sunseal_coupon_ccm_make(void *context, uint32_t sequence, void *payload);
/* payload: room for one, aligned; wiped. */
int sunseal_coupon_ccm_seal(struct sunseal_coupon_store *store, uint8_t pool, uint8_t *out,
                            const uint8_t *in, const uint8_t *aad, size_t aad_len, uint8_t *tag,
                            void *payload, uint32_t *sequence);

/*
 * Key schedule
 * ------------
 * Of a key derived for the number alone, E(nonce[8] || u32 s || 0xFFFFFFFF) under the device's key:
 * a fresh key for each session with its round keys, for sunseal_aes128_sbox and _tbox. The payload
 * is a struct sunseal_aes128. take it with sunseal_coupon_take. The context is
 * struct sunseal_coupon_keystream, with a nonce that no keystream has.
 */
int sunseal_coupon_schedule_make(void *context, uint32_t sequence, void *payload);

/*
 * Random values
 * -------------
 * 32 bytes each from a source such as sunseal_entropy or a generator; a source that fails makes no
 * coupon and produce returns its error. take with sunseal_coupon_random; where there is none, the
 * source is asked.
 */
#define SUNSEAL_COUPON_RANDOM_BYTES 32
struct sunseal_coupon_entropy {
    int (*read)(void *context, uint8_t entropy[32]);
    void *context;
};

int sunseal_coupon_random_make(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_random(struct sunseal_coupon_store *store, uint8_t pool, uint8_t out[32]);

/*
 * ECDSA
 * -----
 * The coupon of sunseal_ecdsa_*_sign_offline, of entropy drawn for it alone (a struct
 * sunseal_coupon_entropy is the context); the number plays no part. sign takes one and does
 * sign_online, or sunseal_ecdsa_*_sign with fresh entropy where there is none.
 */
int sunseal_coupon_ecdsa_secp160r1_make(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ecdsa_secp160r1_sign(struct sunseal_coupon_store *store, uint8_t pool,
                                        uint8_t sig[42], const uint8_t d[21], const uint8_t *hash,
                                        size_t hash_len);
int sunseal_coupon_ecdsa_p224_make(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ecdsa_p224_sign(struct sunseal_coupon_store *store, uint8_t pool,
                                   uint8_t sig[56], const uint8_t d[28], const uint8_t *hash,
                                   size_t hash_len);
int sunseal_coupon_ecdsa_p256_make(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ecdsa_p256_sign(struct sunseal_coupon_store *store, uint8_t pool,
                                   uint8_t sig[64], const uint8_t d[32], const uint8_t *hash,
                                   size_t hash_len);

/*
 * ECDSA in steps
 * --------------
 * The same coupon, made a step at a time (sunseal/ecdsa_steps.h), so that the work of one wake-up
 * is bounded: no step is longer than an inversion, a sixth of the whole (secp160r1) to an eighth
 * (P-256); entropy is read in the first. One context serves one pool; it holds k between two steps,
 * in RAM: a coupon whose making is cut begins anew, with other entropy. sign is that of the kind
 * above, whose contexts this one begins like.
 */
struct sunseal_coupon_ecdsa_secp160r1_steps {
    struct sunseal_coupon_entropy source;
    struct sunseal_ecdsa_secp160r1_offline state; /* zero at first */
    uint32_t sequence;                            /* of the coupon that it belongs to */
};
struct sunseal_coupon_ecdsa_p224_steps {
    struct sunseal_coupon_entropy source;
    struct sunseal_ecdsa_p224_offline state; /* zero at first */
    uint32_t sequence;                       /* of the coupon that it belongs to */
};
struct sunseal_coupon_ecdsa_p256_steps {
    struct sunseal_coupon_entropy source;
    struct sunseal_ecdsa_p256_offline state; /* zero at first */
    uint32_t sequence;                       /* of the coupon that it belongs to */
};

int sunseal_coupon_ecdsa_secp160r1_make_step(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ecdsa_p224_make_step(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ecdsa_p256_make_step(void *context, uint32_t sequence, void *payload);

/*
 * ECDSA with nonces of a pool: not recommended
 * --------------------------------------------
 * For comparison alone: sunseal/ecdsa_pool.h says what is known against it. Of `terms` bytes of
 * fresh entropy, 32 at most, a coupon is the sum of as many pairs of the pool, which lies where it
 * outlasts the supply and nobody reads it. sign is that of the kind above, whose contexts this one
 * begins like.
 */
struct sunseal_coupon_ecdsa_secp160r1_pool {
    struct sunseal_coupon_entropy source;
    const struct sunseal_ecdsa_secp160r1_pair *pairs;
    uint16_t count;
    uint8_t terms;
};
struct sunseal_coupon_ecdsa_p224_pool {
    struct sunseal_coupon_entropy source;
    const struct sunseal_ecdsa_p224_pair *pairs;
    uint16_t count;
    uint8_t terms;
};
struct sunseal_coupon_ecdsa_p256_pool {
    struct sunseal_coupon_entropy source;
    const struct sunseal_ecdsa_p256_pair *pairs;
    uint16_t count;
    uint8_t terms;
};

int sunseal_coupon_ecdsa_secp160r1_make_pool(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ecdsa_p224_make_pool(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ecdsa_p256_make_pool(void *context, uint32_t sequence, void *payload);

/*
 * Ephemeral key pairs of ECDH on P-256
 * ------------------------------------
 * d || Q by sunseal_ecdsa_p256_keygen, of entropy drawn for it alone (a struct
 * sunseal_coupon_entropy is the context); the number plays no part. agree takes one, computes the
 * secret that it shares with the peer's public key (sunseal_ecdh_p256, which validates that key)
 * and answers with Q, which the peer wants; where there is none it makes a pair first. A peer's key
 * that is refused costs the coupon: a pair meets one peer. shared, q and payload, room for a
 * coupon, aligned, are apart; payload is wiped.
 */
#define SUNSEAL_COUPON_ECDH_P256_BYTES 96
int sunseal_coupon_ecdh_p256_make(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_ecdh_p256_agree(struct sunseal_coupon_store *store, uint8_t pool,
                                   uint8_t shared[32], uint8_t q[64], const uint8_t peer[64],
                                   void *payload);

/*
 * Winternitz chains with checkpoints
 * ----------------------------------
 * The one-time signature of sunseal/ots.h over SHA-1 or SHA-256: the index is the coupon's number,
 * so that no one-time key serves twice, and the public key is that of sunseal_wots_*_public_key. A
 * payload holds each chain's values 0, every, 2 every ..; sign takes the last one in front of its
 * digit and walks on, every - 1 links at most, (every - 1) / 2 on average, instead of a secret
 * value and 7.5. every is 1, 2, 4, 8 or 16.
 *
 *   payload, bytes       every 16      8      4      2      1
 *   SHA-1                     860   1720   3440   6880  13760
 *   SHA-256                  2144   4288   8576  17152  34304
 *
 * A slot is no longer than an erase block: none of these fits into one of the MSP430F5438A's.
 *
 * make does one chain a step (SUNSEAL_PENDING), 1 + 16 - every hashes; one context serves one pool.
 * sign answers with the index. payload is room for a coupon, aligned, and is wiped; sig may be the
 * same bytes. What the coupon leaves undone is public: the hash's digits. One seed has one pool and
 * no other signer: not sunseal_wots_*_sign, whose store knows nothing of this one.
 */
#define SUNSEAL_COUPON_WOTS_BYTES(digest_bytes, every)                                             \
    ((digest_bytes) * SUNSEAL_WOTS_CHAINS(digest_bytes) * (16 / (every)))

struct sunseal_coupon_wots_sha1 {
    struct sunseal_ots_sha1_key key;
    uint8_t every;
    uint8_t chains;    /* made so far; zero at first */
    uint32_t sequence; /* of the coupon that they belong to */
};
struct sunseal_coupon_wots_sha256 {
    struct sunseal_ots_sha256_key key;
    uint8_t every;
    uint8_t chains;    /* made so far; zero at first */
    uint32_t sequence; /* of the coupon that they belong to */
};

int sunseal_coupon_wots_sha1_make(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_wots_sha1_sign(struct sunseal_coupon_store *store, uint8_t pool,
                                  uint8_t sig[SUNSEAL_WOTS_SHA1_SIGNATURE_BYTES],
                                  const uint8_t hash[20], void *payload, uint32_t *index);
int sunseal_coupon_wots_sha256_make(void *context, uint32_t sequence, void *payload);
int sunseal_coupon_wots_sha256_sign(struct sunseal_coupon_store *store, uint8_t pool,
                                    uint8_t sig[SUNSEAL_WOTS_SHA256_SIGNATURE_BYTES],
                                    const uint8_t hash[32], void *payload, uint32_t *index);

/*
 * Sealed coupons
 * --------------
 * Any kind, sealed in the slot by AES-CCM under a key of the device's (Tsang and Smith 2008: work
 * done ahead may lie in memory that others read and write). Worth its price where that key is safer
 * than the slots, as in a part with external memory; it keeps slots from being read, changed and
 * exchanged. An older copy of the whole memory is not told from the present one. The payload is the
 * other kind's and a tag. id: the kind's. take answers like sunseal_coupon_take; slots that are not
 * what was sealed are refused.
 */
#define SUNSEAL_COUPON_TAG_BYTES 8
struct sunseal_coupon_sealed {
    const struct sunseal_block *cipher;
    const void *schedule;
    uint16_t id, bytes; /* without the tag */
    int (*make)(void *context, uint32_t sequence, void *payload);
    void *context;
};

int sunseal_coupon_sealed_make(void *context, uint32_t sequence, void *payload);
/* payload: room for bytes and tag. */
int sunseal_coupon_sealed_take(struct sunseal_coupon_store *store, uint8_t pool, void *payload,
                               uint32_t *sequence);

#endif
