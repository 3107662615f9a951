/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The coupon store on a simulated FRAM and a simulated flash whose power is cut at every write and
 * erase of a history of calls, and again at every write of the recovery:
 *
 *   test_coupon [LENGTH [RANDOM [FAILURES [flash]]]]
 *
 * All histories of so many calls and so many longer ones, until so many failures, of both media or
 * of flash alone.
 *
 * Flash is played twice, its words programmed one by one and four at once. A write that is cut
 * leaves the old word or the new one; in flash also one with some of the bits programmed, and one
 * that reads otherwise each time, or in each life. After each cut the store is opened, the history
 * goes on, the store is filled and emptied, and what came out is compared with what was committed.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../coupon/src/coupon.h"

#define BYTES 12
#define WORDS (BYTES / 2)
#define SLOTS 3
/* As many as there is room for, whatever slots the numbers have been taken of. */
#define HIGH (flash ? 4 : 2)
#define FRAM_WORDS SUNSEAL_COUPON_FRAM_WORDS(BYTES, SLOTS)
#define BLOCKS 3
#define BLOCK_BYTES 96
#define FLASH_WORDS (BLOCKS * BLOCK_BYTES / 2)
#define NUMBERS 2048
#define CALLS_MAX 24

/* ---- the world: what a cut leaves, and what the test knows ------------------------------------
 */

enum { AHEAD = 1, GIVEN = 2, MADE = 4 };

static struct world {
    uint16_t memory[FLASH_WORDS > FRAM_WORDS ? FLASH_WORDS : FRAM_WORDS]
        __attribute__((aligned(16)));
    uint16_t weak[FLASH_WORDS]; /* bits of a word of flash that read now so, now so */
    struct sunseal_coupon_pool pool;
    struct sunseal_coupon_store store;
    uint16_t work[WORDS];
    uint16_t epoch, version;
    uint8_t number[NUMBERS];
    uint16_t lost_allowed, steps, masks;
    uint32_t noise;
    uint16_t asleep[FLASH_WORDS]; /* bits that read erased, and will be weak */
    uint8_t wakes;                /* at so many starts from now */
    bool any_weak, drifts;
} w;

static int flash; /* the medium of this run */
static long fuel; /* writes until the cut; negative: never */
static int torn;  /* how the write that is cut ends */
static jmp_buf off;
static unsigned long cuts, failures, stop_at = 20;
static const char *history;
static char trace[96];

enum { OLD, NEW, PARTLY, WEAK, DRIFTING, ENDS };

static void fail(const char *what) {
    fprintf(stderr, "test_coupon: %s: %s, %s\n", flash ? "flash" : "FRAM", what, trace);
    if (++failures == stop_at) {
        exit(1);
    }
}

static uint16_t random_word(void) {
    w.noise = w.noise * 1664525 + 1013904223;
    return (uint16_t)(w.noise >> 16);
}

static bool in_memory(const void *at) {
    return (const uint8_t *)at >= (const uint8_t *)w.memory &&
           (const uint8_t *)at < (const uint8_t *)w.memory + sizeof w.memory;
}

/* Each read of a weak bit is another one; payloads, which are not read by the driver, change with
 * the writes. Or what drifts is one thing in one life, and another in the next. */
static void reread(size_t i) {
    if (w.weak[i] != 0 && !w.drifts) {
        w.memory[i] = (uint16_t)((w.memory[i] & ~w.weak[i]) | (random_word() & w.weak[i]));
    }
}

/* ---- FRAM: the functions of nvm.h and of firmware/coupon that write it ------------------------
 */

static void fram_write(uint16_t *at, uint16_t value) {
    if (!in_memory(at)) {
        *at = value;
        return;
    }
    if (flash) {
        fail("a word of flash is written as if it were RAM");
    }
    if (fuel == 0) {
        if (torn == NEW) {
            *at = value;
        }
        longjmp(off, 1);
    }
    fuel -= fuel > 0;
    *at = value;
}

void sunseal_nvm_commit(volatile uint16_t *word, uint16_t value) {
    fram_write((uint16_t *)word, value);
}

static uint16_t crc_word(uint16_t crc, uint16_t word) {
    for (int byte = 0; byte < 2; byte++, word = (uint16_t)(word << 8)) {
        uint8_t t = (uint8_t)((crc ^ word) >> 8);
        t ^= t >> 4;
        crc = (uint16_t)(crc << 8 ^ t << 12 ^ t << 5 ^ t);
    }
    return crc;
}

uint16_t sunseal_nvm_check(const void *from, uint16_t words, uint16_t seed) {
    for (const uint16_t *at = from; words > 0; words--) {
        seed = crc_word(seed, *at++);
    }
    return seed;
}

uint16_t sunseal_nvm_copy(void *to, const void *from, uint16_t words, uint16_t seed) {
    const uint16_t *at = from;
    for (uint16_t *out = to; words > 0; words--, at++) {
        seed = crc_word(seed, *at);
        fram_write(out++, *at);
    }
    return seed;
}

static uint16_t running; /* the CRC of words on their way */

void sunseal_coupon_begin(uint16_t low, uint16_t high, uint16_t seed) {
    running = crc_word(crc_word(seed, low), high);
}

uint16_t sunseal_coupon_copy(uint16_t *out, const uint16_t *from, uint16_t words) {
    for (; words > 0; words--, from++) {
        running = crc_word(running, *from);
        *out++ = *from;
    }
    return running;
}

uint16_t sunseal_coupon_copy_xor(uint16_t *out, const uint16_t *in, const uint16_t *from,
                                 uint16_t words) {
    for (; words > 0; words--, from++) {
        running = crc_word(running, *from);
        *out++ = *in++ ^ *from;
    }
    return running;
}

uint16_t sunseal_coupon_move_xor(uint16_t *out, const uint16_t *in, uint16_t *from,
                                 uint16_t words) {
    for (; words > 0; words--, from++) {
        running = crc_word(running, *from);
        *out++ = *in++ ^ *from;
        fram_write(from, 0);
    }
    return running;
}

uint16_t sunseal_coupon_move(uint16_t *out, uint16_t *from, uint16_t words) {
    for (; words > 0; words--, from++) {
        running = crc_word(running, *from);
        *out++ = *from;
        fram_write(from, 0);
    }
    return running;
}

void sunseal_coupon_zero(uint16_t *words, uint16_t count) {
    while (count-- > 0) {
        fram_write(words++, 0);
    }
}

/* ---- flash: a driver ------------------------------------------------------------------------- */

static unsigned stuck_word, stuck_on; /* a word that takes nothing, where there is one */

static uint16_t flash_word(const uint16_t *at) {
    reread((size_t)(at - w.memory));
    return *at;
}

/* What a cut leaves of the bits that were to change. */
static void flash_cut(size_t i, uint16_t target) {
    uint16_t changing = w.memory[i] ^ target;
    if (torn == NEW) {
        /* An erase that is cut may leave what reads erased for some time. */
        w.asleep[i] = target == 0xFFFF ? changing : 0;
        w.wakes = 2;
        w.memory[i] = target;
        w.weak[i] = 0;
    } else if (torn == PARTLY) {
        w.memory[i] ^= changing & random_word();
    } else if (torn == WEAK) {
        w.weak[i] |= changing;
        w.any_weak = true;
        w.drifts = false;
    } else if (torn == DRIFTING) {
        w.weak[i] |= changing;
        w.any_weak = w.drifts = true;
    }
}

static unsigned together = 1; /* words of one pulse, where they begin at a multiple of so many */

static int flash_program(uint16_t *at, const uint16_t *from, uint16_t words) {
    while (words > 0) {
        size_t i = (size_t)(at - w.memory);
        const uint16_t count = words >= together && i % together == 0 ? (uint16_t)together : 1;
        if (!in_memory(at) || !in_memory(at + count - 1)) {
            fail("programmed outside the flash");
            return -1;
        }
        for (size_t other = 0; w.any_weak && other < FLASH_WORDS; other++) {
            reread(other);
        }
        for (uint16_t k = 0; k < count; k++, i++) {
            uint16_t value = from == NULL ? 0 : from[k];
            if (fuel == 0) {
                flash_cut(i, w.memory[i] & value);
            } else if (!(stuck_on && i == stuck_word)) {
                w.memory[i] &= value;
                w.weak[i] &= value;
                w.asleep[i] &= value;
            }
        }
        if (fuel == 0) {
            longjmp(off, 1);
        }
        fuel -= fuel > 0;
        at += count;
        from = from == NULL ? NULL : from + count;
        words = (uint16_t)(words - count);
    }
    return 0;
}

static int flash_erase(uint16_t *block) {
    size_t first = (size_t)(block - w.memory);
    if (!in_memory(block) || first % (BLOCK_BYTES / 2) != 0) {
        fail("erased where no block begins");
        return -1;
    }
    for (size_t i = first; i < first + BLOCK_BYTES / 2; i++) {
        if (fuel == 0) {
            flash_cut(i, 0xFFFF);
        } else {
            w.memory[i] = 0xFFFF;
            w.weak[i] = w.asleep[i] = 0;
        }
    }
    if (fuel == 0) {
        longjmp(off, 1);
    }
    fuel -= fuel > 0;
    return 0;
}

static const struct sunseal_coupon_flash_driver driver = {flash_word, flash_program, flash_erase};

/* ---- one kind, whose payload says its number, epoch and firmware ------------------------------
 */

static void payload_of(uint32_t sequence, uint16_t payload[WORDS]) {
    uint32_t x = sequence * 2654435761u ^ w.epoch * 40503u ^ ((uint32_t)w.version << 20) ^ 77u;
    for (int i = 0; i < WORDS; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        payload[i] = (uint16_t)(x | 1);
    }
}

static uint32_t last_made;
static int make_fails;
static int make(void *context, uint32_t sequence, void *payload);
static struct sunseal_coupon_kind kind = {7, BYTES, 1, 1, 0, make, NULL};

/* In two steps, so that calls come in between. */
static int make(void *context, uint32_t sequence, void *payload) {
    (void)context;
    if (make_fails) {
        return SUNSEAL_ERR_HEALTH;
    }
    last_made = sequence;
    uint16_t whole[WORDS];
    payload_of(sequence, whole);
    memcpy(payload, whole, kind.bytes);
    if (sequence < NUMBERS) {
        w.number[sequence] |= MADE;
    }
    return w.steps++ % 2 == 0 ? SUNSEAL_PENDING : SUNSEAL_OK;
}

static const struct sunseal_coupon_fram_place fram_place = {w.memory, SLOTS};
static struct sunseal_coupon_flash_place flash_place = {&driver, w.memory, BLOCKS, BLOCK_BYTES,
                                                        60000};

/* What a start finds in RAM. */
static void power_on(void) {
    memset(&w.pool, 0xA5, sizeof w.pool);
    memset(&w.store, 0xA5, sizeof w.store);
    /* Another firmware has slots of another size. */
    kind.bytes = w.version % 2 != 0 ? BYTES : BYTES / 3;
    kind.high = HIGH;
    for (size_t i = 0; w.wakes == 1 && i < FLASH_WORDS; i++) {
        w.weak[i] |= w.asleep[i];
        w.any_weak = true;
    }
    w.wakes -= w.wakes > 0;
    for (size_t i = 0; w.any_weak && w.drifts && i < FLASH_WORDS; i++) {
        if (w.weak[i] != 0) {
            const uint16_t now[] = {0, 0xFFFF, random_word()};
            w.memory[i] =
                (uint16_t)((w.memory[i] & ~w.weak[i]) | (now[random_word() % 3] & w.weak[i]));
        }
    }
    w.pool.kind = &kind;
    w.pool.medium = flash ? &sunseal_coupon_flash : &sunseal_coupon_fram;
    w.pool.place = flash ? (const void *)&flash_place : (const void *)&fram_place;
    w.store.pools = &w.pool;
    w.store.count = 1;
    w.store.epoch = w.epoch;
    w.store.version = w.version;
    w.store.work = w.work;
    w.store.work_bytes = BYTES;
}

static void give(uint32_t sequence, const char *twice) {
    if (sequence >= NUMBERS) {
        fail("a number far from any other");
        return;
    }
    if (w.number[sequence] & GIVEN) {
        fail(twice);
    }
    w.number[sequence] |= GIVEN;
}

static bool found_in_memory(uint32_t sequence) {
    uint16_t payload[WORDS];
    payload_of(sequence, payload);
    const size_t words = flash ? FLASH_WORDS : FRAM_WORDS;
    for (size_t i = 0; i + 2 <= words; i++) {
        for (size_t k = 0; k < kind.bytes / 2; k += 2) {
            if (w.memory[i] == payload[k] && w.memory[i + 1] == payload[k + 1]) {
                return true;
            }
        }
    }
    return false;
}

static void came_out(const uint16_t *payload, uint32_t sequence) {
    uint16_t right[WORDS];
    payload_of(sequence, right);
    if (memcmp(payload, right, kind.bytes) != 0) {
        fail("a torn, damaged or foreign coupon came out");
    } else if (sequence < NUMBERS && !(w.number[sequence] & MADE)) {
        fail("a coupon that was never made");
    }
    give(sequence, "a coupon came out twice, or behind its number");
    if (found_in_memory(sequence)) {
        fail("a copy of a used coupon stays");
    }
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static int produce(void) {
    int status;
    while ((status = sunseal_coupon_produce(&w.store)) == SUNSEAL_PENDING) {
    }
    if (status == SUNSEAL_OK && last_made < NUMBERS) {
        w.number[last_made] |= AHEAD;
    }
    return status;
}

static int take(void) {
    uint16_t out[WORDS];
    uint32_t sequence;
    int status = sunseal_coupon_take(&w.store, 0, out, &sequence);
    if (status == SUNSEAL_OK) {
        came_out(out, sequence);
    }
    return status;
}

/* In turn with a message that is shorter than a coupon, and with one as long. */
static int mask(void) {
    static const uint16_t zeros[WORDS];
    uint16_t out[WORDS], right[WORDS];
    uint32_t sequence;
    const size_t less = w.masks++ % 2 == 0 ? 3 : 0;
    int status = sunseal_coupon_xor(&w.store, 0, (uint8_t *)out, (const uint8_t *)zeros,
                                    kind.bytes - less, &sequence);
    if (status == SUNSEAL_OK) {
        payload_of(sequence, right);
        memcpy((uint8_t *)out + kind.bytes - less, (uint8_t *)right + kind.bytes - less, less);
        came_out(out, sequence);
    }
    return status;
}

static int reserve(void) {
    uint32_t sequence;
    int status = sunseal_coupon_reserve(&w.store, 0, &sequence);
    if (status == SUNSEAL_OK) {
        if (sequence < NUMBERS && (w.number[sequence] & (AHEAD | MADE))) {
            fail("a number that a coupon has is given again");
        }
        give(sequence, "a number is given twice");
    }
    return status;
}

static void forget_ahead(void) {
    for (size_t i = 0; i < NUMBERS; i++) {
        w.number[i] &= (uint8_t)~AHEAD;
    }
}

static int step_only(void) {
    int status = sunseal_coupon_produce(&w.store);
    if (status == SUNSEAL_OK && last_made < NUMBERS) {
        w.number[last_made] |= AHEAD;
    }
    return status;
}

/* Starts, and finds no more coupons than are ready. */
static int start(void) {
    unsigned copies = 0;
    power_on();
    int status = sunseal_coupon_open(&w.store);
    for (size_t i = 0; i < NUMBERS; i++) {
        copies += (w.number[i] & MADE) && found_in_memory((uint32_t)i);
    }
    if (copies > w.pool.ready) {
        fail("behind a start there is more in the memory than ready coupons");
    }
    return status;
}

/* P produce, S one step of it, T take, X xor, R reserve, B boot, E boot with a new key, V with a
 * new firmware. */
static void call(char what) {
    switch (what) {
    case 'P':
        produce();
        break;
    case 'S':
        step_only();
        break;
    case 'T':
        take();
        break;
    case 'X':
        mask();
        break;
    case 'R':
        reserve();
        break;
    default:
        if (what != 'B') {
            forget_ahead();
            *(what == 'E' ? &w.epoch : &w.version) += 1;
            /* What is there is foreign from here on; its payload is not known any more. */
        }
        if (start() != SUNSEAL_OK) {
            fail("a store that was open is not any more");
        }
    }
}

/* All that is there comes out, and the store can be filled and emptied on. */
static void settle(bool fillable) {
    unsigned missing = 0, ready = sunseal_coupon_ready(&w.store, 0);
    fuel = -1;
    for (int turn = 0; turn < 2; turn++) {
        unsigned taken = 0;
        while (take() == SUNSEAL_OK) {
            taken++;
        }
        if (turn == 0 && taken + w.lost_allowed < ready) {
            fail("fewer coupons come out than are said to be ready");
        }
        for (size_t i = 0; turn == 0 && i < NUMBERS; i++) {
            missing += (w.number[i] & (AHEAD | GIVEN)) == AHEAD;
        }
        int tries = 0, status = SUNSEAL_OK;
        while (tries++ < 8 && status != SUNSEAL_COUPON_FULL) {
            status = produce();
        }
        if (fillable && sunseal_coupon_ready(&w.store, 0) != HIGH) {
            fail("the store cannot be filled");
        }
        call('B');
    }
    while (take() == SUNSEAL_OK) {
    }
    if (fillable && reserve() != SUNSEAL_OK) {
        fail("no number can be reserved");
    }
    if (missing > w.lost_allowed) {
        fail("a committed coupon is lost");
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        if ((w.number[i] & MADE) && found_in_memory((uint32_t)i)) {
            fail("a copy of a coupon that is not there stays");
        }
    }
}

static void begin(uint32_t noise) {
    memset(&w, 0, sizeof w);
    w.noise = noise;
    w.epoch = 3;
    w.version = 9;
    if (flash) {
        memset(w.memory, 0xFF, sizeof w.memory);
    }
    fuel = -1;
    power_on();
    if (sunseal_coupon_open(&w.store) != SUNSEAL_ERR_STORE ||
        sunseal_coupon_format(&w.store, 0, 5) != SUNSEAL_OK) {
        fail("a new pool is not formatted");
    }
}

/* ---- cuts -------------------------------------------------------------------------------------
 */

/* Runs on behind a cut or a whole recovery. */
static void run_on(const char *rest) {
    while (*rest != '\0') {
        call(*rest++);
    }
    settle(true);
}

/* The recovery cut at each of its writes; each time another one ends it. */
static void recoveries(const char *rest) {
    static struct world cut;
    static volatile long second;
    static volatile int ends;
    static const char *volatile then;
    then = rest;
    cut = w;
    for (ends = OLD; ends < (flash ? ENDS : PARTLY); ends++) {
        for (second = 0;; second++) {
            w = cut;
            w.noise += (uint32_t)(second * 7919 + ends);
            fuel = second;
            torn = ends;
            if (setjmp(off) == 0) {
                if (start() != SUNSEAL_OK) {
                    fail("the store does not open behind a cut");
                }
                fuel = -1;
                if (ends == OLD) {
                    run_on(then);
                }
                break;
            }
            cuts++;
            fuel = -1;
            if (start() != SUNSEAL_OK) {
                fail("the store does not open behind two cuts");
            }
            settle(true);
        }
    }
}

/* One call cut at each of its writes. */
static void cut_call(const char *at) {
    static struct world before;
    static volatile long first;
    static volatile int ends;
    static const char *volatile here;
    here = at;
    before = w;
    for (ends = OLD; ends < (flash ? ENDS : PARTLY); ends++) {
        for (first = 0;; first++) {
            w = before;
            w.noise += (uint32_t)(first * 31 + ends);
            fuel = first;
            torn = ends;
            if (setjmp(off) == 0) {
                call(*here);
                fuel = -1;
                break;
            }
            cuts++;
            snprintf(trace, sizeof trace, "calls %s cut in call %d, write %ld, ending %d", history,
                     (int)(here - history), first, ends);
            w.lost_allowed += strchr("TX", *here) != NULL;
            recoveries(here + 1);
        }
    }
    /* Behind the loop the call has run whole. */
}

static void play(const char *calls, uint32_t noise) {
    history = calls;
    begin(noise);
    /* The first block is full soon. */
    reserve();
    for (const char *at = calls; *at != '\0'; at++) {
        cut_call(at);
    }
    snprintf(trace, sizeof trace, "calls %s, no cut", calls);
    settle(true);
}

static void all_histories(int length) {
    static const char calls[] = "PTRBX";
    char text[CALLS_MAX + 1] = {0};
    int digit[CALLS_MAX] = {0};
    for (;;) {
        for (int i = 0; i < length; i++) {
            text[i] = calls[digit[i]];
        }
        play(text, 1);
        int i = 0;
        while (i < length && ++digit[i] == (int)sizeof calls - 1) {
            digit[i++] = 0;
        }
        if (i == length) {
            return;
        }
    }
}

static void random_histories(long count) {
    static const char calls[] = "PPPPTTTXRBSSEV";
    for (long n = 0; n < count; n++) {
        char text[CALLS_MAX + 1] = {0};
        uint32_t x = (uint32_t)n * 2654435761u + 12345;
        for (int i = 0; i < CALLS_MAX; i++) {
            x = x * 1664525 + 1013904223;
            text[i] = calls[(x >> 16) % (sizeof calls - 1)];
        }
        play(text, x);
    }
}

/* ---- what is not a cut ------------------------------------------------------------------------
 */

/* Each bit of the memory flips at rest, once before and once behind each call: what comes out is
 * right and no number comes twice. Coupons may be lost; numbers alone are lost where flash had one
 * header. */
static void flips(const char *calls) {
    static struct world before;
    static char told[] = "PPTRPP";
    const size_t words = flash ? FLASH_WORDS : FRAM_WORDS;
    history = calls;
    begin(1);
    for (const char *at = calls;; at++) {
        before = w;
        /* And both headers of a block are lost. */
        const size_t blocks = flash ? BLOCKS : 0;
        for (size_t bit = 0; bit < 16 * words + blocks; bit++) {
            w = before;
            if (bit < 16 * words) {
                w.memory[bit / 16] ^= (uint16_t)(1u << bit % 16);
            } else {
                memset(w.memory + (bit - 16 * words) * (BLOCK_BYTES / 2), 0,
                       2 * SUNSEAL_COUPON_FLASH_BLOCK_HEADER_WORDS);
            }
            w.lost_allowed = 100;
            snprintf(trace, sizeof trace, "calls %s, bit %zu of word %zu flips behind %d", calls,
                     bit % 16, bit / 16, (int)(at - calls));
            power_on();
            int status = sunseal_coupon_open(&w.store);
            if (status == SUNSEAL_ERR_STORE && flash) {
                continue;
            }
            if (status != SUNSEAL_OK) {
                fail("the store does not open behind a flip");
            }
            for (const char *then = told; *then != '\0'; then++) {
                call(*then);
            }
            settle(true);
            /* And while the store is open: taken, and used for short and whole messages. */
            for (int way = 0; way < 3 && bit < 16 * words; way++) {
                w = before;
                w.memory[bit / 16] ^= (uint16_t)(1u << bit % 16);
                w.lost_allowed = 100;
                w.masks = (uint16_t)way;
                (void)(way == 2 ? take() : mask());
                take();
            }
        }
        w = before;
        if (*at == '\0') {
            return;
        }
        call(*at);
    }
}

static void expect(const char *what, bool good) {
    if (!good) {
        fail(what);
    }
}

static void refusals(void) {
    uint8_t text[BYTES + 2] = {0};
    uint32_t sequence;
    history = "";
    snprintf(trace, sizeof trace, "refusals");
    begin(1);
    expect("format of a pool with numbers",
           sunseal_coupon_format(&w.store, 0, 1) == SUNSEAL_ERR_INDEX_USED);
    expect("format at the end",
           sunseal_coupon_format(&w.store, 0, UINT32_MAX) == SUNSEAL_ERR_PARAMETERS);
    power_on();
    expect("not opened", take() == SUNSEAL_ERR_STORE && reserve() == SUNSEAL_ERR_STORE);
    expect("open", sunseal_coupon_open(&w.store) == SUNSEAL_OK);
    expect("empty", take() == SUNSEAL_ERR_COUPON && mask() == SUNSEAL_ERR_COUPON);
    expect("no such pool",
           sunseal_coupon_take(&w.store, 1, w.work, &sequence) == SUNSEAL_ERR_STORE);
    make_fails = 1;
    expect("a generator that fails makes no coupon",
           produce() == SUNSEAL_ERR_HEALTH && sunseal_coupon_ready(&w.store, 0) == 0);
    make_fails = 0;
    while (sunseal_coupon_ready(&w.store, 0) < HIGH) {
        expect("and one that works does", produce() == SUNSEAL_OK);
    }
    expect("full", produce() == SUNSEAL_COUPON_FULL && sunseal_coupon_ready(&w.store, 0) == HIGH);
    expect("too long",
           sunseal_coupon_xor(&w.store, 0, text, text, BYTES + 1, &sequence) == SUNSEAL_ERR_LENGTH);
    expect("in place",
           sunseal_coupon_xor(&w.store, 0, text, text, 4, &sequence) == SUNSEAL_ERR_OVERLAP);
    expect("nothing was used for it", sunseal_coupon_ready(&w.store, 0) == HIGH);
    expect("at odd addresses",
           sunseal_coupon_xor(&w.store, 0, text + 1, (const uint8_t *)"12345678901234567890" + 2,
                              BYTES, &sequence) == SUNSEAL_OK);
    uint16_t right[WORDS];
    payload_of(sequence, right);
    for (size_t i = 0; i < BYTES; i++) {
        expect("keystream", text[1 + i] == (("345678901234"[i]) ^ ((const uint8_t *)right)[i]));
    }
    give(sequence, "twice");
    expect("numbers are unlike", reserve() == SUNSEAL_OK && take() == SUNSEAL_OK);
    begin(1);
    if (!flash) {
        w.pool.next = UINT32_C(0xFFFF0000);
        expect("numbers end", produce() == SUNSEAL_ERR_EXHAUSTED);
    }
}

/* Blocks are used in turn; at the granted number of erases no more coupons are made, and those
 * there are can be used. A word that takes nothing costs its slot. */
static void wear(void) {
    unsigned made = 0;
    history = "";
    snprintf(trace, sizeof trace, "wear");
    flash_place.endurance = 20;
    begin(1);
    while (produce() == SUNSEAL_OK && made < 1000) {
        made++;
        uint32_t erases = sunseal_coupon_erases(&w.store, 0);
        expect("blocks wear alike", (made + 1) / 2 <= erases * BLOCKS + 2 &&
                                        (made + 1) / 2 + 2 * BLOCKS > (erases - 1) * BLOCKS);
        if (made % 2 == 0) {
            expect("taken", take() == SUNSEAL_OK && take() == SUNSEAL_OK);
        }
    }
    expect("worn out, and told so", made >= 2 * 19 * BLOCKS && made <= 2 * 20 * BLOCKS &&
                                        produce() == SUNSEAL_ERR_WORN &&
                                        reserve() == SUNSEAL_ERR_WORN);
    flash_place.endurance = 60000;
    stuck_on = 1;
    for (stuck_word = 0; stuck_word < FLASH_WORDS; stuck_word++) {
        snprintf(trace, sizeof trace, "word %u takes nothing", stuck_word);
        begin(1);
        for (int i = 0; i < 40; i++) {
            int status = produce();
            if (i % 3 == 2) {
                call('B');
            }
            if (status == SUNSEAL_COUPON_FULL || i % 5 == 4) {
                take();
            }
        }
        expect("the others go on", produce() >= 0 || produce() >= 0);
    }
    stuck_on = 0;
}

int main(int argc, char **argv) {
    int length = argc > 1 ? atoi(argv[1]) : 3;
    long longer = argc > 2 ? atol(argv[2]) : 8;
    stop_at = argc > 3 ? strtoul(argv[3], NULL, 10) : stop_at;
    const bool flash_alone = argc > 4 && *argv[4] == 'f';
    for (int medium = flash_alone ? 1 : 0; medium < 3; medium++) {
        flash = medium > 0;
        together = medium == 2 ? 4 : 1;
        refusals();
        flips("PPTRPBPTT");
        flips("PPTTPPTTPPTTPPTTPRRPT");
        random_histories(longer);
        all_histories(length);
        if (flash) {
            wear();
        }
    }
    printf("test_coupon: %lu cuts, %lu failures\n", cuts, failures);
    return failures != 0;
}
