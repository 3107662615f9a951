/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Runs programs one instruction at a time in libsimavr's ATmega128 and tells every state.
 *
 * Input, once for each program: steps, words, word address of the code, byte address to stop at (32 bits each), the
 * code, then a state (see struct state) and 4096 bytes of memory from 0x100 on. Output: the state behind each step, or,
 * where there is an address to stop at, the last one alone with the cycles of all; and the memory in the end.
 * Everything little endian.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>

enum { RAM_START = 0x100, RAM_BYTES = 4096, RAMPZ = 0x5B };
static const uint32_t NOWHERE = 0xFFFFFFFF;

struct state {
    uint8_t r[32];
    uint32_t pc; /* bytes */
    uint32_t cycles; /* of this step, or of all */
    uint16_t sp;
    uint8_t sreg;
    uint8_t rampz;
};

static void get(void *to, size_t bytes) {
    if (fread(to, 1, bytes, stdin) != bytes) {
        fputs("the input ends within a program\n", stderr);
        exit(2);
    }
}

static void quiet(avr_t *avr, const int level, const char *format, va_list arguments) {
    (void)avr, (void)level, (void)format, (void)arguments;
}

int main(void) {
    avr_global_logger_set(quiet);
    avr_t *avr = avr_make_mcu_by_name("atmega128");
    if (!avr || avr_init(avr)) {
        fputs("libsimavr knows no atmega128\n", stderr);
        return 2;
    }
    avr->codeend = avr->flashend;
    uint32_t head[4];
    while (fread(head, sizeof head, 1, stdin) == 1) {
        struct state state;
        avr_reset(avr);
        memset(avr->flash, 0xFF, avr->flashend + 1);
        get(avr->flash + 2 * head[2], 2 * head[1]);
        get(&state, sizeof state);
        get(avr->data + RAM_START, RAM_BYTES);
        memcpy(avr->data, state.r, sizeof state.r);
        avr->data[R_SPL] = (uint8_t)state.sp;
        avr->data[R_SPH] = (uint8_t)(state.sp >> 8);
        avr->data[RAMPZ] = state.rampz;
        for (int i = 0; i < 8; i++) avr->sreg[i] = state.sreg >> i & 1;
        avr->pc = state.pc;
        avr_cycle_count_t before = avr->cycle;
        bool ends = head[3] == state.pc;
        for (uint32_t i = 0; i < head[0] && !ends; i++) {
            avr->state = cpu_Running;
            avr->run_cycle_count = 1;
            avr->pc = avr_run_one(avr);
            if (head[3] != NOWHERE) {
                ends = avr->pc == head[3] || avr->state != cpu_Running || i + 1 == head[0];
                if (!ends) continue;
            }
            memcpy(state.r, avr->data, sizeof state.r);
            state.pc = avr->pc;
            state.cycles = (uint32_t)(avr->cycle - before);
            state.sp = (uint16_t)(avr->data[R_SPL] | avr->data[R_SPH] << 8);
            state.rampz = avr->data[RAMPZ];
            state.sreg = 0;
            for (int flag = 0; flag < 8; flag++) state.sreg |= (uint8_t)(avr->sreg[flag] << flag);
            fwrite(&state, sizeof state, 1, stdout);
            before = avr->cycle;
        }
        fwrite(avr->data + RAM_START, 1, RAM_BYTES, stdout);
    }
    return 0;
}
