/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Coupons from a store in FRAM, or in flash: what making one costs, and what using one costs with
 * claim, check and wipe. In and out: coupon/algorithms/coupon.toml.
 *
 * In front of the marks the store is formatted and opened and, for use, one coupon made; signing
 * has the hash in front of them, too. sealed is a random value under a device's key; bare is what
 * is left of a use without claim, check and wipe: words from the memory of the store. <curve>_steps
 * and <curve>_pool make a curve's coupon in steps, or of a pool of 64 pairs, 16 terms.
 */
#include "bench.h"

#include <stdbool.h>
#include <string.h>

#include "sunseal/coupon_kinds.h"
#include "sunseal/nvm.h"
#include "sunseal/sha.h"

BENCH_BUFFERS(256, 180);

#define NUMBER(at) ((uint32_t *)(void *)(out + (at)))

#define MESSAGE_BYTES 128
#define CCM_MESSAGE_BYTES 64
#define PAYLOAD_MAX 176

#if defined(SUNSEAL_FRAM)
#define MEDIUM sunseal_coupon_fram
#define SLOTS 2
SUNSEAL_NVM static uint16_t memory[SUNSEAL_COUPON_FRAM_WORDS(PAYLOAD_MAX, SLOTS)] = {0};
static const struct sunseal_coupon_fram_place place = {memory, SLOTS};
#elif defined(SUNSEAL_DEVICE_msp430f5438a)
/* Behind every program of the bench. */
#define MEDIUM sunseal_coupon_flash
static const struct sunseal_coupon_flash_place place = {&sunseal_coupon_flash_msp430f5438a,
                                                        (uint16_t *)0xF000, 2, 512, 10000};
#else
#define MEDIUM sunseal_coupon_flash
static const struct sunseal_coupon_flash_place place = {&sunseal_coupon_flash_msp432p401r,
                                                        (uint16_t *)0x38000, 2, 4096, 20000};
#endif

static uint32_t work[PAYLOAD_MAX / 4];
static struct sunseal_coupon_kind kind;
static struct sunseal_coupon_pool pool = {.kind = &kind, .medium = &MEDIUM, .place = &place};
static struct sunseal_coupon_store store = {.pools = &pool,
                                            .count = 1,
                                            .epoch = 1,
                                            .version = 1,
                                            .work = (uint16_t *)(void *)work,
                                            .work_bytes = sizeof work};

/* In the first life the store is new; in another, what a power cut has left of it. */
static int begin(uint16_t bytes, int (*make)(void *, uint32_t, void *), void *context) {
    kind = (struct sunseal_coupon_kind){1, bytes, 1, 1, 2, make, context};
    int status = sunseal_coupon_open(&store);
    return status == SUNSEAL_ERR_STORE ? sunseal_coupon_format(&store, 0, 0) : status;
}

static int16_t begin_with_one(uint16_t bytes, int (*make)(void *, uint32_t, void *),
                              void *context) {
    int status = begin(bytes, make, context);
    if (status == SUNSEAL_OK && sunseal_coupon_ready(&store, 0) == 0) {
        status = sunseal_coupon_produce(&store);
    }
    return (int16_t)status;
}

static int16_t produce(void) {
    int status;
    do {
        status = sunseal_coupon_produce(&store);
    } while (status == SUNSEAL_PENDING);
    return (int16_t)status;
}

#define PRODUCE(kind)                                                                              \
    WORKLOAD(coupon_##kind##_produce) {                                                            \
        return produce();                                                                          \
    }

/* ---- AES --------------------------------------------------------------------------------------
 */

static uint8_t schedule[SUNSEAL_SCHEDULE_BYTES_MAX]
    __attribute__((aligned(SUNSEAL_SCHEDULE_ALIGN)));
static struct sunseal_coupon_keystream keystream = {
    .cipher = &sunseal_aes128, .schedule = schedule, .bytes = MESSAGE_BYTES};
static struct sunseal_coupon_ccm ccm = {
    .cipher = &sunseal_aes128, .schedule = schedule, .len = CCM_MESSAGE_BYTES, .tag_len = 16};

static int key(const uint8_t *in) {
    memcpy(keystream.nonce, in + 16, sizeof keystream.nonce);
    memcpy(ccm.nonce, in + 16, sizeof ccm.nonce);
    return sunseal_block_set_key(&sunseal_aes128, schedule, in, 16);
}

SETUP(coupon_ctr_produce) {
    BENCH_LENGTH(24, 24);
    key(in);
    return (int16_t)begin(MESSAGE_BYTES, sunseal_coupon_keystream_make, &keystream);
}
PRODUCE(ctr)

SETUP(coupon_ctr_use) {
    BENCH_LENGTH(24 + MESSAGE_BYTES, 24 + MESSAGE_BYTES);
    key(in);
    return begin_with_one(MESSAGE_BYTES, sunseal_coupon_keystream_make, &keystream);
}
WORKLOAD(coupon_ctr_use) {
    return (int16_t)sunseal_coupon_ctr_encrypt(&store, 0, out, in + 24, MESSAGE_BYTES,
                                               NUMBER(MESSAGE_BYTES));
}

SETUP(coupon_ccm_produce) {
    BENCH_LENGTH(24, 24);
    key(in);
    return (int16_t)begin(32 + CCM_MESSAGE_BYTES, sunseal_coupon_ccm_make, &ccm);
}
PRODUCE(ccm)

SETUP(coupon_ccm_use) {
    BENCH_LENGTH(40 + CCM_MESSAGE_BYTES, 40 + CCM_MESSAGE_BYTES);
    key(in);
    return begin_with_one(32 + CCM_MESSAGE_BYTES, sunseal_coupon_ccm_make, &ccm);
}
WORKLOAD(coupon_ccm_use) {
    return (int16_t)sunseal_coupon_ccm_seal(&store, 0, out, in + 40, in + 24, 16,
                                            out + CCM_MESSAGE_BYTES, work,
                                            NUMBER(CCM_MESSAGE_BYTES + 16));
}

SETUP(coupon_schedule_produce) {
    BENCH_LENGTH(24, 24);
    key(in);
    return (int16_t)begin(sizeof(struct sunseal_aes128), sunseal_coupon_schedule_make, &keystream);
}
PRODUCE(schedule)

SETUP(coupon_schedule_use) {
    BENCH_LENGTH(24, 24);
    key(in);
    return begin_with_one(sizeof(struct sunseal_aes128), sunseal_coupon_schedule_make, &keystream);
}
WORKLOAD(coupon_schedule_use) {
    return (int16_t)sunseal_coupon_take(&store, 0, out, NUMBER(sizeof(struct sunseal_aes128)));
}

/* ---- random values ---------------------------------------------------------------------
 */

static int fed(void *context, uint8_t entropy[32]) {
    memcpy(entropy, context, 32);
    return SUNSEAL_OK;
}

static struct sunseal_coupon_entropy entropy = {fed, NULL};

SETUP(coupon_random_produce) {
    BENCH_LENGTH(32, 32);
    entropy.context = (void *)(uintptr_t)in;
    return (int16_t)begin(SUNSEAL_COUPON_RANDOM_BYTES, sunseal_coupon_random_make, &entropy);
}
PRODUCE(random)

SETUP(coupon_random_use) {
    BENCH_LENGTH(32, 32);
    entropy.context = (void *)(uintptr_t)in;
    return begin_with_one(SUNSEAL_COUPON_RANDOM_BYTES, sunseal_coupon_random_make, &entropy);
}
WORKLOAD(coupon_random_use) {
    return (int16_t)sunseal_coupon_random(&store, 0, out);
}

static struct sunseal_coupon_sealed sealed = {
    &sunseal_aes128, schedule, 1, SUNSEAL_COUPON_RANDOM_BYTES, sunseal_coupon_random_make,
    &entropy};

SETUP(coupon_sealed_produce) {
    BENCH_LENGTH(48, 48);
    entropy.context = (void *)(uintptr_t)in;
    sunseal_block_set_key(&sunseal_aes128, schedule, in + 32, 16);
    return (int16_t)begin(SUNSEAL_COUPON_RANDOM_BYTES + SUNSEAL_COUPON_TAG_BYTES,
                          sunseal_coupon_sealed_make, &sealed);
}
PRODUCE(sealed)

SETUP(coupon_sealed_use) {
    BENCH_LENGTH(48, 48);
    entropy.context = (void *)(uintptr_t)in;
    sunseal_block_set_key(&sunseal_aes128, schedule, in + 32, 16);
    return begin_with_one(SUNSEAL_COUPON_RANDOM_BYTES + SUNSEAL_COUPON_TAG_BYTES,
                          sunseal_coupon_sealed_make, &sealed);
}
WORKLOAD(coupon_sealed_use) {
    uint32_t sequence;
    return (int16_t)sunseal_coupon_sealed_take(&store, 0, out, &sequence);
}

/* ---- without a guard ------------------------------------------------------------------------- */

/* Where no coupon is: what is read is whatever lies in a slot of the store's memory. */
static uint16_t *bare;

static int16_t begin_bare(const uint8_t *in, uint16_t bytes) {
#if defined(SUNSEAL_FRAM)
    bare = memory;
    memcpy(bare, in, bytes);
#else
    const struct sunseal_coupon_flash_driver *driver = place.driver;
    bare = place.words;
    driver->erase(bare);
    driver->program(bare, (const uint16_t *)(const void *)in, bytes / 2);
#endif
    return SUNSEAL_OK;
}

SETUP(coupon_ctr_bare) {
    BENCH_LENGTH(2 * MESSAGE_BYTES, 2 * MESSAGE_BYTES);
    return begin_bare(in, MESSAGE_BYTES);
}
WORKLOAD(coupon_ctr_bare) {
    const uint16_t *message = (const uint16_t *)(const void *)(in + MESSAGE_BYTES);
    const uint16_t *stream = bare;
    uint16_t *to = (uint16_t *)(void *)out;
    for (uint8_t i = MESSAGE_BYTES / 16; i > 0; i--, to += 8, message += 8, stream += 8) {
        to[0] = message[0] ^ stream[0];
        to[1] = message[1] ^ stream[1];
        to[2] = message[2] ^ stream[2];
        to[3] = message[3] ^ stream[3];
        to[4] = message[4] ^ stream[4];
        to[5] = message[5] ^ stream[5];
        to[6] = message[6] ^ stream[6];
        to[7] = message[7] ^ stream[7];
    }
    return SUNSEAL_OK;
}

SETUP(coupon_random_bare) {
    BENCH_LENGTH(32, 32);
    return begin_bare(in, 32);
}
WORKLOAD(coupon_random_bare) {
    const uint16_t *from = bare;
    uint16_t *to = (uint16_t *)(void *)out;
    to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = from[3];
    to[4] = from[4], to[5] = from[5], to[6] = from[6], to[7] = from[7];
    to[8] = from[8], to[9] = from[9], to[10] = from[10], to[11] = from[11];
    to[12] = from[12], to[13] = from[13], to[14] = from[14], to[15] = from[15];
    return SUNSEAL_OK;
}

/* ---- ECDSA ----------------------------------------------------------------------------------- */

static uint8_t hashed[32];

#define COUPON(curve)                                                                              \
    sizeof(struct sunseal_ecdsa_##curve##_coupon), sunseal_coupon_ecdsa_##curve##_make

#define MADE(curve)                                                                                \
    SETUP(coupon_##curve##_produce) {                                                              \
        BENCH_LENGTH(32, 32);                                                                      \
        entropy.context = (void *)(uintptr_t)in;                                                   \
        return (int16_t)begin(COUPON(curve), &entropy);                                            \
    }                                                                                              \
    PRODUCE(curve)

#define SIGN(kind, curve, HASH)                                                                    \
    WORKLOAD(coupon_##kind##_use) {                                                                \
        return (int16_t)sunseal_coupon_ecdsa_##curve##_sign(&store, 0, out, in, hashed,            \
                                                            SUNSEAL_##HASH##_BYTES);               \
    }

#define USED(curve, CURVE, hash, HASH)                                                             \
    SETUP(coupon_##curve##_use) {                                                                  \
        BENCH_LENGTH(SUNSEAL_##CURVE##_PRIVATE_BYTES + 32 + 64,                                    \
                     SUNSEAL_##CURVE##_PRIVATE_BYTES + 32 + 64);                                   \
        entropy.context = (void *)(uintptr_t)(in + SUNSEAL_##CURVE##_PRIVATE_BYTES);               \
        hash(hashed, in + SUNSEAL_##CURVE##_PRIVATE_BYTES + 32, 64);                               \
        return begin_with_one(COUPON(curve), &entropy);                                            \
    }                                                                                              \
    SIGN(curve, curve, HASH)

MADE(secp160r1)
USED(secp160r1, SECP160R1, sunseal_sha1, SHA1)
MADE(p224)
USED(p224, P224, sunseal_sha256, SHA256)
MADE(p256)

/* ---- ECDH ------------------------------------------------------------------------------------ */

/* Another pair for each number, so that a pair that comes twice is told by its bytes. */
static int fed_by_number(void *context, uint8_t drawn[32]) {
    memcpy(drawn, context, 32);
    for (uint8_t i = 0; i < 4; i++) {
        drawn[i] ^= (uint8_t)(pool.next >> (8 * i));
    }
    return SUNSEAL_OK;
}

static struct sunseal_coupon_entropy numbered = {fed_by_number, NULL};

SETUP(coupon_ecdh_p256_produce) {
    BENCH_LENGTH(32, 32);
    numbered.context = (void *)(uintptr_t)in;
    return (int16_t)begin(SUNSEAL_COUPON_ECDH_P256_BYTES, sunseal_coupon_ecdh_p256_make, &numbered);
}
PRODUCE(ecdh_p256)
SETUP(coupon_ecdh_p256_use) {
    BENCH_LENGTH(32 + 64, 32 + 64);
    numbered.context = (void *)(uintptr_t)in;
    return begin_with_one(SUNSEAL_COUPON_ECDH_P256_BYTES, sunseal_coupon_ecdh_p256_make, &numbered);
}
WORKLOAD(coupon_ecdh_p256_use) {
    return (int16_t)sunseal_coupon_ecdh_p256_agree(&store, 0, out, out + 32, in + 32, work);
}

/* ---- ECDSA in steps, and of a pool ---------------------------------------------------------- */

#define POOL_PAIRS 64
#define POOL_TERMS 16

#define POOL_MADE UINT32_C(0x706F6F6C)

/* A node keeps its pool through all its lives: here it is made in the first one, in front of the
 * marks. Where there is no FRAM it lies in RAM that start-up leaves alone, for the host to keep. */
#if defined(SUNSEAL_FRAM)
#define IN_POOL(curve) __attribute__((section(".nvm.pool_" #curve), aligned(4))) static
#else
#define IN_POOL(curve) __attribute__((section(".noinit.pool_" #curve), aligned(4))) static
#endif

#define ANOTHER_WAY(curve)                                                                         \
    static struct sunseal_coupon_ecdsa_##curve##_steps curve##_steps = {.source = {fed, NULL}};    \
    IN_POOL(curve) struct {                                                                        \
        struct sunseal_ecdsa_##curve##_pair pairs[POOL_PAIRS];                                     \
        uint32_t made;                                                                             \
    } curve##_kept;                                                                                \
    static struct sunseal_coupon_ecdsa_##curve##_pool curve##_pool = {                             \
        {fed, NULL}, curve##_kept.pairs, POOL_PAIRS, POOL_TERMS};                                  \
                                                                                                   \
    static int16_t begin_##curve##_steps(const uint8_t *in) {                                      \
        curve##_steps.source.context = (void *)(uintptr_t)in;                                      \
        return (int16_t)begin(sizeof(struct sunseal_ecdsa_##curve##_coupon),                       \
                              sunseal_coupon_ecdsa_##curve##_make_step, &curve##_steps);           \
    }                                                                                              \
                                                                                                   \
    static int16_t begin_##curve##_pool(const uint8_t *in) {                                       \
        uint8_t drawn[32];                                                                         \
        memcpy(drawn, in, sizeof drawn);                                                           \
        const bool there = curve##_kept.made == POOL_MADE;                                         \
        int status = SUNSEAL_OK;                                                                   \
        for (uint8_t i = 0; !there && i < POOL_PAIRS && status == SUNSEAL_OK; i++) {               \
            sunseal_sha256(drawn, drawn, sizeof drawn);                                            \
            status = sunseal_ecdsa_##curve##_pair(&curve##_kept.pairs[i], drawn);                  \
        }                                                                                          \
        curve##_kept.made = status == SUNSEAL_OK ? POOL_MADE : 0;                                  \
        curve##_pool.source.context = (void *)(uintptr_t)in;                                       \
        return status != SUNSEAL_OK                                                                \
                   ? (int16_t)status                                                               \
                   : (int16_t)begin(sizeof(struct sunseal_ecdsa_##curve##_coupon),                 \
                                    sunseal_coupon_ecdsa_##curve##_make_pool, &curve##_pool);      \
    }

/* A use is set up with its message's hash, and with a coupon unless an earlier life left one. */
#define WAY(curve, CURVE, hash, HASH, way)                                                         \
    SETUP(coupon_##curve##_##way##_produce) {                                                      \
        BENCH_LENGTH(32, 32);                                                                      \
        return begin_##curve##_##way(in);                                                          \
    }                                                                                              \
    PRODUCE(curve##_##way)                                                                         \
    SETUP(coupon_##curve##_##way##_use) {                                                          \
        BENCH_LENGTH(SUNSEAL_##CURVE##_PRIVATE_BYTES + 32 + 64,                                    \
                     SUNSEAL_##CURVE##_PRIVATE_BYTES + 32 + 64);                                   \
        hash(hashed, in + SUNSEAL_##CURVE##_PRIVATE_BYTES + 32, 64);                               \
        int16_t status = begin_##curve##_##way(in + SUNSEAL_##CURVE##_PRIVATE_BYTES);              \
        return status == SUNSEAL_OK && sunseal_coupon_ready(&store, 0) == 0 ? produce() : status;  \
    }                                                                                              \
    SIGN(curve##_##way, curve, HASH)

ANOTHER_WAY(secp160r1)
WAY(secp160r1, SECP160R1, sunseal_sha1, SHA1, steps)
WAY(secp160r1, SECP160R1, sunseal_sha1, SHA1, pool)
ANOTHER_WAY(p224)
WAY(p224, P224, sunseal_sha256, SHA256, steps)
WAY(p224, P224, sunseal_sha256, SHA256, pool)
ANOTHER_WAY(p256)
WAY(p256, P256, sunseal_sha256, SHA256, steps)
WAY(p256, P256, sunseal_sha256, SHA256, pool)

#if defined(SUNSEAL_FRAM)
/* Of duty-coupon-p256: as many coupons as a host wrote here, and the whole computation from then
 * on. */
#define SPEND_SLOTS 128
__attribute__((section(".nvm.spend"))) static uint16_t
    spend_memory[SUNSEAL_COUPON_FRAM_WORDS(sizeof(struct sunseal_ecdsa_p256_coupon), SPEND_SLOTS)];
static const struct sunseal_coupon_fram_place spend_place = {spend_memory, SPEND_SLOTS};

SETUP(coupon_p256_spend) {
    BENCH_LENGTH(32 + 32 + 64, 32 + 32 + 64);
    entropy.context = (void *)(uintptr_t)(in + 32);
    sunseal_sha256(hashed, in + 64, 64);
    const struct sunseal_coupon_kind spent = {.id = 1,
                                              .bytes = sizeof(struct sunseal_ecdsa_p256_coupon),
                                              .high = SPEND_SLOTS,
                                              .make = sunseal_coupon_ecdsa_p256_make,
                                              .context = &entropy};
    kind = spent;
    pool.place = &spend_place;
    int status = sunseal_coupon_open(&store);
    return (int16_t)(status == SUNSEAL_ERR_STORE ? sunseal_coupon_format(&store, 0, 0) : status);
}
#endif

USED(p256, P256, sunseal_sha256, SHA256)
