/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/lms.h"

#include <string.h>

#include "../buffers.h"
#include "../hash/compress.h"
#include "../verdict.h"
#include "ots.h"
#include "sunseal/wipe.h"

/* RFC 8554, section 7.1: what stands where the number of a chain or node's step would be. */
#define D_PBLC 0x8080
#define D_MESG 0x8181
#define D_LEAF 0x8282
#define D_INTR 0x8383
/* For the randomizer from the seed: the number of no chain. */
#define D_RANDOMIZER 0xfffd

#define N_MAX 32
#define SEED_BYTES 32
#define BLOCK_BYTES SUNSEAL_SHA_BLOCK_BYTES
/* I || u32 || u16, which every hash begins with, then u8 j in a chain. */
#define PREFIX_BYTES 22
#define CHAIN_BYTES(n) (uint8_t)(PREFIX_BYTES + 1 + (n))

struct parameters {
    uint32_t lms_type, lmots_type;
    uint8_t n, w, h;
    uint8_t checksum_shift;
    uint16_t p;
};

static int parameters_set(struct parameters *parameters, uint32_t lms_type, uint32_t lmots_type) {
    static const uint8_t heights[] = {5, 10, 15, 20, 25}, widths[] = {1, 2, 4, 8};
    static const uint8_t checksum_chains[] = {9, 5, 3, 2, 8, 5, 3, 2};
    int short_tree = lms_type >= SUNSEAL_LMS_SHA256_M24_H5;
    int short_chains = lmots_type >= SUNSEAL_LMOTS_SHA256_N24_W1;
    if (lms_type < SUNSEAL_LMS_SHA256_M32_H5 || lms_type > SUNSEAL_LMS_SHA256_M24_H25 ||
        lmots_type < SUNSEAL_LMOTS_SHA256_N32_W1 || lmots_type > SUNSEAL_LMOTS_SHA256_N24_W8 ||
        short_tree != short_chains) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    parameters->lms_type = lms_type;
    parameters->lmots_type = lmots_type;
    parameters->n = short_tree ? 24 : 32;
    parameters->h = heights[(lms_type - SUNSEAL_LMS_SHA256_M32_H5) % 5];
    parameters->w = widths[(lmots_type - 1) % 4];
    uint8_t v = checksum_chains[lmots_type - 1];
    parameters->p = (uint16_t)(8 * parameters->n / parameters->w + v);
    parameters->checksum_shift = (uint8_t)(16 - v * parameters->w);
    return SUNSEAL_OK;
}

static size_t signature_bytes(const struct parameters *parameters) {
    return SUNSEAL_LMS_SIGNATURE_BYTES(parameters->n, parameters->p, parameters->h);
}

static void put_u16(uint8_t *to, uint16_t value) {
    to[0] = (uint8_t)(value >> 8);
    to[1] = (uint8_t)value;
}

static void put_u32(uint8_t *to, uint32_t value) {
    put_u16(to, (uint16_t)(value >> 16));
    put_u16(to + 2, (uint16_t)value);
}

static uint32_t get_u32(const uint8_t *from) {
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* ---- hashes of one block -------------------------------------------------------------------- */

/* The padding of a message of at most 55 bytes. */
static void block_end(uint8_t block[BLOCK_BYTES], uint8_t message_len) {
    block[message_len] = 0x80;
    put_u16(block + BLOCK_BYTES - 2, (uint16_t)(8 * message_len));
}

/* A message of at most 55 bytes, with its padding: whoever hashes it again changes only what
 * differs. */
static void block_start(uint8_t block[BLOCK_BYTES], uint8_t message_len, const uint8_t *identifier,
                        uint32_t number, uint16_t domain) {
    memset(block, 0, BLOCK_BYTES);
    memcpy(block, identifier, SUNSEAL_LMS_IDENTIFIER_BYTES);
    put_u32(block + 16, number);
    put_u16(block + 20, domain);
    block_end(block, message_len);
}

/* out, which may lie in the block, = the first n bytes of its SHA-256. Leaves the hash in state. */
static void block_hash(uint8_t *out, uint8_t n, const uint8_t block[BLOCK_BYTES],
                       uint32_t state[8]) {
    /* FIPS 180-4, section 5.3.3 */
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (uint8_t i = 0; i < 8; i++) {
        state[i] = initial[i];
    }
    sunseal_sha256_compress(state, block);
    for (const uint8_t *word = (const uint8_t *)state; n > 0; n = (uint8_t)(n - 4), word += 4) {
        out[0] = word[3];
        out[1] = word[2];
        out[2] = word[1];
        out[3] = word[0];
        out += 4;
    }
}

/* ---- LM-OTS --------------------------------------------------------------------------------- */

/* A block for the chains of key q. */
static void chain_start(uint8_t block[BLOCK_BYTES], const struct parameters *parameters,
                        const uint8_t *identifier, uint32_t q) {
    block_start(block, CHAIN_BYTES(parameters->n), identifier, q, 0);
}

/* The value in the block goes from step from to step to of chain i. */
static void chain_run(uint8_t block[BLOCK_BYTES], const struct parameters *parameters, uint16_t i,
                      uint16_t from, uint16_t to) {
    uint32_t state[8];
    put_u16(block + 20, i);
    for (uint16_t j = from; j < to; j++) {
        block[PREFIX_BYTES] = (uint8_t)j;
        block_hash(block + PREFIX_BYTES + 1, parameters->n, block, state);
    }
    sunseal_wipe(state, sizeof state);
}

/* The first value of chain i, RFC 8554 appendix A. The seed has 32 bytes for n = 24 too. */
static void chain_secret(uint8_t block[BLOCK_BYTES], const struct parameters *parameters,
                         uint16_t i, const uint8_t *seed) {
    uint32_t state[8];
    put_u16(block + 20, i);
    block[PREFIX_BYTES] = 0xff;
    memcpy(block + PREFIX_BYTES + 1, seed, SEED_BYTES);
    block_end(block, CHAIN_BYTES(SEED_BYTES));
    block_hash(block + PREFIX_BYTES + 1, parameters->n, block, state);
    memset(block + CHAIN_BYTES(parameters->n), 0, (size_t)(SEED_BYTES + 1 - parameters->n));
    block_end(block, CHAIN_BYTES(parameters->n));
    sunseal_wipe(state, sizeof state);
}

static uint16_t chain_last(const struct parameters *parameters) {
    return (uint16_t)((1u << parameters->w) - 1);
}

/* Digit i of bytes, w bits each: RFC 8554, section 3.1.3. */
static uint8_t digit(const uint8_t *bytes, uint16_t i, uint8_t w) {
    uint16_t bit = (uint16_t)(i * w);
    return (uint8_t)((bytes[bit / 8] >> (8u - w - bit % 8)) & (uint8_t)((1u << w) - 1));
}

/* The randomized hash of the message, and its checksum behind it. */
static void message_hash(uint8_t q_hash[N_MAX + 2], const struct parameters *parameters,
                         const uint8_t *identifier, uint32_t q, const uint8_t *randomizer,
                         const void *message, size_t message_len) {
    struct sunseal_sha256 context;
    uint8_t prefix[PREFIX_BYTES], digest[SUNSEAL_SHA256_BYTES];
    uint16_t sum = 0;
    memcpy(prefix, identifier, SUNSEAL_LMS_IDENTIFIER_BYTES);
    put_u32(prefix + 16, q);
    put_u16(prefix + 20, D_MESG);
    sunseal_sha256_init(&context);
    sunseal_sha256_update(&context, prefix, sizeof prefix);
    sunseal_sha256_update(&context, randomizer, parameters->n);
    sunseal_sha256_update(&context, message, message_len);
    sunseal_sha256_final(&context, digest);
    memcpy(q_hash, digest, parameters->n);
    for (uint16_t i = 0; i < 8 * parameters->n / parameters->w; i++) {
        sum = (uint16_t)(chain_last(parameters) - digit(q_hash, i, parameters->w) + sum);
    }
    put_u16(q_hash + parameters->n, (uint16_t)(sum << parameters->checksum_shift));
}

/* The leaf of key q: its chains' ends, hashed into the key, hashed into the leaf. */
static void ends_start(struct sunseal_sha256 *ends, const uint8_t *identifier, uint32_t q) {
    uint8_t prefix[PREFIX_BYTES];
    memcpy(prefix, identifier, SUNSEAL_LMS_IDENTIFIER_BYTES);
    put_u32(prefix + 16, q);
    put_u16(prefix + 20, D_PBLC);
    sunseal_sha256_init(ends);
    sunseal_sha256_update(ends, prefix, sizeof prefix);
}

static void ends_leaf(uint8_t *node, struct sunseal_sha256 *ends, uint8_t block[BLOCK_BYTES],
                      const struct parameters *parameters, const uint8_t *identifier, uint32_t q) {
    uint8_t digest[SUNSEAL_SHA256_BYTES];
    uint32_t state[8];
    sunseal_sha256_final(ends, digest);
    block_start(block, (uint8_t)(PREFIX_BYTES + parameters->n), identifier,
                ((uint32_t)1 << parameters->h) + q, D_LEAF);
    memcpy(block + PREFIX_BYTES, digest, parameters->n);
    block_hash(node, parameters->n, block, state);
}

/* ---- tree ----------------------------------------------------------------------------------- */

static void node_parent(uint8_t *node, const uint8_t *left, const uint8_t *right, uint8_t n,
                        const uint8_t *identifier, uint32_t number) {
    uint8_t message[PREFIX_BYTES + 2 * N_MAX], digest[SUNSEAL_SHA256_BYTES];
    memcpy(message, identifier, SUNSEAL_LMS_IDENTIFIER_BYTES);
    put_u32(message + 16, number);
    put_u16(message + 20, D_INTR);
    memcpy(message + PREFIX_BYTES, left, n);
    memcpy(message + PREFIX_BYTES + n, right, n);
    sunseal_sha256(digest, message, (size_t)PREFIX_BYTES + (size_t)(2 * n));
    memcpy(node, digest, n);
}

static int node_read(uint8_t *node, const struct sunseal_store *store, uint32_t number, uint8_t n) {
    uint32_t offset = SUNSEAL_INDEX_BYTES + (number - 1) * n;
    return store->read(store->context, offset, node, n) == 0 ? SUNSEAL_OK : SUNSEAL_ERR_STORE;
}

static int node_write(const struct sunseal_store *store, uint32_t number, const uint8_t *node,
                      uint8_t n) {
    uint8_t back[N_MAX], changed = 0;
    uint32_t offset = SUNSEAL_INDEX_BYTES + (number - 1) * n;
    if (store->write(store->context, offset, node, n) != 0 ||
        node_read(back, store, number, n) != SUNSEAL_OK) {
        return SUNSEAL_ERR_STORE;
    }
    for (uint8_t i = 0; i < n; i++) {
        changed |= back[i] ^ node[i];
    }
    return changed ? SUNSEAL_ERR_STORE : SUNSEAL_OK;
}

/* ---- key generation ------------------------------------------------------------------------- */

int sunseal_lms_keygen_leaf(const struct sunseal_lms_key *key, const struct sunseal_store *store,
                            uint32_t q) {
    struct parameters parameters;
    struct sunseal_sha256 ends;
    uint8_t block[BLOCK_BYTES], node[N_MAX], sibling[N_MAX];
    SUNSEAL_REQUIRE_BYTES(key, sizeof *key);
    SUNSEAL_REQUIRE_STORE(store);
    if (parameters_set(&parameters, key->lms_type, key->lmots_type) != SUNSEAL_OK ||
        q >> parameters.h != 0) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    ends_start(&ends, key->identifier, q);
    chain_start(block, &parameters, key->identifier, q);
    for (uint16_t i = 0; i < parameters.p; i++) {
        chain_secret(block, &parameters, i, key->seed);
        chain_run(block, &parameters, i, 0, chain_last(&parameters));
        sunseal_sha256_update(&ends, block + PREFIX_BYTES + 1, parameters.n);
    }
    ends_leaf(node, &ends, block, &parameters, key->identifier, q);
    sunseal_wipe(block, sizeof block);
    uint32_t number = ((uint32_t)1 << parameters.h) + q;
    int status = node_write(store, number, node, parameters.n);
    while (status == SUNSEAL_OK && (number & 1) && number > 1) {
        status = node_read(sibling, store, number - 1, parameters.n);
        if (status == SUNSEAL_OK) {
            number >>= 1;
            node_parent(node, sibling, node, parameters.n, key->identifier, number);
            status = node_write(store, number, node, parameters.n);
        }
    }
    return status;
}

int sunseal_lms_keygen_finish(uint8_t *public_key, const struct sunseal_lms_key *key,
                              const struct sunseal_store *store) {
    struct parameters parameters;
    SUNSEAL_REQUIRE_BYTES(key, sizeof *key);
    SUNSEAL_REQUIRE_STORE(store);
    if (parameters_set(&parameters, key->lms_type, key->lmots_type) != SUNSEAL_OK) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    SUNSEAL_REQUIRE_APART(public_key, SUNSEAL_LMS_PUBLIC_BYTES(parameters.n), key, sizeof *key);
    put_u32(public_key, parameters.lms_type);
    put_u32(public_key + 4, parameters.lmots_type);
    memcpy(public_key + 8, key->identifier, SUNSEAL_LMS_IDENTIFIER_BYTES);
    int status = node_read(public_key + 24, store, 1, parameters.n);
    if (status == SUNSEAL_OK) {
        status = sunseal_index_create(store, key->identifier);
    }
    if (status != SUNSEAL_OK) {
        memset(public_key, 0, SUNSEAL_LMS_PUBLIC_BYTES(parameters.n));
    }
    return status;
}

int sunseal_lms_keygen(uint8_t *public_key, const struct sunseal_lms_key *key,
                       const struct sunseal_store *store) {
    struct parameters parameters;
    SUNSEAL_REQUIRE_BYTES(key, sizeof *key);
    SUNSEAL_REQUIRE_STORE(store);
    int status = parameters_set(&parameters, key->lms_type, key->lmots_type);
    if (status != SUNSEAL_OK) {
        return status;
    }
    SUNSEAL_REQUIRE_APART(public_key, SUNSEAL_LMS_PUBLIC_BYTES(parameters.n), key, sizeof *key);
    for (uint32_t q = 0; q >> parameters.h == 0 && status == SUNSEAL_OK; q++) {
        status = sunseal_lms_keygen_leaf(key, store, q);
    }
    if (status != SUNSEAL_OK) {
        memset(public_key, 0, SUNSEAL_LMS_PUBLIC_BYTES(parameters.n));
        return status;
    }
    return sunseal_lms_keygen_finish(public_key, key, store);
}

/* ---- signature ------------------------------------------------------------------------------ */

int sunseal_lms_chains_fill(struct sunseal_lms_chains *chains, const struct sunseal_lms_key *key,
                            const struct sunseal_store *store) {
    struct parameters parameters;
    uint8_t block[BLOCK_BYTES];
    SUNSEAL_REQUIRE_APART(chains, sizeof *chains, key, sizeof *key);
    SUNSEAL_REQUIRE_APART(chains->nodes, (size_t)chains->nodes_len, key, sizeof *key);
    SUNSEAL_REQUIRE_APART(chains->nodes, (size_t)chains->nodes_len, chains, sizeof *chains);
    SUNSEAL_REQUIRE_STORE(store);
    chains->filled = 0;
    sunseal_wipe(chains->nodes, (size_t)chains->nodes_len);
    if (parameters_set(&parameters, key->lms_type, key->lmots_type) != SUNSEAL_OK ||
        chains->log2_every > parameters.w ||
        chains->nodes_len < SUNSEAL_LMS_CHAINS_BYTES(parameters.n, parameters.p, parameters.w,
                                                     chains->log2_every)) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    int status = sunseal_index_next(&chains->q, store, key->identifier);
    if (status != SUNSEAL_OK) {
        return status;
    }
    if (chains->q >> parameters.h != 0) {
        return SUNSEAL_ERR_EXHAUSTED;
    }
    uint8_t *node = chains->nodes;
    uint16_t every = (uint16_t)(1u << chains->log2_every);
    chain_start(block, &parameters, key->identifier, chains->q);
    for (uint16_t i = 0; i < parameters.p; i++) {
        chain_secret(block, &parameters, i, key->seed);
        for (uint16_t j = 0; j <= chain_last(&parameters); j += every) {
            if (j > 0) {
                chain_run(block, &parameters, i, j - every, j);
            }
            memcpy(node, block + PREFIX_BYTES + 1, parameters.n);
            node += parameters.n;
        }
    }
    sunseal_wipe(block, sizeof block);
    memcpy(chains->identifier, key->identifier, SUNSEAL_LMS_IDENTIFIER_BYTES);
    chains->lms_type = key->lms_type;
    chains->lmots_type = key->lmots_type;
    chains->filled_every = chains->log2_every;
    chains->filled = 1;
    return SUNSEAL_OK;
}

/* Whether the chains are those of this key and index. */
static int chains_fit(const struct sunseal_lms_chains *chains, const struct sunseal_lms_key *key,
                      uint32_t q) {
    return chains != NULL && chains->filled && chains->q == q &&
           chains->filled_every == chains->log2_every && chains->lms_type == key->lms_type &&
           chains->lmots_type == key->lmots_type &&
           memcmp(chains->identifier, key->identifier, SUNSEAL_LMS_IDENTIFIER_BYTES) == 0;
}

/* The p values of a signature of q_hash. */
static void chains_sign(uint8_t *y, const struct parameters *parameters,
                        const struct sunseal_lms_key *key, uint32_t q,
                        const struct sunseal_lms_chains *chains, const uint8_t *q_hash) {
    uint8_t block[BLOCK_BYTES];
    chain_start(block, parameters, key->identifier, q);
    for (uint16_t i = 0; i < parameters->p; i++) {
        uint16_t a = digit(q_hash, i, parameters->w), from = 0;
        if (chains != NULL) {
            uint16_t place = a >> chains->log2_every;
            from = (uint16_t)(place << chains->log2_every);
            place = (uint16_t)((i << (parameters->w - chains->log2_every)) + place);
            memcpy(block + PREFIX_BYTES + 1, chains->nodes + (uint32_t)place * parameters->n,
                   parameters->n);
        } else {
            chain_secret(block, parameters, i, key->seed);
        }
        chain_run(block, parameters, i, from, a);
        memcpy(y, block + PREFIX_BYTES + 1, parameters->n);
        y += parameters->n;
    }
    sunseal_wipe(block, sizeof block);
}

/* The siblings of the nodes from leaf q up to the root. */
static int path_read(uint8_t *path, const struct parameters *parameters,
                     const struct sunseal_store *store, uint32_t q) {
    int status = SUNSEAL_OK;
    for (uint32_t number = ((uint32_t)1 << parameters->h) + q; number > 1 && status == SUNSEAL_OK;
         number >>= 1) {
        status = node_read(path, store, number ^ 1, parameters->n);
        path += parameters->n;
    }
    return status;
}

int sunseal_lms_sign(uint8_t *sig, size_t sig_len, const struct sunseal_lms_key *key,
                     const struct sunseal_store *store, struct sunseal_lms_chains *chains,
                     const void *message, size_t message_len, const uint8_t *randomizer) {
    struct parameters parameters;
    uint8_t q_hash[N_MAX + 2];
    uint32_t q;
    SUNSEAL_REQUIRE_APART(sig, sig_len, key, sizeof *key);
    SUNSEAL_REQUIRE_STORE(store);
    int status = parameters_set(&parameters, key->lms_type, key->lmots_type);
    if (status != SUNSEAL_OK) {
        return status;
    }
    if (sig_len != signature_bytes(&parameters)) {
        return SUNSEAL_ERR_LENGTH;
    }
    SUNSEAL_REQUIRE_APART(sig, sig_len, message, message_len);
    SUNSEAL_REQUIRE_APART(sig, sig_len, randomizer, randomizer != NULL ? parameters.n : 0);
    if (chains != NULL) {
        SUNSEAL_REQUIRE_APART(sig, sig_len, chains, sizeof *chains);
        SUNSEAL_REQUIRE_APART(sig, sig_len, chains->nodes, (size_t)chains->nodes_len);
    }
    memset(sig, 0, sig_len);
    status = sunseal_index_next(&q, store, key->identifier);
    if (status != SUNSEAL_OK) {
        return status;
    }
    if (q >> parameters.h != 0) {
        return SUNSEAL_ERR_EXHAUSTED;
    }
    status = sunseal_index_burn(store, key->identifier, q);
    if (status != SUNSEAL_OK) {
        return status;
    }
    uint8_t *c = sig + 8, *path = c + (1 + parameters.p) * (size_t)parameters.n + 4;
    status = path_read(path, &parameters, store, q);
    if (status != SUNSEAL_OK) {
        memset(sig, 0, sig_len);
        return status;
    }
    put_u32(sig, q);
    put_u32(sig + 4, parameters.lmots_type);
    put_u32(path - 4, parameters.lms_type);
    if (randomizer != NULL) {
        memcpy(c, randomizer, parameters.n);
    } else {
        uint8_t block[BLOCK_BYTES];
        chain_start(block, &parameters, key->identifier, q);
        chain_secret(block, &parameters, D_RANDOMIZER, key->seed);
        memcpy(c, block + PREFIX_BYTES + 1, parameters.n);
        sunseal_wipe(block, sizeof block);
    }
    message_hash(q_hash, &parameters, key->identifier, q, c, message, message_len);
    int ready = chains_fit(chains, key, q);
    chains_sign(c + parameters.n, &parameters, key, q, ready ? chains : NULL, q_hash);
    if (ready) {
        chains->filled = 0;
        sunseal_wipe(chains->nodes, (size_t)chains->nodes_len);
    }
    return SUNSEAL_OK;
}

/* ---- verification --------------------------------------------------------------------------- */

/* The verdict, of n bytes, says what is left to say after it, where no error is returned. */
static __attribute__((noinline)) int root_compare(struct sunseal_verdict *verdict, size_t *n,
                                                  const uint8_t *public_key, size_t public_key_len,
                                                  const uint8_t *sig, size_t sig_len,
                                                  const void *message, size_t message_len) {
    struct parameters parameters;
    struct sunseal_sha256 ends;
    uint8_t block[BLOCK_BYTES], q_hash[N_MAX + 2], node[N_MAX];
    SUNSEAL_REQUIRE_BYTES(public_key, public_key_len);
    SUNSEAL_REQUIRE_BYTES(sig, sig_len);
    SUNSEAL_REQUIRE_BYTES(message, message_len);
    if (public_key_len < 8 ||
        parameters_set(&parameters, get_u32(public_key), get_u32(public_key + 4)) != SUNSEAL_OK ||
        public_key_len != (size_t)SUNSEAL_LMS_PUBLIC_BYTES(parameters.n)) {
        return SUNSEAL_ERR_PUBLIC_KEY_FORMAT;
    }
    const uint8_t *identifier = public_key + 8, *root = public_key + 24;
    if (sig_len != signature_bytes(&parameters)) {
        return SUNSEAL_ERR_SIGNATURE_FORMAT;
    }
    const uint8_t *c = sig + 8, *y = c + parameters.n;
    const uint8_t *path = y + parameters.p * (size_t)parameters.n + 4;
    uint32_t q = get_u32(sig);
    if (get_u32(sig + 4) != parameters.lmots_type || get_u32(path - 4) != parameters.lms_type ||
        q >> parameters.h != 0) {
        return SUNSEAL_ERR_SIGNATURE_FORMAT;
    }
    message_hash(q_hash, &parameters, identifier, q, c, message, message_len);
    ends_start(&ends, identifier, q);
    chain_start(block, &parameters, identifier, q);
    for (uint16_t i = 0; i < parameters.p; i++) {
        memcpy(block + PREFIX_BYTES + 1, y, parameters.n);
        chain_run(block, &parameters, i, digit(q_hash, i, parameters.w), chain_last(&parameters));
        sunseal_sha256_update(&ends, block + PREFIX_BYTES + 1, parameters.n);
        y += parameters.n;
    }
    ends_leaf(node, &ends, block, &parameters, identifier, q);
    for (uint32_t number = ((uint32_t)1 << parameters.h) + q; number > 1; number >>= 1) {
        const uint8_t *left = number & 1 ? path : node, *right = number & 1 ? node : path;
        node_parent(node, left, right, parameters.n, identifier, number >> 1);
        path += parameters.n;
    }
    *n = parameters.n;
    sunseal_verdict_add(verdict, node, root, parameters.n);
    return SUNSEAL_OK;
}

int sunseal_lms_verify(const uint8_t *public_key, size_t public_key_len, const uint8_t *sig,
                       size_t sig_len, const void *message, size_t message_len) {
    struct sunseal_verdict verdict;
    size_t n = 0;
    sunseal_verdict_begin(&verdict);
    int error =
        root_compare(&verdict, &n, public_key, public_key_len, sig, sig_len, message, message_len);
    if (error != SUNSEAL_OK) {
        return sunseal_refused(error);
    }
    SUNSEAL_RETURN(sunseal_verdict_end(&verdict, n, SUNSEAL_ERR_SIGNATURE));
}
