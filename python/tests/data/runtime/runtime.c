/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A runtime as users bring one, and a program on it: tasks over two contexts in FRAM, a section
 * `.nv_vars`, a handler by msp430-gcc's `interrupt(N)`, whose vector their own linker script
 * places, and a timer that resets the chip to try it. With -DIN_PLACE a task changes its values
 * where they lie.
 */
#include "msp430fr5969.h"

#define NV __attribute__((section(".nv_vars")))
#define ROUNDS 60
#define STACK_TOP "0x2400"

typedef void task_t(void);

typedef struct {
    task_t *task;
    uint16_t round;
    uint16_t sum;
} context_t;

static void add(void);
static void finish(void);

NV context_t contexts[2] = {{add, 0, 0}, {0, 0, 0}};
NV context_t *volatile current = &contexts[0];
NV volatile uint16_t boots = 0;
NV volatile uint16_t result = 0;

__attribute__((noinline)) void finished(void) {
    for (;;) {
    }
}

static context_t *next(void) {
    return current == &contexts[0] ? &contexts[1] : &contexts[0];
}

static void go(context_t *to) {
    current = to;
    __asm__ volatile("mov #" STACK_TOP ", r1\n br %0" ::"r"(to->task));
    __builtin_unreachable();
}

static void add(void) {
#ifdef IN_PLACE
    context_t *to = current;
    to->sum += to->round;
    to->round++;
#else
    context_t *to = next();
    to->sum = current->sum + current->round;
    to->round = current->round + 1;
#endif
    to->task = to->round < ROUNDS ? add : finish;
    go(to);
}

static void finish(void) {
    result = current->sum;
    finished();
}

/* TB0 CCR1, on the FR5969 the 51st vector from 0xFF90 on. */
__attribute__((interrupt(51))) void expired(void) {
    PMMCTL0 = 0xA500 | PMMSWPOR;
}

int main(void) {
    boots++;
#ifdef EXPIRES
    TB0CCR1 = 20;
    TB0CCTL1 = 0x0010;                 /* CCIE */
    TB0CTL = 0x0100 | 0x0020 | 0x0004; /* ACLK, continuous, clear */
    __asm__ volatile("nop\n eint\n nop");
#endif
    go(current);
    return 0;
}
