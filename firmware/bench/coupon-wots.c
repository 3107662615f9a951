/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Coupons of Winternitz chains: SHA-1 with each fourth value kept, SHA-256 with each eighth. In and
 * out: coupon/algorithms/coupon.toml.
 *
 * whole is what a signature takes where there is no coupon, its number burnt. In front of the marks
 * the store is formatted and opened, the message hashed and, for use, one coupon made. The output's
 * bytes serve as the store's buffer, too.
 */
#include "bench.h"

#include <string.h>

#include "sunseal/coupon_kinds.h"
#include "sunseal/ecdsa_steps.h"
#include "sunseal/nvm.h"
#include "sunseal/sha.h"

#define MESSAGE_BYTES 64
#define PAYLOAD_MAX SUNSEAL_COUPON_WOTS_BYTES(32, 8)

BENCH_BUFFERS(32 + MESSAGE_BYTES, PAYLOAD_MAX);

#if defined(SUNSEAL_FRAM)
#define MEDIUM sunseal_coupon_fram
SUNSEAL_NVM static uint16_t memory[SUNSEAL_COUPON_FRAM_WORDS(PAYLOAD_MAX, 1)] = {0};
static const struct sunseal_coupon_fram_place place = {memory, 1};
#else
#define MEDIUM sunseal_coupon_flash
static const struct sunseal_coupon_flash_place place = {&sunseal_coupon_flash_msp432p401r,
                                                        (uint16_t *)0x38000, 2, 4096, 20000};
#endif

static struct sunseal_coupon_kind kind;
static struct sunseal_coupon_pool pool = {.kind = &kind, .medium = &MEDIUM, .place = &place};
static struct sunseal_coupon_store store = {.pools = &pool, .count = 1, .epoch = 1, .version = 1};
static uint8_t hashed[32];

static int16_t produce(void) {
    int status;
    do {
        status = sunseal_coupon_produce(&store);
    } while (status == SUNSEAL_PENDING);
    return (int16_t)status;
}

static int16_t begin(uint8_t *out, uint16_t bytes, int (*make)(void *, uint32_t, void *),
                     void *context) {
    kind = (struct sunseal_coupon_kind){1, bytes, 1, 1, 1, make, context};
    store.work = (uint16_t *)(void *)out;
    store.work_bytes = bytes;
    int status = sunseal_coupon_open(&store);
    return (int16_t)(status == SUNSEAL_ERR_STORE ? sunseal_coupon_format(&store, 0, 0) : status);
}

#define BEGIN(name, n, every_links)                                                                \
    static struct sunseal_coupon_wots_##name name = {.every = every_links};                        \
                                                                                                   \
    static int16_t begin_##name(const uint8_t *in, uint8_t *out) {                                 \
        memcpy(name.key.seed, in, n);                                                              \
        return begin(out, SUNSEAL_COUPON_WOTS_BYTES(n, every_links),                               \
                     sunseal_coupon_wots_##name##_make, &name);                                    \
    }                                                                                              \
                                                                                                   \
    static int16_t begin_##name##_signing(const uint8_t *in, uint8_t *out) {                       \
        sunseal_##name(hashed, in + n, MESSAGE_BYTES);                                             \
        return begin_##name(in, out);                                                              \
    }                                                                                              \
                                                                                                   \
    static int16_t sign_##name(uint8_t *out) {                                                     \
        uint32_t index;                                                                            \
        int status = sunseal_coupon_wots_##name##_sign(&store, 0, out, hashed, out, &index);       \
        memcpy(out + (n) * SUNSEAL_WOTS_CHAINS(n), &index, sizeof index);                          \
        return (int16_t)status;                                                                    \
    }

#define WOTS(name, n)                                                                              \
    SETUP(coupon_wots_##name##_produce) {                                                          \
        BENCH_LENGTH(n, n);                                                                        \
        return begin_##name(in, out);                                                              \
    }                                                                                              \
    WORKLOAD(coupon_wots_##name##_produce) {                                                       \
        return produce();                                                                          \
    }                                                                                              \
    SETUP(coupon_wots_##name##_use) {                                                              \
        BENCH_LENGTH((n) + MESSAGE_BYTES, (n) + MESSAGE_BYTES);                                    \
        int16_t status = begin_##name##_signing(in, out);                                          \
        return status == SUNSEAL_OK && sunseal_coupon_ready(&store, 0) == 0 ? produce() : status;  \
    }                                                                                              \
    WORKLOAD(coupon_wots_##name##_use) {                                                           \
        return sign_##name(out);                                                                   \
    }                                                                                              \
    SETUP(coupon_wots_##name##_whole) {                                                            \
        BENCH_LENGTH((n) + MESSAGE_BYTES, (n) + MESSAGE_BYTES);                                    \
        return begin_##name##_signing(in, out);                                                    \
    }                                                                                              \
    WORKLOAD(coupon_wots_##name##_whole) {                                                         \
        int16_t status = sign_##name(out);                                                         \
        return status == SUNSEAL_COUPON_MONOLITHIC ? SUNSEAL_OK : BENCH_ERR_INPUT;                 \
    }

BEGIN(sha1, 20, 4)
WOTS(sha1, 20)
BEGIN(sha256, 32, 8)
WOTS(sha256, 32)
