/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Coupons from a store in FRAM, or in flash: what making one costs, and what using one costs with
 * claim, check and wipe. N = bytes of a private key:
 *
 *   ctr_produce         in  key[16] nonce[8]                     out nothing but the status
 *   ctr_use             in  key[16] nonce[8] message[128]        out message u32 number
 *   ccm_produce         in  key[16] nonce[8]                     out nothing but the status
 *   ccm_use             in  key[16] nonce[8] aad[16] message[64] out message tag[16] u32 number
 *   schedule_produce    in  key[16] nonce[8]                     out nothing but the status
 *   schedule_use        in  key[16] nonce[8]                     out round keys[176] u32 number
 *   random_produce      in  entropy[32]                          out nothing but the status
 *   random_use          in  entropy[32]                          out entropy
 *   <curve>_produce     in  entropy[32]                          out nothing but the status
 *   <curve>_use         in  d[N] entropy[32] message[64]         out r[N] s[N]
 *
 * Numbers are little-endian. In front of the marks the store is formatted and opened and, for use,
 * one coupon made; signing has the hash in front of them, too.
 */
#include "bench.h"

#include <string.h>

#include "sunseal/coupon_kinds.h"
#include "sunseal/nvm.h"
#include "sunseal/sha.h"

BENCH_BUFFERS(160, 180);

#define NUMBER(at) ((uint32_t *)(void *)(out + (at)))

#define MESSAGE_BYTES 128
#define CCM_MESSAGE_BYTES 64
#define PAYLOAD_MAX 176

#if defined(SUNSEAL_DEVICE_msp430fr5994)
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
    return (int16_t)sunseal_coupon_produce(&store);
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
WORKLOAD(coupon_ctr_produce) {
    return produce();
}

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
WORKLOAD(coupon_ccm_produce) {
    return produce();
}

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
WORKLOAD(coupon_schedule_produce) {
    return produce();
}

SETUP(coupon_schedule_use) {
    BENCH_LENGTH(24, 24);
    key(in);
    return begin_with_one(sizeof(struct sunseal_aes128), sunseal_coupon_schedule_make, &keystream);
}
WORKLOAD(coupon_schedule_use) {
    return (int16_t)sunseal_coupon_take(&store, 0, out, NUMBER(sizeof(struct sunseal_aes128)));
}

/* ---- random values, ECDSA ---------------------------------------------------------------------
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
WORKLOAD(coupon_random_produce) {
    return produce();
}

SETUP(coupon_random_use) {
    BENCH_LENGTH(32, 32);
    entropy.context = (void *)(uintptr_t)in;
    return begin_with_one(SUNSEAL_COUPON_RANDOM_BYTES, sunseal_coupon_random_make, &entropy);
}
WORKLOAD(coupon_random_use) {
    return (int16_t)sunseal_coupon_random(&store, 0, out);
}

static uint8_t hashed[32];

#define COUPON(curve)                                                                              \
    sizeof(struct sunseal_ecdsa_##curve##_coupon), sunseal_coupon_ecdsa_##curve##_make

#define BEFORE_PRODUCE(curve)                                                                      \
    BENCH_LENGTH(32, 32);                                                                          \
    entropy.context = (void *)(uintptr_t)in;                                                       \
    return (int16_t)begin(COUPON(curve), &entropy)

#define BEFORE_SIGN(curve, CURVE, hash)                                                            \
    BENCH_LENGTH(SUNSEAL_##CURVE##_PRIVATE_BYTES + 32 + 64,                                        \
                 SUNSEAL_##CURVE##_PRIVATE_BYTES + 32 + 64);                                       \
    entropy.context = (void *)(uintptr_t)(in + SUNSEAL_##CURVE##_PRIVATE_BYTES);                   \
    hash(hashed, in + SUNSEAL_##CURVE##_PRIVATE_BYTES + 32, 64);                                   \
    return begin_with_one(COUPON(curve), &entropy)

#define SIGN(curve, HASH)                                                                          \
    return (int16_t)sunseal_coupon_ecdsa_##curve##_sign(&store, 0, out, in, hashed,                \
                                                        SUNSEAL_##HASH##_BYTES)

SETUP(coupon_secp160r1_produce) {
    BEFORE_PRODUCE(secp160r1);
}
WORKLOAD(coupon_secp160r1_produce) {
    return produce();
}
SETUP(coupon_secp160r1_use) {
    BEFORE_SIGN(secp160r1, SECP160R1, sunseal_sha1);
}
WORKLOAD(coupon_secp160r1_use) {
    SIGN(secp160r1, SHA1);
}
SETUP(coupon_p224_produce) {
    BEFORE_PRODUCE(p224);
}
WORKLOAD(coupon_p224_produce) {
    return produce();
}
SETUP(coupon_p224_use) {
    BEFORE_SIGN(p224, P224, sunseal_sha256);
}
WORKLOAD(coupon_p224_use) {
    SIGN(p224, SHA256);
}
SETUP(coupon_p256_produce) {
    BEFORE_PRODUCE(p256);
}
WORKLOAD(coupon_p256_produce) {
    return produce();
}
SETUP(coupon_p256_use) {
    BEFORE_SIGN(p256, P256, sunseal_sha256);
}
WORKLOAD(coupon_p256_use) {
    SIGN(p256, SHA256);
}
