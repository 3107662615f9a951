/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The graph of non-volatile states that the coupon store's code makes of a small store: from each
 * state that it can be in, each call is made and cut in front of each of its words, until no state
 * is new.
 *
 *   graph [flash]      prints an edge for each change, in the words of coupon_fram.pml or
 * coupon_flash.pml
 *
 * Memories and kinds are those of test_coupon.c.
 */
#define main campaign
#include "../test_coupon.c"
#undef main

/* Numbers below this are given; coupon_fram.pml and coupon_flash.pml know it too. */
#define LIMIT (flash ? 27u : 5u)
#define FIRST 5 /* what begin() formats with */
#define MOST 2  /* so many are made ahead */
#define STATES 400000

/* A store as it is: its memory and, while it lives, what it has in RAM. */
struct point {
    uint16_t memory[FLASH_WORDS > FRAM_WORDS ? FLASH_WORDS : FRAM_WORDS];
    struct sunseal_coupon_pool pool;
    bool alive;
};

static struct point *points;
static uint32_t *places; /* of points, by their hash */
static size_t count;

#define PLACES (4u * STATES)

/* Words of a slot that is erased, or wiped: nothing of a payload. */
static bool is_blank(const uint16_t *payload) {
    for (int i = 0; i < WORDS; i++) {
        if (payload[i] != 0 && payload[i] != 0xFFFF) {
            return false;
        }
    }
    return true;
}

/* What a wiped slot of flash still says of its number is looked at by nobody, and is as good as
 * zero. */
static void forget_dead(uint16_t *memory) {
    for (int s = 0; flash && s < 2 * BLOCKS; s++) {
        uint16_t *slot = memory + s / 2 * (BLOCK_BYTES / 2) + 16 + s % 2 * (8 + WORDS);
        if (slot[2] == 0 && is_blank(slot + 8)) {
            memset(slot, 0, 2 * (8 + WORDS));
        }
    }
}

static void add(bool alive) {
    struct point p;
    memset(&p, 0, sizeof p);
    memcpy(p.memory, w.memory, sizeof p.memory);
    forget_dead(p.memory);
    p.alive = alive;
    if (alive) {
        p.pool = w.pool;
    }
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof p; i++) {
        hash = (hash ^ ((const uint8_t *)&p)[i]) * 1099511628211u;
    }
    size_t at = (size_t)(hash % PLACES);
    for (; places[at] != 0; at = (at + 1) % PLACES) {
        if (memcmp(&points[places[at] - 1], &p, sizeof p) == 0) {
            return;
        }
    }
    if (count == STATES) {
        fprintf(stderr, "graph: more than %d states\n", STATES);
        exit(2);
    }
    points[count++] = p;
    places[at] = (uint32_t)count;
}

static bool is_clean(const uint16_t *payload, uint16_t erased) {
    for (int i = 0; i < WORDS; i++) {
        if (payload[i] != erased) {
            return false;
        }
    }
    return true;
}

static bool is_whole(const uint16_t *payload, uint32_t number) {
    uint16_t right[WORDS];
    payload_of(number, right);
    return memcmp(payload, right, BYTES) == 0;
}

static int in_order(const void *a, const void *b) {
    return strcmp(a, b);
}

/* The state of the memory in the model's words. Slots are alike: they are told in order. */
static void tell_fram(char *out) {
    char slots[SLOTS][16];
    for (int r = 0; r < 2; r++) {
        const uint16_t *record = w.memory + 4 * r;
        const bool good = (record[0] ^ record[2]) == 0xFFFF && (record[1] ^ record[3]) == 0xFFFF;
        const uint32_t number = (uint32_t)record[1] << 16 | record[0];
        out += good ? sprintf(out, "%u ", number - FIRST) : sprintf(out, "- ");
    }
    for (int s = 0; s < SLOTS; s++) {
        const uint16_t *slot = w.memory + 8 + s * (7 + WORDS);
        const uint32_t number = (uint32_t)slot[5] << 16 | slot[4];
        const bool clean = is_clean(slot + 7, 0);
        if (slot[0] == 0x5555) {
            sprintf(slots[s], "r%u%s", number - FIRST, is_whole(slot + 7, number) ? "" : "!");
        } else {
            const char name = slot[0] == 0        ? 'f'
                              : slot[0] == 0x3333 ? 'w'
                              : slot[0] == 0xFFFF ? 'c'
                                                  : '?';
            sprintf(slots[s], "%c%s", name, clean ? "" : "+");
        }
    }
    qsort(slots, (size_t)SLOTS, sizeof slots[0], in_order);
    sprintf(out, "%s %s %s", slots[0], slots[1], slots[2]);
}

static bool is_header(const uint16_t *copy) {
    for (int i = 0; i < 4; i++) {
        if ((copy[i] ^ copy[i + 4]) != 0xFFFF) {
            return false;
        }
    }
    return true;
}

static void tell_flash(char *out) {
    for (int b = 0; b < BLOCKS; b++) {
        const uint16_t *block = w.memory + b * BLOCK_BYTES / 2;
        const uint16_t *header = is_header(block) ? block : is_header(block + 8) ? block + 8 : NULL;
        out += header != NULL ? sprintf(out, "%u", ((uint32_t)header[1] << 16 | header[0]) - FIRST)
                              : sprintf(out, "-");
        for (int s = 0; s < 2; s++) {
            const uint16_t *slot = block + 16 + s * (8 + WORDS);
            const uint16_t commit = slot[0], is_claimed = slot[1], id = slot[2];
            const uint32_t number = (uint32_t)slot[6] << 16 | slot[5];
            if (id == kind.id && is_claimed == 0xFFFF && commit == 0x5555) {
                out +=
                    sprintf(out, " r%u%s", number - FIRST, is_whole(slot + 8, number) ? "" : "!");
                continue;
            }
            const char name = id == 0                                ? 'd'
                              : id == 0xFFFF && is_claimed == 0xFFFF ? 'e'
                              : is_claimed == 0                      ? 'c'
                                                                     : 'b';
            out += sprintf(out, " %c%s", name, is_blank(slot + 8) ? "" : "+");
        }
        out += sprintf(out, "%s", b < BLOCKS - 1 ? ", " : "");
    }
}

static void tell(char *out) {
    if (flash) {
        tell_flash(out);
    } else {
        tell_fram(out);
    }
}

static uint16_t given[WORDS]; /* what has left the store in this call */

/* The number of the coupon that a first word is of. */
static uint32_t number_of(uint16_t first) {
    uint16_t payload[WORDS];
    uint32_t number = 0;
    do {
        payload_of(number, payload);
    } while (payload[0] != first && ++number < NUMBERS);
    return number;
}

static void make_call(char what) {
    if (what == 'B') {
        power_on();
        if (sunseal_coupon_open(&w.store) != SUNSEAL_OK) {
            printf("wedged\n");
        }
        return;
    }
    uint32_t sequence;
    int status = SUNSEAL_PENDING;
    while (what == 'P' && status == SUNSEAL_PENDING) {
        status = sunseal_coupon_produce(&w.store);
    }
    if (what == 'R') {
        (void)sunseal_coupon_reserve(&w.store, 0, &sequence);
    } else if (what == 'T') {
        (void)sunseal_coupon_take(&w.store, 0, given, &sequence);
    }
}

/* One call, whole and cut in front of each of its words. */
static void each_cut(struct point from, char what) {
    static volatile long words;
    static char before[96], after[96];
    static struct point start;
    static char call_is;
    static bool told;
    start = from;
    call_is = what;
    told = false;
    memcpy(w.memory, start.memory, sizeof start.memory);
    tell(before);
    for (words = 0;; words++) {
        power_on();
        memcpy(w.memory, start.memory, sizeof start.memory);
        if (start.alive) {
            w.pool = start.pool;
            w.store.making = NULL;
        }
        w.steps = 1;
        memset(given, 0, sizeof given);
        fuel = words;
        torn = OLD;
        const bool is_cut = setjmp(off) != 0;
        if (!is_cut) {
            make_call(call_is);
        }
        fuel = -1;
        tell(after);
        if (strcmp(before, after) != 0) {
            printf("edge %s > %s\n", before, after);
            strcpy(before, after);
        }
        if (!told && given[0] != 0) {
            told = true;
            printf("edge gives %u in %s\n", number_of(given[0]) - FIRST, after);
        }
        add(!is_cut);
        if (!is_cut) {
            return;
        }
    }
}

int main(int argc, char **argv) {
    (void)argv;
    flash = argc > 1;
    points = calloc(STATES, sizeof *points);
    places = calloc(PLACES, sizeof *places);
    begin(1);
    add(true);
    for (size_t at = 0; at < count; at++) {
        const struct point here = points[at];
        each_cut(here, 'B');
        if (!here.alive) {
            continue;
        }
        const bool more = here.pool.next < FIRST + LIMIT;
        if (more) {
            each_cut(here, 'R');
        }
        if (more && here.pool.ready < MOST) {
            each_cut(here, 'P');
        }
        if (here.pool.ready > 0) {
            each_cut(here, 'T');
        }
    }
    fprintf(stderr, "graph: %zu states\n", count);
    return 0;
}
