/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_COUPON_H
#define SUNSEAL_COUPON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sunseal/block.h"
#include "sunseal/error.h"

/*
 * The store of coupons: work done ahead, kept without supply, used once
 * =====================================================================
 *
 * A coupon (Suslowicz 2017, section 3.2) is the part of an operation that needs no message: a
 * stretch of keystream, (1/k, r) of a signature, a random number. A store has one pool for each
 * kind of coupon; a pool is a ring of slots of one size in FRAM or flash. Kinds: coupon_kinds.h.
 *
 *   open       after each start: finds the coupons, ends what a power cut left half done
 *   produce    one step of making a coupon, while there is energy to spare
 *   take, xor  the oldest coupon of a kind: claimed, checked, wiped, and only then yours
 *   reserve    a number without a coupon, for the path that computes everything at once
 *
 * What holds, whenever and however often the power goes (docs/reference/coupon.md says how it is
 * tested):
 *
 *   - A number is given once in the life of a pool. Whatever is made of a coupon's number (counter
 *     blocks, an index) therefore never repeats: not across resets, keys, or versions of the
 *     firmware. Numbers are lost by power cuts, never given again.
 *   - A coupon leaves the store once. A cut between claim and use loses that coupon and no other.
 *   - A slot that is torn, damaged, of another key epoch or of another firmware is never used: it
 *     is refused and wiped.
 *   - Behind take and xor no copy of the coupon is in the store; where a cut came between, behind
 *     the next open.
 *
 * Slots
 * -----
 * Each holds, beside its payload, kind, key epoch, firmware version, sequence number and a
 * CRC-16-CCITT over these and the payload. The CRC is against wear, stray writes and radiation, not
 * against an adversary who writes to the memory: seal the kind for that (coupon_kinds.h).
 *
 * FRAM (sunseal_coupon_fram). A word is written whole or not at all (nvm.h). The first word of a
 * slot says its state; the code words differ in eight bits or more, anything else is damage:
 *
 *   free -> writing -> ready -> claimed -> free
 *
 *   write   writing; kind, epoch, version, number, payload, CRC; ready. Cut before the last word,
 *           the slot is not ready and the next open wipes it.
 *   claim   one word. Cut before it, the coupon is untouched; behind it, gone.
 *   wipe    payload and CRC to zero, then free. Cut before the last word, open wipes again.
 *   number  two records of the lowest free number, each with its complement; the older one is
 *           written. A torn record leaves the other, whose number is one less: where only one is
 *           whole, open goes on one number further.
 *
 * Flash (sunseal_coupon_flash). A bit only goes down until its block is erased, and a word whose
 * writing was cut may read now so, now so. A slot has three words that mark its states:
 *
 *   erased -> begun (kind) -> committed -> claimed -> wiped (no kind) -> (block) erased
 *
 *   write   kind, when the number is burnt; epoch, version, number, CRC, payload, which are read
 *           back; `committed`. Begun and not committed is torn. A commit that was cut is resolved
 *           by the next open: it reads committed and is written again, or the slot is wiped.
 *   claim   `claimed` is cleared and read back before a byte leaves. Where that was cut, the slot
 *           reads ready and is claimed anew, or it reads claimed, is claimed again, and wiped.
 *   wipe    payload and CRC are cleared, which needs no erase; then the kind.
 *   number  a block begins with its lowest number, how often it was erased, the firmware's version,
 *           and the complement of these, all twice; a slot's number is its place in the block. A
 *           block is begun by an erase, even where it reads erased, then the complement, then the
 *           rest. A header of which no number is used yet may be doubtful: it is written again
 *           before the first is. Where the block to be begun should have had a header and has none,
 *           its numbers are passed over: it may have been the newest one.
 *   wear    blocks are used in turn, so all are erased equally often; nothing is ever moved, so
 *           there is no second copy of a coupon. A block is erased when no coupon in it is left.
 *   end     blocks that do not erase or do not take what is written are passed over, slots too;
 *           when none is left, or sunseal_coupon_erases reaches the endurance that the place
 *           states, the pool makes no more coupons: SUNSEAL_ERR_WORN. What it has can be used up.
 *
 * Who may write: one caller at a time, no interrupt routine. Nothing is allocated; RAM is this
 * header's structures and one buffer. Work per call is bounded: open reads every slot and wipes at
 * most every slot; produce is one step of a kind, or one slot written and one block erased; take
 * and xor pass over refused slots, each of them once.
 */

/* More statuses than those of error.h. */
enum {
    SUNSEAL_COUPON_FULL = 2,       /* produce: every pool has what it should */
    SUNSEAL_COUPON_MONOLITHIC = 3, /* done, but without a coupon: there was none */
};

/* SUNSEAL_ERR_COUPON: the pool has no coupon. */

struct sunseal_coupon_pool;

/*
 * A kind of coupon; constant.
 *
 * make fills payload (bytes, at an even address; at one divisible by 4 on 32-bit targets) for a
 * number that no coupon of the pool has had. It returns SUNSEAL_OK, SUNSEAL_PENDING (call again,
 * the payload is as it was left) or an error: then no coupon is made, produce returns the error and
 * the number is gone.
 */
struct sunseal_coupon_kind {
    uint16_t id;      /* 1 to 0xFFFE; of no other kind, for ever */
    uint16_t bytes;   /* of the payload, even; on 32-bit targets divisible by 4 */
    uint8_t priority; /* higher ones are made first */
    uint16_t low;     /* with fewer coupons than this, it comes before all that have enough */
    uint16_t high;    /* with this many, no more are made */
    int (*make)(void *context, uint32_t sequence, void *payload);
    void *context;
};

/* A slot that is the caller's alone: of a number just burnt, or of a coupon just claimed. */
struct sunseal_coupon_slot {
    uint16_t *slot;
    uint32_t sequence;
    uint16_t check; /* claimed: over header and payload, as it was written */
};

/*
 * What a pool asks of its medium; sunseal_coupon_fram and sunseal_coupon_flash are the two.
 * Functions return SUNSEAL_OK or an error.
 *
 *   format  a new pool whose first number is `first`
 *   open    sets ready, and ends what was left half done
 *   burn    the next number, for good; SUNSEAL_COUPON_FULL: there is no room
 *   drop    the burnt number gets no coupon
 *   write   a coupon of the burnt number
 *   claim   the oldest coupon, for good; SUNSEAL_ERR_COUPON: there is none
 *   pass    count words of the claimed payload, from `from` on, go to out; piece by piece, and
 *           nothing else in between. Returns the CRC up to here. It may wipe them.
 *   wipe    the claimed slot, whose payload has been passed
 *   use     claim, pass of a whole payload and wipe, until one is what was written; out is combined
 *           with in by XOR if in is not NULL
 *   erases  how often the most used block was erased; 0 where nothing wears
 */
struct sunseal_coupon_medium {
    int (*format)(struct sunseal_coupon_pool *pool, uint32_t first);
    int (*open)(struct sunseal_coupon_pool *pool);
    int (*burn)(struct sunseal_coupon_pool *pool, struct sunseal_coupon_slot *slot);
    void (*drop)(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *slot);
    int (*write)(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *slot,
                 const uint16_t *payload);
    int (*claim)(struct sunseal_coupon_pool *pool, struct sunseal_coupon_slot *slot);
    uint16_t (*pass)(const struct sunseal_coupon_slot *slot, uint16_t *out, uint16_t from,
                     uint16_t count);
    void (*wipe)(struct sunseal_coupon_pool *pool, const struct sunseal_coupon_slot *slot);
    int (*use)(struct sunseal_coupon_pool *pool, uint16_t *out, const uint16_t *in,
               uint32_t *sequence);
    uint32_t (*erases)(const struct sunseal_coupon_pool *pool);
};

/* place is a struct sunseal_coupon_fram_place. Targets whose program memory is FRAM. */
extern const struct sunseal_coupon_medium sunseal_coupon_fram;
/* place is a struct sunseal_coupon_flash_place. */
extern const struct sunseal_coupon_medium sunseal_coupon_flash;

/*
 * FRAM: SUNSEAL_COUPON_FRAM_WORDS words at an even address that is the same in every firmware, in
 * memory that loading one leaves alone. Zero, or as a former pool left it.
 */
#define SUNSEAL_COUPON_FRAM_HEADER_WORDS 7
#define SUNSEAL_COUPON_FRAM_RECORD_WORDS 8
#define SUNSEAL_COUPON_FRAM_WORDS(bytes, slots)                                                    \
    (SUNSEAL_COUPON_FRAM_RECORD_WORDS + (slots) * (SUNSEAL_COUPON_FRAM_HEADER_WORDS + (bytes) / 2))

struct sunseal_coupon_fram_place {
    uint16_t *words;
    uint16_t slots;
};

/*
 * Flash: so many whole erase blocks, one behind the other, at least two, that hold one slot each or
 * more. word reads one word of flash, never a copy of it; program writes words (zeros where from is
 * NULL), erase sets the block that begins there to ones. Both return 0 when done, and may return
 * any other number where the controller knows that it failed; the store reads back what matters.
 * SUNSEAL_COUPON_FLASH_SLOTS: in one block.
 */
#define SUNSEAL_COUPON_FLASH_HEADER_WORDS 8
#define SUNSEAL_COUPON_FLASH_BLOCK_HEADER_WORDS 16
#define SUNSEAL_COUPON_FLASH_SLOTS(block_bytes, bytes)                                             \
    (((block_bytes) / 2 - SUNSEAL_COUPON_FLASH_BLOCK_HEADER_WORDS) /                               \
     (SUNSEAL_COUPON_FLASH_HEADER_WORDS + (bytes) / 2))

struct sunseal_coupon_flash_driver {
    uint16_t (*word)(const uint16_t *at);
    int (*program)(uint16_t *at, const uint16_t *from, uint16_t words);
    int (*erase)(uint16_t *block);
};

struct sunseal_coupon_flash_place {
    const struct sunseal_coupon_flash_driver *driver;
    uint16_t *words;
    uint16_t blocks, block_bytes;
    uint32_t endurance; /* erases of a block that the data sheet grants */
};

/* The flash controllers of the MSP430F5438A (segments of information or main flash) and the
 * MSP432P401R (sectors of bank 1, with the program in bank 0); each on its own target. */
extern const struct sunseal_coupon_flash_driver sunseal_coupon_flash_msp430f5438a;
extern const struct sunseal_coupon_flash_driver sunseal_coupon_flash_msp432p401r;

/* A pool; kind, medium and place are the caller's, the rest is the store's. */
struct sunseal_coupon_pool {
    const struct sunseal_coupon_kind *kind;
    const struct sunseal_coupon_medium *medium;
    const void *place;

    uint16_t ready;        /* coupons that can be claimed */
    uint16_t refused;      /* slots torn, damaged or foreign since the start */
    uint16_t epoch;        /* of the store */
    uint16_t version;      /* of the store */
    uint16_t seed;         /* of the CRC: kind, epoch, version */
    uint16_t opened;       /* a constant, once it is */
    uint32_t next;         /* the number that burn gives next */
    uint16_t *oldest;      /* slot where claims look first */
    uint16_t *oldest_base; /* flash: block of oldest */
    uint16_t *write;       /* slot that burn or write looks at first */
    uint16_t *head;        /* flash: block of write; FRAM: end of the slots */
    uint16_t left : 15;    /* flash: free slots of head */
    uint16_t fixed : 1;    /* flash: the header of head is beyond doubt */
};

/*
 * A store. epoch changes with every key that a coupon is made of, version with every firmware that
 * makes coupons another way: slots of any other are foreign. work is as large as the largest
 * payload, aligned as make wants it; a store that is used for xor and take alone needs none.
 */
struct sunseal_coupon_store {
    struct sunseal_coupon_pool *pools;
    uint8_t count;
    uint16_t epoch, version;
    uint16_t *work;
    uint16_t work_bytes;

    struct sunseal_coupon_pool *making; /* whose payload is under way in work */
    struct sunseal_coupon_slot made;
};

/*
 * Begins a pool that has no numbers yet, at `first` or a little above. Returns SUNSEAL_OK;
 * SUNSEAL_ERR_INDEX_USED if it has numbers (nothing is written); SUNSEAL_ERR_PARAMETERS for sizes
 * that do not fit; SUNSEAL_ERR_WORN. A pool whose numbers were destroyed, other than by power cuts,
 * looks new: give `first` above all that it can have reached, or change the key.
 */
int sunseal_coupon_format(struct sunseal_coupon_store *store, uint8_t pool, uint32_t first);

/*
 * After each start, before all else. Returns SUNSEAL_OK; SUNSEAL_ERR_STORE if a pool was never
 * formatted, or has lost its numbers; SUNSEAL_ERR_PARAMETERS for sizes that do not fit. The pools
 * that are whole can be used all the same; the others return SUNSEAL_ERR_STORE.
 */
int sunseal_coupon_open(struct sunseal_coupon_store *store);

/*
 * One step of making one coupon: of the kinds below `low` the one of highest priority, else of
 * those below `high`. Returns SUNSEAL_OK (a coupon is committed), SUNSEAL_PENDING (call again),
 * SUNSEAL_COUPON_FULL (nothing to do), SUNSEAL_ERR_EXHAUSTED (a pool's numbers end),
 * SUNSEAL_ERR_WORN, SUNSEAL_ERR_STORE (what was written does not read back; the next call goes on
 * behind it), or what the kind returned. A pool with an error does not keep others from being
 * filled: it is passed over while there is anything else to make.
 */
int sunseal_coupon_produce(struct sunseal_coupon_store *store);

/* The oldest coupon of a pool: payload and number. SUNSEAL_OK, SUNSEAL_ERR_COUPON (there is none),
 * SUNSEAL_ERR_STORE; zeros then. out is aligned as make's payload. */
int sunseal_coupon_take(struct sunseal_coupon_store *store, uint8_t pool, void *out,
                        uint32_t *sequence);

/* The oldest coupon of a pool as keystream: out = in ^ its first len bytes. The rest is wiped with
 * it. As take; SUNSEAL_ERR_LENGTH if len is longer than a coupon; SUNSEAL_ERR_OVERLAP if the two
 * share bytes, as a coupon that turns out to be damaged would take the message with it. Fastest
 * where both are aligned as make's payload. */
int sunseal_coupon_xor(struct sunseal_coupon_store *store, uint8_t pool, uint8_t *out,
                       const uint8_t *in, size_t len, uint32_t *sequence);

/* A number of the pool that no coupon has, and none will. SUNSEAL_OK, SUNSEAL_ERR_EXHAUSTED,
 * SUNSEAL_ERR_WORN, SUNSEAL_ERR_STORE; on flash SUNSEAL_COUPON_FULL where it would need a block
 * that still holds coupons: use those. */
int sunseal_coupon_reserve(struct sunseal_coupon_store *store, uint8_t pool, uint32_t *sequence);

/* Coupons that a pool has; erases of its most worn block. */
uint16_t sunseal_coupon_ready(const struct sunseal_coupon_store *store, uint8_t pool);
uint32_t sunseal_coupon_erases(const struct sunseal_coupon_store *store, uint8_t pool);

#endif
