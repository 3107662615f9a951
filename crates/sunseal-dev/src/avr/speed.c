/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How fast libsimavr's ATmega128 runs a program. Input: words of the program (32 bits), the word of memory that counts
 * its rounds (32 bits), seconds to run (32 bits), the program. Output: rounds and nanoseconds of CPU time (64 bits each).
 */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>

static void quiet(avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr, (void)level, (void)format, (void)arguments;
}

static uint64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(void) {
    uint32_t head[3];
    avr_global_logger_set(quiet);
    avr_t *avr = avr_make_mcu_by_name("atmega128");
    if (!avr || avr_init(avr) || fread(head, sizeof head, 1, stdin) != 1) return 2;
    memset(avr->flash, 0xFF, avr->flashend + 1);
    if (fread(avr->flash, 2, head[0], stdin) != head[0]) return 2;
    avr->codeend = avr->flashend;
    avr_reset(avr);
    avr->state = cpu_Running;
    uint64_t rounds = 0;
    uint16_t last = 0;
    memset(avr->data + head[1], 0, 2);
    const uint64_t begin = cpu_ns();
    uint64_t now = begin;
    while (now - begin < head[2] * UINT64_C(1000000000)) {
        /* As many at once as it likes to. */
        for (int i = 0; i < 1000; i++) {
            avr->run_cycle_count = 1000;
            avr->pc = avr_run_one(avr);
        }
        uint16_t count = (uint16_t)(avr->data[head[1]] | avr->data[head[1] + 1] << 8);
        rounds += (uint16_t)(count - last);
        last = count;
        now = cpu_ns();
    }
    const uint64_t answer[2] = {rounds, now - begin};
    return fwrite(answer, sizeof answer, 1, stdout) == 1 ? 0 : 2;
}
