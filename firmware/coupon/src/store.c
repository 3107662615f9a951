/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "coupon.h"
#include "sunseal/wipe.h"

#define CHUNK_WORDS 8

/* Of payloads. */
#define ALIGN (sizeof(void *) >= 4 ? 4 : 2)

/* ---- start ---------------------------------------------------------------------------------- */

static bool prepare(const struct sunseal_coupon_store *store, struct sunseal_coupon_pool *pool) {
    const struct sunseal_coupon_kind *kind = pool->kind;
    const uint16_t bound[] = {kind->id, store->epoch, store->version};
    pool->opened = 0;
    pool->epoch = store->epoch;
    pool->version = store->version;
    pool->seed = sunseal_nvm_check(bound, 3, 0xFFFF);
    return kind->id != 0 && kind->id != 0xFFFF && kind->bytes % ALIGN == 0 && kind->bytes > 0 &&
           (store->work == NULL || kind->bytes <= store->work_bytes);
}

int sunseal_coupon_format(struct sunseal_coupon_store *store, uint8_t index, uint32_t first) {
    if (index >= store->count || first >= SUNSEAL_COUPON_NUMBERS) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    struct sunseal_coupon_pool *pool = &store->pools[index];
    if (!prepare(store, pool)) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    int status = pool->medium->format(pool, first);
    if (status == SUNSEAL_OK) {
        status = pool->medium->open(pool);
    }
    pool->opened = status == SUNSEAL_OK ? SUNSEAL_COUPON_OPENED : 0;
    return status;
}

int sunseal_coupon_open(struct sunseal_coupon_store *store) {
    int first_error = SUNSEAL_OK;
    store->making = NULL;
    for (uint8_t i = 0; i < store->count; i++) {
        struct sunseal_coupon_pool *pool = &store->pools[i];
        pool->ready = pool->refused = 0;
        int status = prepare(store, pool) ? pool->medium->open(pool) : SUNSEAL_ERR_PARAMETERS;
        pool->opened = status == SUNSEAL_OK ? SUNSEAL_COUPON_OPENED : 0;
        if (first_error == SUNSEAL_OK) {
            first_error = status;
        }
    }
    return first_error;
}

/* ---- making --------------------------------------------------------------------------------- */

/* A pool below `low` before all that are not; then by priority. Of those tried already, none. */
static struct sunseal_coupon_pool *most_wanted(const struct sunseal_coupon_store *store,
                                               uint32_t tried) {
    struct sunseal_coupon_pool *best = NULL;
    uint16_t best_rank = 0;
    for (uint8_t i = 0; i < store->count; i++) {
        struct sunseal_coupon_pool *pool = sunseal_coupon_pool_of(store, i);
        if (pool == NULL || (tried >> i & 1) != 0 || pool->ready >= pool->kind->high) {
            continue;
        }
        uint16_t rank =
            (uint16_t)(pool->kind->priority + (pool->ready < pool->kind->low ? 256 : 0));
        if (best == NULL || rank > best_rank) {
            best = pool;
            best_rank = rank;
        }
    }
    return best;
}

static int make(struct sunseal_coupon_store *store) {
    struct sunseal_coupon_pool *pool = store->making;
    const struct sunseal_coupon_kind *kind = pool->kind;
    int status = kind->make(kind->context, store->made.sequence, store->work);
    if (status == SUNSEAL_PENDING) {
        return status;
    }
    if (status == SUNSEAL_OK) {
        status = pool->medium->write(pool, &store->made, store->work);
    } else {
        pool->medium->drop(pool, &store->made);
    }
    sunseal_wipe(store->work, kind->bytes);
    store->making = NULL;
    return status;
}

int sunseal_coupon_produce(struct sunseal_coupon_store *store) {
    int status = SUNSEAL_COUPON_FULL;
    uint32_t tried = 0;
    if (store->work == NULL || store->count > 32) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    while (store->making == NULL) {
        struct sunseal_coupon_pool *pool = most_wanted(store, tried);
        if (pool == NULL) {
            return status;
        }
        tried |= UINT32_C(1) << (pool - store->pools);
        int burnt = pool->medium->burn(pool, &store->made);
        if (burnt == SUNSEAL_OK) {
            store->making = pool;
        } else if (burnt != SUNSEAL_COUPON_FULL && status == SUNSEAL_COUPON_FULL) {
            status = burnt;
        }
    }
    return make(store);
}

int sunseal_coupon_reserve(struct sunseal_coupon_store *store, uint8_t index, uint32_t *sequence) {
    struct sunseal_coupon_pool *pool = sunseal_coupon_pool_of(store, index);
    struct sunseal_coupon_slot slot;
    *sequence = 0;
    if (pool == NULL) {
        return SUNSEAL_ERR_STORE;
    }
    int status = pool->medium->burn(pool, &slot);
    if (status == SUNSEAL_OK) {
        pool->medium->drop(pool, &slot);
        *sequence = slot.sequence;
    }
    return status;
}

/* ---- use ------------------------------------------------------------------------------------ */

int sunseal_coupon_take(struct sunseal_coupon_store *store, uint8_t index, void *out,
                        uint32_t *sequence) {
    struct sunseal_coupon_pool *pool = sunseal_coupon_pool_of(store, index);
    *sequence = 0;
    if (pool == NULL) {
        return SUNSEAL_ERR_STORE;
    }
    int status = pool->medium->use(pool, out, NULL, sequence);
    if (status != SUNSEAL_OK) {
        sunseal_wipe(out, pool->kind->bytes);
    }
    return status;
}

/* A message that is shorter than its coupon, or not aligned: through a buffer, and the rest of the
 * payload behind it. */
static uint16_t pass_bytes(const struct sunseal_coupon_pool *pool,
                           const struct sunseal_coupon_slot *slot, uint8_t *out, const uint8_t *in,
                           size_t len) {
    uint16_t stream[CHUNK_WORDS], crc = 0;
    const uint8_t *bytes = (const uint8_t *)stream;
    for (uint16_t from = 0, words = pool->kind->bytes / 2; from < words;) {
        uint16_t count = words - from < CHUNK_WORDS ? (uint16_t)(words - from) : CHUNK_WORDS;
        crc = pool->medium->pass(slot, stream, from, count);
        from = (uint16_t)(from + count);
        for (uint16_t i = 0; i < 2 * count && len > 0; i++, len--) {
            *out++ = *in++ ^ bytes[i];
        }
    }
    sunseal_wipe(stream, sizeof stream);
    return crc;
}

int sunseal_coupon_xor_bytes(struct sunseal_coupon_pool *pool, uint8_t *out, const uint8_t *in,
                             size_t len, uint32_t *sequence) {
    struct sunseal_coupon_slot slot;
    int status;
    while ((status = pool->medium->claim(pool, &slot)) == SUNSEAL_OK) {
        uint16_t crc = pass_bytes(pool, &slot, out, in, len);
        pool->medium->wipe(pool, &slot);
        if (crc == slot.check) {
            *sequence = slot.sequence;
            return SUNSEAL_OK;
        }
        pool->refused++;
    }
    return status;
}

int sunseal_coupon_xor(struct sunseal_coupon_store *store, uint8_t index, uint8_t *out,
                       const uint8_t *in, size_t len, uint32_t *sequence) {
    return sunseal_coupon_xor_here(store, index, out, in, len, sequence);
}

uint16_t sunseal_coupon_ready(const struct sunseal_coupon_store *store, uint8_t index) {
    const struct sunseal_coupon_pool *pool = sunseal_coupon_pool_of(store, index);
    return pool == NULL ? 0 : pool->ready;
}

uint32_t sunseal_coupon_erases(const struct sunseal_coupon_store *store, uint8_t index) {
    const struct sunseal_coupon_pool *pool = sunseal_coupon_pool_of(store, index);
    return pool == NULL ? 0 : pool->medium->erases(pool);
}
