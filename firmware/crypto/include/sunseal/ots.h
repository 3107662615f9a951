/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_OTS_H
#define SUNSEAL_OTS_H

#include <stddef.h>
#include <stdint.h>

#include "sunseal/error.h"
#include "sunseal/sha.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One-time signatures of hashes: Lamport-Diffie and Winternitz
 * ============================================================
 *
 * The schemes that Mane 2014, section 4.3, weighs against ECDSA; it prints no parameters, these are
 * ours. Sources: Lamport 1979 (SRI-CSL-98); Winternitz as Merkle 1989, with hash chains of 16
 * values. SHA-1 is for what the paper did (80 bits); SHA-256 for 128 bits. For signatures that a
 * standard knows, see sunseal/lms.h.
 *
 * A hash of n = 20 or 32 bytes is signed. Secret values come from a seed of n bytes, the number of
 * the key and their own: x[j] = H(seed || u32 index || u16 j), j from 0x8000 for Lamport-Diffie.
 *
 *   Winternitz      4 bits a chain and 3 chains for the checksum, l = 2 n + 3. Value i of the
 *                   signature is H^d(x[i]) for digit d; public key = H(H^15(x[0]) || ...).
 *   Lamport-Diffie  value i of the signature is x[2 i + bit i], bits from the first byte's highest
 *                   on; value j of the public key is H(x[j]).
 *
 *                            SHA-1                       SHA-256
 *                  public key    signature     public key    signature
 *   Winternitz             20          860             32         2144
 *   Lamport-Diffie       6400         3200          16384         8192
 *
 * Every call returns SUNSEAL_ERR_NULL where a buffer, a structure or a function of the store is
 * missing, and SUNSEAL_ERR_OVERLAP where an output shares bytes with another argument; then nothing
 * is written and no index burnt.
 *
 * Timing: nothing depends on the seed; the number of steps depends on the hash that is signed,
 * which the signature shows anyway. verify is _vartime: all of its inputs are public.
 *
 * Stack in bytes, at most, with the return address: sign and begin 610, public_key 640,
 * verify 590, next 500, index_* 590; and what the store's functions need.
 */

/*
 * The store: non-volatile memory that remembers which keys are used
 * -----------------------------------------------------------------
 * SUNSEAL_INDEX_BYTES from offset 0 hold the lowest index that is still free, twice: a power cut
 * tears at most one of the two, and one that goes bad later does not bring a used index back. Both
 * functions return 0 when done; write returns only when the bytes are there for good. The library
 * reads back what it wrote before any byte of a signature leaves: an index is burnt before it is
 * used, and lost, not used again, when power goes in between.
 *
 * identifier: 8 bytes, not secret, of the seed's own, so that no other key's store is taken for it.
 */
struct sunseal_store {
    int (*read)(void *context, uint32_t offset, uint8_t *bytes, size_t count);
    int (*write)(void *context, uint32_t offset, const uint8_t *bytes, size_t count);
    void *context;
};

/* A store in memory that is written as RAM is: FRAM, or RAM that a battery holds. context is this.
 */
struct sunseal_store_memory {
    uint8_t *bytes;
    uint32_t count;
};
int sunseal_store_memory_read(void *context, uint32_t offset, uint8_t *bytes, size_t count);
int sunseal_store_memory_write(void *context, uint32_t offset, const uint8_t *bytes, size_t count);

#define SUNSEAL_INDEX_BYTES 32
#define SUNSEAL_IDENTIFIER_BYTES 8

/* The first record of a new key, index 0; once more where a power cut came between. Returns
 * SUNSEAL_OK, SUNSEAL_ERR_INDEX_USED where an index of this identifier is burnt already, or
 * SUNSEAL_ERR_STORE. A store whose records were destroyed, other than by power cuts, looks new: its
 * key must not be created again. */
int sunseal_index_create(const struct sunseal_store *store, const uint8_t identifier[8]);

/* The lowest free index. Returns SUNSEAL_OK or SUNSEAL_ERR_STORE (it cannot be read, or holds no
 * record of this identifier). */
int sunseal_index_next(uint32_t *index, const struct sunseal_store *store,
                       const uint8_t identifier[8]);

/* Burn index and all below. Returns SUNSEAL_OK, SUNSEAL_ERR_INDEX_USED, SUNSEAL_ERR_EXHAUSTED
 * (index is 2^32 - 1) or SUNSEAL_ERR_STORE (also: what was written does not read back). */
int sunseal_index_burn(const struct sunseal_store *store, const uint8_t identifier[8],
                       uint32_t index);

#define SUNSEAL_WOTS_CHAINS(n) (2 * (n) + 3)
#define SUNSEAL_WOTS_SHA1_SIGNATURE_BYTES (20 * SUNSEAL_WOTS_CHAINS(20))
#define SUNSEAL_WOTS_SHA256_SIGNATURE_BYTES (32 * SUNSEAL_WOTS_CHAINS(32))
#define SUNSEAL_LAMPORT_SHA1_PUBLIC_BYTES (20 * 320)
#define SUNSEAL_LAMPORT_SHA1_SIGNATURE_BYTES (20 * 160)
#define SUNSEAL_LAMPORT_SHA256_PUBLIC_BYTES (32 * 512)
#define SUNSEAL_LAMPORT_SHA256_SIGNATURE_BYTES (32 * 256)

struct sunseal_ots_sha1_key {
    uint8_t identifier[8];
    uint8_t seed[20];
};

struct sunseal_ots_sha256_key {
    uint8_t identifier[8];
    uint8_t seed[32];
};

/*
 * Winternitz
 * ----------
 * sign returns SUNSEAL_OK or an error of sunseal_index_burn, verify SUNSEAL_OK or
 * SUNSEAL_ERR_SIGNATURE.
 */
int sunseal_wots_sha1_public_key(uint8_t public_key[20], const struct sunseal_ots_sha1_key *key,
                                 uint32_t index);
int sunseal_wots_sha1_sign(uint8_t sig[SUNSEAL_WOTS_SHA1_SIGNATURE_BYTES],
                           const struct sunseal_ots_sha1_key *key,
                           const struct sunseal_store *store, uint32_t index,
                           const uint8_t hash[20]);
int sunseal_wots_sha1_verify(const uint8_t public_key[20],
                             const uint8_t sig[SUNSEAL_WOTS_SHA1_SIGNATURE_BYTES],
                             const uint8_t hash[20]);

int sunseal_wots_sha256_public_key(uint8_t public_key[32], const struct sunseal_ots_sha256_key *key,
                                   uint32_t index);
int sunseal_wots_sha256_sign(uint8_t sig[SUNSEAL_WOTS_SHA256_SIGNATURE_BYTES],
                             const struct sunseal_ots_sha256_key *key,
                             const struct sunseal_store *store, uint32_t index,
                             const uint8_t hash[32]);
int sunseal_wots_sha256_verify(const uint8_t public_key[32],
                               const uint8_t sig[SUNSEAL_WOTS_SHA256_SIGNATURE_BYTES],
                               const uint8_t hash[32]);

/*
 * Lamport-Diffie
 * --------------
 * Public key and signature are long: both come value by value, so that a node with little memory
 * can send them as they are made. public_key gives value j. begin burns the index; next gives the
 * values in turn and wipes the structure behind the last one; another call then returns
 * SUNSEAL_ERR_INDEX_USED and zeros. verify takes the whole key and signature.
 */
struct sunseal_lamport_sha1 {
    struct sunseal_ots_sha1_key key;
    uint32_t index;
    uint8_t hash[20];
    uint16_t left;
};

struct sunseal_lamport_sha256 {
    struct sunseal_ots_sha256_key key;
    uint32_t index;
    uint8_t hash[32];
    uint16_t left;
};

int sunseal_lamport_sha1_public_key(uint8_t value[20], const struct sunseal_ots_sha1_key *key,
                                    uint32_t index, uint16_t j);
int sunseal_lamport_sha1_begin(struct sunseal_lamport_sha1 *signature,
                               const struct sunseal_ots_sha1_key *key,
                               const struct sunseal_store *store, uint32_t index,
                               const uint8_t hash[20]);
int sunseal_lamport_sha1_next(uint8_t value[20], struct sunseal_lamport_sha1 *signature);
int sunseal_lamport_sha1_verify(const uint8_t public_key[SUNSEAL_LAMPORT_SHA1_PUBLIC_BYTES],
                                const uint8_t sig[SUNSEAL_LAMPORT_SHA1_SIGNATURE_BYTES],
                                const uint8_t hash[20]);

int sunseal_lamport_sha256_public_key(uint8_t value[32], const struct sunseal_ots_sha256_key *key,
                                      uint32_t index, uint16_t j);
int sunseal_lamport_sha256_begin(struct sunseal_lamport_sha256 *signature,
                                 const struct sunseal_ots_sha256_key *key,
                                 const struct sunseal_store *store, uint32_t index,
                                 const uint8_t hash[32]);
int sunseal_lamport_sha256_next(uint8_t value[32], struct sunseal_lamport_sha256 *signature);
int sunseal_lamport_sha256_verify(const uint8_t public_key[SUNSEAL_LAMPORT_SHA256_PUBLIC_BYTES],
                                  const uint8_t sig[SUNSEAL_LAMPORT_SHA256_SIGNATURE_BYTES],
                                  const uint8_t hash[32]);

#ifdef __cplusplus
}
#endif

#endif
