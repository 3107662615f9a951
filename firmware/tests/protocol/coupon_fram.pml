/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The coupon store in FRAM (coupon.h, "FRAM") as a protocol: records of the lowest free number, slots with
 * their states, the power gone between any two words that change. Checked by Spin: a number is given once,
 * a coupon that was committed and not claimed comes out, no torn slot is used, a start always succeeds, and
 * what was used is wiped.
 *
 * Its graph of non-volatile states is compared with that of the code: see test_protocol.py. -DGRAPH prints
 * an edge for each change; -DFAULT=n seeds a fault.
 *
 *   1 used before it is claimed       4 a record is written before the older one is found: the newer one is lost
 *   2 claimed slots are not wiped     5 of two records the older one counts
 *   3 numbers are not burnt           6 ready before the payload is whole
 */
#ifndef FAULT
#define FAULT 0
#endif
#define SLOTS 3
#define HIGH 2
#define LIMIT 5   /* numbers below this are given */
#define NUMBERS 8 /* a start after a loss skips one */
#define TORN 255
#define NONE 255

#define Free 0
#define Writing 1
#define Ready 2
#define Claimed 3

byte record[2];
byte state[SLOTS];
byte number[SLOTS];
bool dirty[SLOTS]; /* something of a payload is in it */
bool whole[SLOTS];

/* Of the present life. */
byte next, ready, seq, i, slot, older;

/* What the world has seen. */
bool given[NUMBERS], committed[NUMBERS];

#ifdef GRAPH
c_code {
static char before[64];
static void tell(char *out) {
    char part[SLOTS][16];
    for (int k = 0; k < 2; k++) {
        out += now.record[k] == TORN ? sprintf(out, "- ") : sprintf(out, "%d ", now.record[k]);
    }
    for (int k = 0; k < SLOTS; k++) {
        const char name = now.state[k] == Free ? 'f' : now.state[k] == Writing ? 'w' : now.state[k] == Ready ? 'r' : 'c';
        if (name == 'r') sprintf(part[k], "r%d%s", now.number[k], now.whole[k] ? "" : "!");
        else sprintf(part[k], "%c%s", name, now.dirty[k] ? "+" : "");
    }
    qsort(part, SLOTS, sizeof part[0], (int (*)(const void *, const void *))strcmp);
    sprintf(out, "%s %s %s", part[0], part[1], part[2]);
}
static void changed(void) {
    char after[64];
    tell(after);
    if (strcmp(before, after) != 0) printf("edge %s > %s\n", before, after);
}
}
#define NOTE c_code { tell(before); }
#define TELL c_code { changed(); }
#define GIVES c_code { tell(before); printf("edge gives %d in %s\n", now.number[now.slot], before); }
#else
#define NOTE skip
#define TELL skip
#define GIVES skip
#endif

/* One word that changes; in front of it the power may go. */
#define WORD(change)                                                                               \
    if                                                                                             \
    :: goto dead                                                                                   \
    :: d_step { NOTE; change; TELL }                                                               \
    fi

#define GIVE(n)                                                                                    \
    d_step { assert(n < NUMBERS); assert(!given[n]); given[n] = true }

#define RECORD(which, value)                                                                       \
    WORD(record[which] = TORN);                                                                    \
    WORD(record[which] = value)

#define BURN                                                                                       \
    d_step {                                                                                       \
        seq = next;                                                                                \
        next++;                                                                                    \
        if                                                                                         \
        :: FAULT == 4 -> older = 0                                                                 \
        :: FAULT != 4 && (record[0] == TORN ||                                                     \
                          (record[1] != TORN && record[0] < record[1])) -> older = 0               \
        :: else -> older = 1                                                                       \
        fi                                                                                         \
    }                                                                                              \
    if                                                                                             \
    :: FAULT == 3                                                                                  \
    :: else -> RECORD(older, next)                                                                 \
    fi

/* What is in a slot that is no coupon. */
#define WIPE(s)                                                                                    \
    WORD(state[s] = Claimed; number[s] = 0; whole[s] = false);                                                    \
    if                                                                                             \
    :: FAULT == 2                                                                                  \
    :: else -> WORD(dirty[s] = false)                                                              \
    fi;                                                                                            \
    WORD(state[s] = Free)

active proctype store() {
    d_step {
        record[0] = 0;
        record[1] = 1;
        next = 1;
    }
    goto alive;

dead:
    skip;
    /* A loss of power: RAM is gone. */
    d_step { next = 0; ready = 0; seq = 0; slot = 0; older = 0; i = 0 }
    assert(record[0] != TORN || record[1] != TORN);
    if
    :: record[0] != TORN && record[1] != TORN && FAULT == 5 ->
        next = (record[0] < record[1] -> record[0] : record[1])
    :: record[0] != TORN && record[1] != TORN && FAULT != 5 ->
        next = (record[0] > record[1] -> record[0] : record[1])
    :: record[0] == TORN -> next = record[1] + 1; RECORD(0, next)
    :: record[1] == TORN -> next = record[0] + 1; RECORD(1, next)
    fi;
    do
    :: i == SLOTS -> break
    :: i < SLOTS ->
        if
        :: state[i] == Ready && number[i] < next -> ready++
        :: state[i] == Free -> skip
        :: else -> WIPE(i)
        fi;
        i++
    od;
    i = 0;
    /* What is left behind a start: ready coupons, and nothing of any other. */
    d_step {
        do
        :: i == SLOTS -> break
        :: else -> assert(state[i] == Ready || !dirty[i]); i++
        od;
        i = 0;
        do
        :: i == NUMBERS -> break
        :: else -> assert(!committed[i] || (state[0] == Ready && number[0] == i) ||
                          (state[1] == Ready && number[1] == i) || (state[2] == Ready && number[2] == i));
            i++
        od;
        i = 0
    }

alive:
    do
    :: goto dead
    :: next < LIMIT && ready < HIGH -> /* produce */
        BURN;
        if
        :: state[0] != Ready -> slot = 0
        :: state[1] != Ready -> slot = 1
        :: state[2] != Ready -> slot = 2
        fi;
        WORD(state[slot] = Writing);
        number[slot] = seq;
        if
        :: FAULT == 6 -> WORD(state[slot] = Ready)
        :: else
        fi;
        WORD(dirty[slot] = true);
        WORD(whole[slot] = true);
        WORD(state[slot] = Ready; committed[seq] = true);
        ready++
    :: next < LIMIT -> /* reserve */
        BURN;
        GIVE(seq)
    :: ready > 0 -> /* take: the oldest */
        d_step {
            slot = NONE;
            do
            :: i == SLOTS -> break
            :: i < SLOTS ->
                if
                :: state[i] == Ready && slot == NONE -> slot = i
                :: state[i] == Ready && slot != NONE && number[i] < number[slot] -> slot = i
                :: else
                fi;
                i++
            od;
            i = 0;
            committed[number[slot]] = false /* whose use may be cut */;
        }
        if
        :: FAULT == 1 -> GIVE(number[slot])
        :: else
        fi;
        WORD(state[slot] = Claimed);
        ready--;
        if
        :: FAULT != 1 -> assert(whole[slot]); GIVES; GIVE(number[slot])
        :: else
        fi;
        d_step { whole[slot] = false; number[slot] = 0 }
        if
        :: FAULT == 2
        :: else -> WORD(dirty[slot] = false)
        fi;
        WORD(state[slot] = Free)
    od
}
