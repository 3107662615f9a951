/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "coupon.h"

/* Words of a slot. */
enum { COMMIT, CLAIM, KIND, EPOCH, VERSION, LOW, HIGH, CHECK, PAYLOAD };

/* Words of a block's header, and from COMPLEMENT on that of each. It is there twice. */
enum { BASE_LOW, BASE_HIGH, ERASES, FIRMWARE, COMPLEMENT, COPY = 2 * COMPLEMENT };

#define BLOCK_HEADER SUNSEAL_COUPON_FLASH_BLOCK_HEADER_WORDS
#define ERASED 0xFFFF
#define COMMITTED 0x5555
#define NO_KIND 0 /* KIND of a slot that is wiped, or whose number got no coupon */

enum state { IS_ERASED, IS_READY, IS_TORN, IS_DEAD };

static const struct sunseal_coupon_flash_place *place_of(const struct sunseal_coupon_pool *pool) {
    return pool->place;
}

static uint16_t word(const struct sunseal_coupon_pool *pool, const uint16_t *at) {
    return place_of(pool)->driver->word(at);
}

static void program(const struct sunseal_coupon_pool *pool, uint16_t *at, const uint16_t *from,
                    uint16_t words) {
    /* What matters is read back. */
    (void)place_of(pool)->driver->program(at, from, words);
}

static uint16_t payload_words(const struct sunseal_coupon_pool *pool) {
    return pool->kind->bytes / 2;
}

static uint16_t slot_words(const struct sunseal_coupon_pool *pool) {
    return PAYLOAD + payload_words(pool);
}

static uint16_t block_words(const struct sunseal_coupon_pool *pool) {
    return place_of(pool)->block_bytes / 2;
}

static uint16_t slots_per_block(const struct sunseal_coupon_pool *pool) {
    return (uint16_t)((block_words(pool) - BLOCK_HEADER) / slot_words(pool));
}

/* As many as slots of any size can take: another firmware may have had smaller ones. */
static uint16_t numbers_per_block(const struct sunseal_coupon_pool *pool) {
    return block_words(pool) / PAYLOAD;
}

static uint16_t *block_behind(const struct sunseal_coupon_pool *pool, const uint16_t *block) {
    uint16_t *words = place_of(pool)->words;
    uint32_t next = (uint32_t)(block - words) + block_words(pool);
    return words + (next == (uint32_t)place_of(pool)->blocks * block_words(pool) ? 0 : next);
}

/* ---- blocks --------------------------------------------------------------------------------- */

struct header {
    uint32_t base;
    uint16_t erases, version;
};

static bool copy_read(const struct sunseal_coupon_pool *pool, const uint16_t *block,
                      struct header *header) {
    uint16_t words[COMPLEMENT];
    bool good = true;
    for (uint8_t i = 0; i < COMPLEMENT; i++) {
        words[i] = word(pool, block + i);
        good &= (words[i] ^ word(pool, block + COMPLEMENT + i)) == 0xFFFF;
    }
    header->base = sunseal_coupon_join(words[BASE_LOW], words[BASE_HIGH]);
    header->erases = words[ERASES];
    header->version = words[FIRMWARE];
    return good;
}

static bool header_read(const struct sunseal_coupon_pool *pool, const uint16_t *block,
                        struct header *header) {
    return copy_read(pool, block, header) || copy_read(pool, block + COPY, header);
}

/* The complement first: what is cut before the base is no header. */
static void header_write(const struct sunseal_coupon_pool *pool, uint16_t *block,
                         const struct header *header) {
    const uint16_t words[] = {sunseal_coupon_low(header->base), sunseal_coupon_high(header->base),
                              header->erases, header->version};
    uint16_t complement[COMPLEMENT];
    for (uint8_t i = 0; i < COMPLEMENT; i++) {
        complement[i] = (uint16_t)~words[i];
    }
    for (uint8_t copy = 0; copy <= COPY; copy += COPY) {
        program(pool, block + copy + COMPLEMENT, complement, COMPLEMENT);
        program(pool, block + copy, words, COMPLEMENT);
    }
}

static bool block_erase(const struct sunseal_coupon_pool *pool, uint16_t *block) {
    (void)place_of(pool)->driver->erase(block);
    for (uint16_t i = 0; i < block_words(pool); i++) {
        if (word(pool, block + i) != ERASED) {
            return false;
        }
    }
    return true;
}

static bool ours(const struct sunseal_coupon_pool *pool, const uint16_t *slot) {
    return word(pool, slot + KIND) == pool->kind->id && word(pool, slot + EPOCH) == pool->epoch &&
           word(pool, slot + VERSION) == pool->version;
}

static enum state state_of(const struct sunseal_coupon_pool *pool, const uint16_t *slot) {
    uint16_t claim = word(pool, slot + CLAIM), kind = word(pool, slot + KIND);
    if (kind == ERASED && claim == ERASED) {
        return IS_ERASED;
    }
    if (kind == NO_KIND) {
        return IS_DEAD;
    }
    return claim == ERASED && word(pool, slot + COMMIT) == COMMITTED && ours(pool, slot) ? IS_READY
                                                                                         : IS_TORN;
}

static bool block_in_use(const struct sunseal_coupon_pool *pool, const uint16_t *block) {
    const uint16_t *slot = block + BLOCK_HEADER;
    for (uint16_t i = slots_per_block(pool); i > 0; i--, slot += slot_words(pool)) {
        if (state_of(pool, slot) == IS_READY) {
            return true;
        }
    }
    return false;
}

/* The block takes numbers from here on. */
static bool block_begin(struct sunseal_coupon_pool *pool, uint16_t *block, uint32_t base,
                        uint16_t erases) {
    struct header header = {base, erases, pool->version}, back;
    if (!block_erase(pool, block)) {
        return false;
    }
    header_write(pool, block, &header);
    if (!header_read(pool, block, &back) || back.base != base) {
        return false;
    }
    pool->head = block;
    pool->write = block + BLOCK_HEADER;
    pool->left = slots_per_block(pool);
    pool->next = base;
    pool->fixed = true;
    return true;
}

/* The first block behind the full head that can be erased. A header that should be there and is not
 * may have been the newest: its numbers are passed over. So are those of a block that did not
 * begin, as its header may still come to be read. */
static int block_next(struct sunseal_coupon_pool *pool) {
    const uint16_t numbers = numbers_per_block(pool);
    struct header now, old;
    if (!header_read(pool, pool->head, &now)) {
        return SUNSEAL_ERR_STORE;
    }
    uint32_t base = now.base;
    uint16_t *block = pool->head;
    int status = SUNSEAL_COUPON_FULL;
    for (uint16_t i = 1; i < place_of(pool)->blocks; i++) {
        block = block_behind(pool, block);
        bool known = header_read(pool, block, &old);
        base += known ? numbers : 2 * (uint32_t)numbers;
        if (base >= SUNSEAL_COUPON_NUMBERS) {
            return SUNSEAL_ERR_EXHAUSTED;
        }
        if (known && block_in_use(pool, block)) {
            return SUNSEAL_COUPON_FULL;
        }
        uint16_t erased = known ? old.erases : now.erases;
        status = SUNSEAL_ERR_WORN;
        if (erased < place_of(pool)->endurance && erased < UINT16_MAX) {
            if (pool->oldest_base == block) {
                pool->oldest_base = block_behind(pool, block);
                pool->oldest = pool->oldest_base + BLOCK_HEADER;
            }
            if (block_begin(pool, block, base, (uint16_t)(erased + 1))) {
                return SUNSEAL_OK;
            }
        }
    }
    return status;
}

/* ---- slots ---------------------------------------------------------------------------------- */

/* The claim again, as it may be doubtful; the kind last, as without it there is nothing to wipe. */
static void slot_wipe(const struct sunseal_coupon_pool *pool, uint16_t *slot) {
    program(pool, slot + CLAIM, NULL, 1);
    program(pool, slot + CHECK, NULL, (uint16_t)(slot_words(pool) - CHECK));
    program(pool, slot + KIND, NULL, 1);
}

static int burn(struct sunseal_coupon_pool *pool, struct sunseal_coupon_slot *burnt) {
    struct header header;
    for (uint16_t tries = slots_per_block(pool); tries > 0; tries--) {
        if (pool->left == 0) {
            int status = block_next(pool);
            if (status != SUNSEAL_OK) {
                return status;
            }
        }
        if (!pool->fixed) {
            if (!header_read(pool, pool->head, &header)) {
                return SUNSEAL_ERR_STORE;
            }
            header_write(pool, pool->head, &header);
            pool->fixed = true;
        }
        burnt->slot = pool->write;
        burnt->sequence = pool->next;
        pool->next++;
        pool->left--;
        pool->write += slot_words(pool);
        program(pool, burnt->slot + KIND, &pool->kind->id, 1);
        if (word(pool, burnt->slot + KIND) == pool->kind->id) {
            return SUNSEAL_OK;
        }
    }
    return SUNSEAL_ERR_WORN;
}

static void drop(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *burnt) {
    program(pool, burnt->slot + KIND, NULL, 1);
}

static bool reads_back(const struct sunseal_coupon_pool *pool, const uint16_t *at,
                       const uint16_t *from, uint16_t words) {
    uint16_t differ = 0;
    while (words-- > 0) {
        differ |= (uint16_t)(word(pool, at++) ^ *from++);
    }
    return differ == 0;
}

static int write(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *burnt,
                 const uint16_t *payload) {
    static const uint16_t committed = COMMITTED;
    uint16_t *slot = burnt->slot;
    uint16_t header[] = {pool->epoch, pool->version, sunseal_coupon_low(burnt->sequence),
                         sunseal_coupon_high(burnt->sequence), 0};
    uint16_t crc = sunseal_nvm_check(header + LOW - EPOCH, 2, pool->seed);
    header[CHECK - EPOCH] = sunseal_nvm_check(payload, payload_words(pool), crc);
    program(pool, slot + EPOCH, header, PAYLOAD - EPOCH);
    program(pool, slot + PAYLOAD, payload, payload_words(pool));
    if (reads_back(pool, slot + EPOCH, header, PAYLOAD - EPOCH) &&
        reads_back(pool, slot + PAYLOAD, payload, payload_words(pool))) {
        program(pool, slot + COMMIT, &committed, 1);
        if (state_of(pool, slot) == IS_READY) {
            if (pool->ready++ == 0 && pool->head < slot && slot < pool->head + block_words(pool)) {
                /* The only one: claims look here, not through all that was used before. */
                pool->oldest_base = pool->head;
                pool->oldest = slot;
            }
            return SUNSEAL_OK;
        }
    }
    slot_wipe(pool, slot);
    return SUNSEAL_ERR_STORE;
}

static int medium_open(struct sunseal_coupon_pool *pool) {
    const struct sunseal_coupon_flash_place *place = place_of(pool);
    const uint16_t slots = slots_per_block(pool);
    struct header header;
    uint16_t *block = place->words, *newest = NULL;
    bool same_firmware = false;
    pool->head = NULL;
    pool->ready = 0;
    pool->next = 0;
    if (place->blocks < 2 || slots == 0) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    for (uint16_t i = 0; i < place->blocks; i++, block += block_words(pool)) {
        if (header_read(pool, block, &header) && (pool->head == NULL || header.base > pool->next)) {
            pool->head = block;
            pool->next = header.base;
            same_firmware = header.version == pool->version;
        }
    }
    if (pool->head == NULL) {
        return SUNSEAL_ERR_STORE;
    }
    pool->left = slots;
    block = pool->oldest_base = block_behind(pool, pool->head);
    pool->oldest = block + BLOCK_HEADER;
    for (uint16_t i = place->blocks; i > 0; i--, block = block_behind(pool, block)) {
        if (!header_read(pool, block, &header)) {
            continue;
        }
        uint16_t *slot = block + BLOCK_HEADER;
        for (uint16_t left = slots; left > 0; left--, slot += slot_words(pool)) {
            enum state state = state_of(pool, slot);
            if (state == IS_READY) {
                if (pool->ready++ == 0) {
                    pool->oldest_base = block;
                    pool->oldest = slot;
                }
                newest = slot;
            } else if (state == IS_TORN) {
                pool->refused += word(pool, slot + CLAIM) == ERASED;
                slot_wipe(pool, slot);
            }
            if (block == pool->head && state != IS_ERASED) {
                pool->left = (uint16_t)(left - 1);
            }
        }
    }
    if (newest != NULL) {
        /* Its commit may be doubtful. */
        static const uint16_t committed = COMMITTED;
        program(pool, newest + COMMIT, &committed, 1);
    }
    if (!same_firmware) {
        /* Its slots may have been of another size, so that their places say no numbers. */
        pool->left = 0;
    }
    pool->fixed = pool->left < slots;
    pool->next += (uint32_t)(slots - pool->left);
    pool->write = pool->head + BLOCK_HEADER + (slots - pool->left) * slot_words(pool);
    return SUNSEAL_OK;
}

static int format(struct sunseal_coupon_pool *pool, uint32_t first) {
    const struct sunseal_coupon_flash_place *place = place_of(pool);
    struct header header;
    uint16_t *block = place->words;
    if (place->blocks < 2 || slots_per_block(pool) == 0) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    for (uint16_t i = 0; i < place->blocks; i++, block += block_words(pool)) {
        if (header_read(pool, block, &header)) {
            return SUNSEAL_ERR_INDEX_USED;
        }
    }
    /* Each gets a header, so that one without can be told from one that was never begun. */
    int status = SUNSEAL_ERR_WORN;
    block = place->words;
    for (uint16_t i = 0; i < place->blocks; i++, block += block_words(pool)) {
        if (block_begin(pool, block, first, 1)) {
            status = SUNSEAL_OK;
        }
        first += numbers_per_block(pool);
    }
    return status;
}

static int claim(struct sunseal_coupon_pool *pool, struct sunseal_coupon_slot *claimed) {
    const uint16_t words = slot_words(pool), all = block_words(pool);
    struct header header;
    for (uint16_t i = pool->ready > 0 ? place_of(pool)->blocks + 1 : 0; i > 0; i--) {
        uint16_t *slot = pool->oldest;
        const uint16_t *end = pool->oldest_base + all - words;
        bool known = header_read(pool, pool->oldest_base, &header);
        for (; known && slot <= end; slot += words) {
            if (state_of(pool, slot) != IS_READY) {
                continue;
            }
            program(pool, slot + CLAIM, NULL, 1);
            pool->oldest = slot + words;
            pool->ready--;
            if (word(pool, slot + CLAIM) == 0) {
                claimed->slot = slot;
                claimed->sequence =
                    sunseal_coupon_join(word(pool, slot + LOW), word(pool, slot + HIGH));
                sunseal_coupon_begin(sunseal_coupon_low(claimed->sequence),
                                     sunseal_coupon_high(claimed->sequence), pool->seed);
                claimed->check = word(pool, slot + CHECK);
                return SUNSEAL_OK;
            }
            pool->refused++;
            slot_wipe(pool, slot);
        }
        pool->oldest_base = block_behind(pool, pool->oldest_base);
        pool->oldest = pool->oldest_base + BLOCK_HEADER;
    }
    pool->ready = 0;
    return SUNSEAL_ERR_COUPON;
}

static uint16_t pass(const struct sunseal_coupon_slot *claimed, uint16_t *out, uint16_t from,
                     uint16_t count) {
    return sunseal_coupon_copy(out, claimed->slot + PAYLOAD + from, count);
}

static void wipe(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *claimed) {
    slot_wipe(pool, claimed->slot);
}

static int use(struct sunseal_coupon_pool *pool, uint16_t *out, const uint16_t *in,
               uint32_t *sequence) {
    struct sunseal_coupon_slot slot;
    while (claim(pool, &slot) == SUNSEAL_OK) {
        const uint16_t *payload = slot.slot + PAYLOAD;
        uint16_t words = payload_words(pool);
        uint16_t crc = in != NULL ? sunseal_coupon_copy_xor(out, in, payload, words)
                                  : sunseal_coupon_copy(out, payload, words);
        slot_wipe(pool, slot.slot);
        if (crc == slot.check) {
            *sequence = slot.sequence;
            return SUNSEAL_OK;
        }
        pool->refused++;
    }
    return SUNSEAL_ERR_COUPON;
}

static uint32_t erases(const struct sunseal_coupon_pool *pool) {
    struct header header;
    return header_read(pool, pool->head, &header) ? header.erases : 0;
}

const struct sunseal_coupon_medium sunseal_coupon_flash = {format, medium_open, burn, drop, write,
                                                           claim,  pass,        wipe, use,  erases};
