/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "../buffers.h"
#include "ots.h"

/* A record: u32 next index, identifier, the first bytes of SHA-256 of both. */
#define RECORD_BYTES (SUNSEAL_INDEX_BYTES / 2)
#define CHECKED_BYTES (4 + SUNSEAL_IDENTIFIER_BYTES)

static void record_make(uint8_t record[RECORD_BYTES], uint32_t next, const uint8_t *identifier) {
    uint8_t digest[SUNSEAL_SHA256_BYTES];
    record[0] = (uint8_t)(next >> 24);
    record[1] = (uint8_t)(next >> 16);
    record[2] = (uint8_t)(next >> 8);
    record[3] = (uint8_t)next;
    memcpy(record + 4, identifier, SUNSEAL_IDENTIFIER_BYTES);
    sunseal_sha256(digest, record, CHECKED_BYTES);
    memcpy(record + CHECKED_BYTES, digest, RECORD_BYTES - CHECKED_BYTES);
}

enum { NONE, FOUND, UNREADABLE };

/* What a slot holds: a whole record of this identifier, or none. */
static int record_read(uint32_t *next, const struct sunseal_store *store, uint8_t slot,
                       const uint8_t *identifier) {
    uint8_t record[RECORD_BYTES], right[RECORD_BYTES];
    if (store->read(store->context, (uint32_t)(slot * RECORD_BYTES), record, RECORD_BYTES) != 0) {
        return UNREADABLE;
    }
    *next = (uint32_t)record[0] << 24 | (uint32_t)record[1] << 16 | (uint32_t)record[2] << 8 |
            record[3];
    record_make(right, *next, identifier);
    return memcmp(record, right, RECORD_BYTES) == 0 ? FOUND : NONE;
}

/* The higher one of both slots, and which it is. */
static int record_find(uint32_t *next, uint8_t *best, const struct sunseal_store *store,
                       const uint8_t *identifier) {
    int found = NONE;
    *next = 0;
    *best = 1;
    for (uint8_t slot = 0; slot < 2; slot++) {
        uint32_t here;
        int status = record_read(&here, store, slot, identifier);
        if (status == UNREADABLE) {
            return UNREADABLE;
        }
        if (status == FOUND) {
            if (found == NONE || here > *next) {
                *next = here;
                *best = slot;
            }
            found = FOUND;
        }
    }
    return found;
}

/* Both slots, the best last: whatever cut comes, and another behind it, one good record stays. */
static int record_write(const struct sunseal_store *store, const uint8_t *identifier, uint8_t best,
                        uint32_t next) {
    uint8_t record[RECORD_BYTES];
    record_make(record, next, identifier);
    for (uint8_t turn = 1; turn < 3; turn++) {
        uint8_t slot = (best + turn) & 1;
        uint32_t here;
        if (store->write(store->context, (uint32_t)(slot * RECORD_BYTES), record, RECORD_BYTES) !=
                0 ||
            record_read(&here, store, slot, identifier) != FOUND || here != next) {
            return SUNSEAL_ERR_STORE;
        }
    }
    return SUNSEAL_OK;
}

int sunseal_store_check(const struct sunseal_store *store) {
    return store == NULL || store->read == NULL || store->write == NULL ? SUNSEAL_ERR_NULL
                                                                        : SUNSEAL_OK;
}

int sunseal_index_create(const struct sunseal_store *store, const uint8_t identifier[8]) {
    uint32_t next;
    uint8_t best;
    SUNSEAL_REQUIRE_STORE(store);
    SUNSEAL_REQUIRE_BYTES(identifier, SUNSEAL_IDENTIFIER_BYTES);
    int found = record_find(&next, &best, store, identifier);
    if (found == UNREADABLE) {
        return SUNSEAL_ERR_STORE;
    }
    return next > 0 ? SUNSEAL_ERR_INDEX_USED : record_write(store, identifier, best, 0);
}

int sunseal_index_next(uint32_t *index, const struct sunseal_store *store,
                       const uint8_t identifier[8]) {
    uint8_t best;
    SUNSEAL_REQUIRE_STORE(store);
    SUNSEAL_REQUIRE_APART(index, sizeof *index, identifier, SUNSEAL_IDENTIFIER_BYTES);
    if (record_find(index, &best, store, identifier) != FOUND) {
        *index = UINT32_MAX;
        return SUNSEAL_ERR_STORE;
    }
    return SUNSEAL_OK;
}

int sunseal_index_burn(const struct sunseal_store *store, const uint8_t identifier[8],
                       uint32_t index) {
    uint32_t next;
    uint8_t best;
    SUNSEAL_REQUIRE_STORE(store);
    SUNSEAL_REQUIRE_BYTES(identifier, SUNSEAL_IDENTIFIER_BYTES);
    if (record_find(&next, &best, store, identifier) != FOUND) {
        return SUNSEAL_ERR_STORE;
    }
    if (index < next) {
        return SUNSEAL_ERR_INDEX_USED;
    }
    if (index == UINT32_MAX) {
        return SUNSEAL_ERR_EXHAUSTED;
    }
    return record_write(store, identifier, best, index + 1);
}
