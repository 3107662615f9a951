/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "coupons.h"

#include <stddef.h>

#include "board.h"
#include "crc16.h"
#include "entropy.h"
#include "hal.h"
#include "key.h"
#include "log.h"
#include "sunseal/coupon.h"
#include "sunseal/coupon_kinds.h"
#include "sunseal/wipe.h"

_Static_assert(sizeof(struct coupon_policy) == COUPON_POLICY_BYTES, "docs/reference/node.md");
_Static_assert(offsetof(struct coupon_policy, use_uj) == 16, "docs/reference/node.md");
_Static_assert(offsetof(struct coupon_policy, per_wake) == 26, "docs/reference/node.md");

#define BYTES sizeof(struct SUITE_COUPON)

/* The memory: board.h has its place and size, the linker script keeps programs out of it. */
#if defined(BOARD_COUPON_FRAM_SLOTS)
#define SLOTS BOARD_COUPON_FRAM_SLOTS
#define MEDIUM sunseal_coupon_fram
#define WORDS SUNSEAL_COUPON_FRAM_WORDS(BYTES, SLOTS)
#else
/* A block is used up before it is erased, so of all of them one may stand empty. */
#define SLOTS                                                                                      \
    ((BOARD_COUPON_BLOCKS - 1) * SUNSEAL_COUPON_FLASH_SLOTS(BOARD_COUPON_BLOCK_BYTES, BYTES))
#define MEDIUM sunseal_coupon_flash
#define WORDS (BOARD_COUPON_BLOCKS * BOARD_COUPON_BLOCK_BYTES / 2)
#endif

__attribute__((section(".coupons"), used)) uint16_t coupon_memory[WORDS];

#if defined(BOARD_COUPON_FRAM_SLOTS)
static const struct sunseal_coupon_fram_place place = {coupon_memory, SLOTS};
#else
static const struct sunseal_coupon_flash_place place = {
    .driver = &BOARD_COUPON_DRIVER,
    .words = coupon_memory,
    .blocks = BOARD_COUPON_BLOCKS,
    .block_bytes = BOARD_COUPON_BLOCK_BYTES,
    .endurance = BOARD_COUPON_ERASES,
};
#endif

/* volatile: what stands here after the build is not what stands there on the node. */
__attribute__((section(".info_a.coupons"), used)) const volatile struct coupon_policy node_coupons =
    {
        .magic = COUPON_POLICY_MAGIC,
        .version = COUPON_POLICY_VERSION,
        .bytes = COUPON_POLICY_BYTES,
        .slots = SLOTS,
        .high = SLOTS,
        .refill_above_mv = 4500,
        .use_uj = 500,
        .every_s = 10,
        .per_wake = 1,
};

const char *coupons_load(struct coupon_policy *policy) {
#if defined(BOARD_LOAD_TABLES)
    BOARD_LOAD_TABLES();
#endif
    *policy = node_coupons;
    if (policy->magic != COUPON_POLICY_MAGIC)
        return "magic is missing";
    if (policy->version != COUPON_POLICY_VERSION)
        return "version is another";
    if (policy->bytes != COUPON_POLICY_BYTES)
        return "bytes is another size";
    if (policy->every_s == 0)
        return "every_s is out of range";
    if (policy->per_wake == 0)
        return "per_wake is out of range";
    return NULL;
}

/* A coupon's k is this alone (ecdsa.h), so it takes what a key takes, and a healthy source. */
static int read_entropy(void *context, uint8_t entropy[ENTROPY_BYTES]) {
    (void)context;
    return entropy_take(entropy, ENTROPY_SAMPLES_KEY) ? SUNSEAL_OK : SUNSEAL_ERR_ENTROPY;
}

static struct sunseal_coupon_entropy source = {read_entropy, NULL};

static const struct sunseal_coupon_kind kind = {
    .id = SUITE_COUPON_ID,
    .bytes = BYTES,
    .priority = 1,
    .high = SLOTS, /* below it, the policy decides */
    .make = SUITE_COUPON_MAKE,
    .context = &source,
};

static struct SUITE_COUPON work;
static struct sunseal_coupon_pool coupon_pool = {
    .kind = &kind, .medium = &MEDIUM, .place = &place};
static struct sunseal_coupon_store store = {.pools = &coupon_pool,
                                            .count = 1,
                                            .version = 1,
                                            .work = (uint16_t *)(void *)&work,
                                            .work_bytes = BYTES};

uint16_t coupons_open(void) {
    store.epoch = crc16(key_public(), SUITE_PUBLIC_BYTES);
    int status = sunseal_coupon_open(&store);
    if (status == SUNSEAL_ERR_STORE)
        status = sunseal_coupon_format(&store, 0, 0);
    log_word("coupons");
    log_value("status", (uint16_t)status);
    log_value("ready", coupons_ready());
    log_value("refused", coupon_pool.refused);
    log_end();
    return coupons_ready();
}

uint16_t coupons_ready(void) {
    return sunseal_coupon_ready(&store, 0);
}

int coupons_make(void) {
    hal_watchdog_kick();
    int status = sunseal_coupon_produce(&store);
    hal_watchdog_kick();
    log_word("coupon");
    log_value("status", (uint16_t)status);
    log_value("ready", coupons_ready());
    log_end();
    return status;
}

static int sign_whole(uint8_t *signature, const uint8_t *digest, uint8_t digest_bytes) {
    uint8_t entropy[ENTROPY_BYTES];
    log_word("no coupon");
    log_end();
    /* Without a healthy source it is zeros, and the nonce a deterministic one (ecdsa.h). */
    if (!entropy_take(entropy, ENTROPY_SAMPLES_NONCE)) {
        log_word("entropy unhealthy");
        log_end();
    }
    int status = SUITE_SIGN(signature, key_private(), digest, digest_bytes, entropy);
    sunseal_wipe(entropy, sizeof entropy);
    return status == SUNSEAL_OK ? SUNSEAL_COUPON_MONOLITHIC : status;
}

int coupons_sign(uint8_t signature[SUITE_SIGNATURE_BYTES], const uint8_t *digest,
                 uint8_t digest_bytes) {
    struct SUITE_COUPON coupon;
    uint32_t number;
    if (sunseal_coupon_take(&store, 0, &coupon, &number) != SUNSEAL_OK)
        return sign_whole(signature, digest, digest_bytes);
    int status = SUITE_SIGN_ONLINE(signature, &coupon, key_private(), digest, digest_bytes);
    sunseal_wipe(&coupon, sizeof coupon);
    return status;
}
