/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A sum of sixteen readings on an MSP430FR5994 whose supply may fail at any cycle. Total and place
 * lie in FRAM, so that the next life goes on where the last one was. With -DLOSES each is written
 * for itself, and a cut between the two adds a reading twice.
 */
#include <stdint.h>

#define FRAM __attribute__((section(".nvm"), used))
#define COUNT 16

static const uint16_t readings[COUNT] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

FRAM volatile uint16_t place; /* so many readings are in the total */
FRAM volatile uint16_t result;

/* A word of FRAM is written whole or not at all. */
static void __attribute__((noinline)) commit(uint16_t next) {
    place = next;
}

#ifdef LOSES
FRAM volatile uint16_t total;

static void add(uint16_t at) {
    total = total + readings[at];
    commit(at + 1);
}
#define TOTAL total
#else
FRAM volatile uint16_t totals[2]; /* the one that `place` says is good, and the next one */

static void add(uint16_t at) {
    totals[(at + 1) & 1] = totals[at & 1] + readings[at];
    commit(at + 1);
}
#define TOTAL totals[COUNT & 1]
#endif

void __attribute__((noinline)) done(void) {
    __asm__ volatile("");
}

int main(void) {
    while (place < COUNT) {
        add(place);
    }
    result = TOTAL;
    done();
    return 0;
}
