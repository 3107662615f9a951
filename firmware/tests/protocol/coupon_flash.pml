/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The coupon store in flash (coupon.h, "Flash") as a protocol: blocks with the lowest of their numbers, slots
 * whose words only go down until the block is erased, the power gone between any two words. A word that was
 * cut is old or new here; those that read now so, now so, are the campaign's (test_coupon.c). Checked and
 * compared as coupon_fram.pml.
 *
 *   1 used before it is claimed            4 the block with the lowest numbers counts as the newest
 *   2 claimed slots are not wiped          5 a block is erased with coupons in it
 *   3 a block's numbers come again         6 committed before the payload is whole
 */
#ifndef FAULT
#define FAULT 0
#endif
#define BLOCKS 3
#define EACH 2 /* slots of a block */
#define SLOTS 6
#define HIGH 2
#define APART 6 /* numbers of a block, as many as slots of any size can take */
#define LIMIT 27 /* the last numbers are those of a block that is erased for them */
#define NUMBERS 64
#define NONE 255

#define Erased 0
#define Begun 1
#define Ready 2
#define Claimed 3
#define Dead 4

byte base[BLOCKS]; /* NONE: no header */
byte state[SLOTS], number[SLOTS];
bool dirty[SLOTS], whole[SLOTS];

/* Of the present life; head is the block that numbers are taken of. */
byte head, left, next, ready, seq, i, k, slot, block, from;

bool given[NUMBERS], committed[NUMBERS];

#ifdef GRAPH
c_code {
static char before[96];
static void tell(char *out) {
    for (int b = 0; b < BLOCKS; b++) {
        out += now.base[b] == NONE ? sprintf(out, "-") : sprintf(out, "%d", now.base[b]);
        for (int s = EACH * b; s < EACH * b + EACH; s++) {
            if (now.state[s] == Ready) out += sprintf(out, " r%d%s", now.number[s], now.whole[s] ? "" : "!");
            else out += sprintf(out, " %c%s", "eb?cd"[now.state[s]], now.dirty[s] ? "+" : "");
        }
        if (b < BLOCKS - 1) out += sprintf(out, ", ");
    }
}
static void changed(void) {
    char after[96];
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

/* One word that changes, or one erase; in front of it the power may go. */
#define WORD(change)                                                                               \
    if                                                                                             \
    :: goto dead                                                                                   \
    :: d_step { NOTE; change; TELL }                                                               \
    fi

#define GIVE(n)                                                                                    \
    d_step { assert(n < NUMBERS); assert(!given[n]); given[n] = true }

#define WIPE(s)                                                                                    \
    WORD(state[s] = Claimed; number[s] = 0; whole[s] = false);                                                    \
    if                                                                                             \
    :: FAULT == 2                                                                                  \
    :: else -> WORD(dirty[s] = false)                                                              \
    fi;                                                                                            \
    WORD(state[s] = Dead)

#define IN_USE(b) (state[EACH * (b)] == Ready || state[EACH * (b) + 1] == Ready)

/* The block behind the head is erased and takes numbers, unless there is a coupon in it. */
#define BEHIND ((head + 1) % BLOCKS)
#define CAN_BURN (left > 0 || FAULT == 5 || base[BEHIND] == NONE || !IN_USE(BEHIND))
#define BURN                                                                                       \
    if                                                                                             \
    :: left == 0 ->                                                                                \
        d_step {                                                                                   \
            block = BEHIND;                                                                        \
            from = base[head] + (base[block] != NONE -> APART : 2 * APART);                        \
            from = (FAULT == 3 -> base[head] : from)                                               \
        }                                                                                          \
        WORD(base[block] = NONE; state[EACH * block] = Erased; state[EACH * block + 1] = Erased;   \
             dirty[EACH * block] = false; dirty[EACH * block + 1] = false);                        \
        WORD(base[block] = from);                                                                  \
        head = block;                                                                              \
        left = EACH;                                                                               \
        next = from                                                                                \
    :: else                                                                                        \
    fi;                                                                                            \
    d_step {                                                                                       \
        slot = EACH * head + EACH - left;                                                          \
        seq = next;                                                                                \
        next++;                                                                                    \
        left--                                                                                     \
    }                                                                                              \
    WORD(state[slot] = Begun; number[slot] = seq)

active proctype store() {
    /* As it is formatted: each block has a header, the last one is the newest. */
    d_step {
        base[1] = APART;
        base[2] = 2 * APART;
        head = 2;
        left = EACH;
        next = 2 * APART
    }
    goto alive;

dead:
    skip;
    d_step {
        head = NONE; left = EACH; next = 0; ready = 0; seq = 0; slot = 0; block = 0; from = 0; i = 0; k = 0;
        do
        :: i == BLOCKS -> break
        :: i < BLOCKS ->
            if
            :: base[i] != NONE && FAULT != 4 && (head == NONE || base[i] > next) -> head = i; next = base[i]
            :: base[i] != NONE && FAULT == 4 && (head == NONE || base[i] < next) -> head = i; next = base[i]
            :: else
            fi;
            i++
        od;
        i = 0;
        assert(head != NONE)
    }
    do
    :: i == BLOCKS -> break
    :: i < BLOCKS ->
        i++;
        block = (head + i) % BLOCKS;
        k = (base[block] == NONE -> EACH : 0);
        do
        :: k == EACH -> break
        :: k < EACH ->
            slot = EACH * block + k;
            if
            :: block == head && state[slot] != Erased -> left = EACH - k - 1
            :: else
            fi;
            if
            :: state[slot] == Ready -> ready++
            :: state[slot] == Begun || state[slot] == Claimed -> WIPE(slot)
            :: else
            fi;
            k++
        od
    od;
    skip;
    d_step {
        next = next + EACH - left;
        i = 0; k = 0; block = 0; slot = 0;
        do
        :: i == SLOTS -> break
        :: else -> assert(state[i] == Ready || !dirty[i]); i++
        od;
        i = 0;
        do
        :: i == NUMBERS -> break
        :: else ->
            assert(!committed[i] || (state[0] == Ready && number[0] == i) ||
                   (state[1] == Ready && number[1] == i) || (state[2] == Ready && number[2] == i) ||
                   (state[3] == Ready && number[3] == i) || (state[4] == Ready && number[4] == i) ||
                   (state[5] == Ready && number[5] == i));
            i++
        od;
        i = 0
    }

alive:
    do
    :: goto dead
    :: next < LIMIT && ready < HIGH && CAN_BURN -> /* produce */
        BURN;
        if
        :: FAULT == 6 -> WORD(state[slot] = Ready)
        :: else
        fi;
        WORD(dirty[slot] = true);
        WORD(whole[slot] = true);
        WORD(state[slot] = Ready; committed[seq] = true);
        ready++
    :: next < LIMIT && CAN_BURN -> /* reserve */
        BURN;
        WORD(state[slot] = Dead);
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
            committed[number[slot]] = false /* whose use may be cut */
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
        WORD(state[slot] = Dead)
    od
}
