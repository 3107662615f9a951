/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "coupon.h"

/* Words of a slot. */
enum { STATE, KIND, EPOCH, VERSION, LOW, HIGH, CHECK, PAYLOAD };

/* States; any two differ in eight bits or more. */
#define FREE 0x0000
#define WRITING 0x3333
#define READY 0x5555
#define CLAIMED 0xFFFF

#define RECORD_WORDS (SUNSEAL_COUPON_FRAM_RECORD_WORDS / 2)

static const struct sunseal_coupon_fram_place *place_of(const struct sunseal_coupon_pool *pool) {
    return pool->place;
}

static uint16_t payload_words(const struct sunseal_coupon_pool *pool) {
    return pool->kind->bytes / 2;
}

static uint16_t *first_slot(const struct sunseal_coupon_pool *pool) {
    return place_of(pool)->words + SUNSEAL_COUPON_FRAM_RECORD_WORDS;
}

static uint16_t *behind(const struct sunseal_coupon_pool *pool, uint16_t *slot) {
    /* By bytes, of which there is an even number: one shift less. */
    slot = (uint16_t *)(void *)((uint8_t *)(slot + PAYLOAD) + pool->kind->bytes);
    return slot == pool->head ? first_slot(pool) : slot;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static bool record_read(const uint16_t *record, uint32_t *number) {
    *number = sunseal_coupon_join(record[0], record[1]);
    return (record[0] ^ record[2]) == 0xFFFF && (record[1] ^ record[3]) == 0xFFFF;
}

static void record_write(uint16_t *record, uint32_t number) {
    sunseal_nvm_commit(record, sunseal_coupon_low(number));
    sunseal_nvm_commit(record + 1, sunseal_coupon_high(number));
    sunseal_nvm_commit(record + 2, sunseal_coupon_low(~number));
    sunseal_nvm_commit(record + 3, sunseal_coupon_high(~number));
}

/* The records are one apart, so that the loss of either is made good by one. */
static bool numbers_open(struct sunseal_coupon_pool *pool) {
    uint16_t *a = place_of(pool)->words, *b = a + RECORD_WORDS;
    uint32_t in_a, in_b;
    bool good_a = record_read(a, &in_a), good_b = record_read(b, &in_b);
    if (good_a && good_b) {
        pool->next = in_a > in_b ? in_a : in_b;
        return true;
    }
    if (!good_a && !good_b) {
        return false;
    }
    pool->next = (good_a ? in_a : in_b) + 1;
    record_write(good_a ? b : a, pool->next);
    return true;
}

static int burn(struct sunseal_coupon_pool *pool, struct sunseal_coupon_slot *slot) {
    uint16_t *a = place_of(pool)->words, *b = a + RECORD_WORDS;
    uint32_t in_a, in_b;
    if (pool->next >= SUNSEAL_COUPON_NUMBERS) {
        return SUNSEAL_ERR_EXHAUSTED;
    }
    bool good_a = record_read(a, &in_a), good_b = record_read(b, &in_b);
    bool older_a = !good_a || (good_b && in_a < in_b);
    slot->sequence = pool->next;
    pool->next++;
    record_write(older_a ? a : b, pool->next);
    return SUNSEAL_OK;
}

static void drop(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *slot) {
    (void)pool;
    (void)slot;
}

/* ---- slots ---------------------------------------------------------------------------------- */

static void slot_wipe(const struct sunseal_coupon_pool *pool, uint16_t *slot) {
    sunseal_nvm_commit(slot + STATE, CLAIMED);
    sunseal_coupon_zero(slot + CHECK, payload_words(pool) + 1);
    sunseal_nvm_commit(slot + STATE, FREE);
}

static bool ours(const struct sunseal_coupon_pool *pool, const uint16_t *slot) {
    return slot[KIND] == pool->kind->id && slot[EPOCH] == pool->epoch &&
           slot[VERSION] == pool->version;
}

static int medium_open(struct sunseal_coupon_pool *pool) {
    const uint16_t slots = place_of(pool)->slots;
    uint16_t *slot = first_slot(pool);
    uint32_t lowest = UINT32_MAX, highest = 0;
    pool->head = slot + slots * (PAYLOAD + payload_words(pool));
    pool->ready = 0;
    if (slots == 0 || pool->kind->high > slots) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    if (!numbers_open(pool)) {
        return SUNSEAL_ERR_STORE;
    }
    pool->oldest = pool->write = slot;
    for (uint16_t i = 0; i < slots; i++, slot = behind(pool, slot)) {
        uint32_t sequence = sunseal_coupon_join(slot[LOW], slot[HIGH]);
        if (slot[STATE] == READY && ours(pool, slot) && sequence < pool->next) {
            pool->ready++;
            if (sequence < lowest) {
                lowest = sequence;
                pool->oldest = slot;
            }
            if (sequence >= highest) {
                highest = sequence;
                pool->write = behind(pool, slot);
            }
        } else if (slot[STATE] != FREE) {
            pool->refused += slot[STATE] != CLAIMED;
            slot_wipe(pool, slot);
        }
    }
    return SUNSEAL_OK;
}

static int format(struct sunseal_coupon_pool *pool, uint32_t first) {
    const struct sunseal_coupon_fram_place *place = place_of(pool);
    uint32_t number;
    if (place->slots == 0 || pool->kind->high > place->slots) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    if (record_read(place->words, &number) || record_read(place->words + RECORD_WORDS, &number)) {
        return SUNSEAL_ERR_INDEX_USED;
    }
    sunseal_coupon_zero(first_slot(pool),
                        (uint16_t)(place->slots * (PAYLOAD + payload_words(pool))));
    record_write(place->words, first);
    return SUNSEAL_OK;
}

static int write(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *burnt,
                 const uint16_t *payload) {
    uint16_t *slot = pool->write;
    for (uint16_t left = place_of(pool)->slots; slot[STATE] == READY; slot = behind(pool, slot)) {
        if (--left == 0) {
            return SUNSEAL_COUPON_FULL;
        }
    }
    const uint16_t words = payload_words(pool);
    const uint16_t header[] = {pool->kind->id, pool->epoch, pool->version,
                               sunseal_coupon_low(burnt->sequence),
                               sunseal_coupon_high(burnt->sequence)};
    sunseal_nvm_commit(slot + STATE, WRITING);
    sunseal_nvm_copy(slot + KIND, header, CHECK - KIND, 0);
    uint16_t crc = sunseal_nvm_check(slot + LOW, 2, pool->seed);
    crc = sunseal_nvm_copy(slot + PAYLOAD, payload, words, crc);
    sunseal_nvm_commit(slot + CHECK, crc);
    sunseal_nvm_commit(slot + STATE, READY);
    pool->write = behind(pool, slot);
    pool->ready++;
    return SUNSEAL_OK;
}

/* The oldest slot that is ready, which is nobody's from here on; NULL where none is. */
static inline __attribute__((always_inline)) uint16_t *
claim_next(struct sunseal_coupon_pool *pool) {
    uint16_t *slot = pool->oldest;
    if (pool->ready == 0) {
        return NULL;
    }
    for (uint16_t left = place_of(pool)->slots; slot[STATE] != READY; slot = behind(pool, slot)) {
        if (--left == 0) {
            pool->ready = 0;
            return NULL;
        }
    }
    sunseal_coupon_commit(slot + STATE, CLAIMED);
    pool->oldest = behind(pool, slot);
    pool->ready--;
    return slot;
}

/* What moving the payload has left. */
static inline void wipe_header(uint16_t *slot) {
    sunseal_coupon_commit(slot + CHECK, 0);
    sunseal_coupon_commit(slot + STATE, FREE);
}

static int claim(struct sunseal_coupon_pool *pool, struct sunseal_coupon_slot *claimed) {
    uint16_t *slot = claim_next(pool);
    if (slot == NULL) {
        return SUNSEAL_ERR_COUPON;
    }
    claimed->slot = slot;
    claimed->sequence = sunseal_coupon_join(slot[LOW], slot[HIGH]);
    sunseal_coupon_begin(slot[LOW], slot[HIGH], pool->seed);
    claimed->check = slot[CHECK];
    return SUNSEAL_OK;
}

static uint16_t pass(const struct sunseal_coupon_slot *claimed, uint16_t *out, uint16_t from,
                     uint16_t count) {
    return sunseal_coupon_move(out, claimed->slot + PAYLOAD + from, count);
}

static void wipe(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *claimed) {
    (void)pool;
    wipe_header(claimed->slot);
}

static int use(struct sunseal_coupon_pool *pool, uint16_t *out, const uint16_t *in,
               uint32_t *sequence) {
    uint16_t *slot;
    while ((slot = claim_next(pool)) != NULL) {
        uint16_t words = payload_words(pool);
        sunseal_coupon_begin(slot[LOW], slot[HIGH], pool->seed);
        const uint16_t crc = in != NULL ? sunseal_coupon_move_xor(out, in, slot + PAYLOAD, words)
                                        : sunseal_coupon_move(out, slot + PAYLOAD, words);
        const uint16_t check = slot[CHECK];
        wipe_header(slot);
        if (crc == check) {
            *sequence = sunseal_coupon_join(slot[LOW], slot[HIGH]);
            return SUNSEAL_OK;
        }
        pool->refused++;
    }
    return SUNSEAL_ERR_COUPON;
}

static uint32_t erases(const struct sunseal_coupon_pool *pool) {
    (void)pool;
    return 0;
}

const struct sunseal_coupon_medium sunseal_coupon_fram = {format, medium_open, burn, drop, write,
                                                          claim,  pass,        wipe, use,  erases};
