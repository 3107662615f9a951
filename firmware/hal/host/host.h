/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hal.h on a PC: what a test sets and sees of it.
 */
#ifndef SUNSEAL_HOST_H
#define SUNSEAL_HOST_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hal.h"

/* Information flash
 * -----------------
 * Lies in memory that forked processes share. A power cut leaves the cells of the word or segment
 * at work anywhere between before and after; cells in between are marginal and may read otherwise
 * at each start.
 */
enum host_cut {
    HOST_CUT_BEFORE, /* nothing of the operation is done */
    HOST_CUT_HALF,   /* some bits are done, some are not, some are marginal */
    HOST_CUT_ALMOST, /* all bits read as done, all of them are marginal */
    HOST_CUT_AFTER,  /* all is done, but the program does not go on */
    HOST_CUTS
};

struct host_flash {
    uint16_t word[4][HAL_SEGMENT_BYTES / 2];
    uint16_t marginal[4][HAL_SEGMENT_BYTES / 2];
    uint16_t worn[4][HAL_SEGMENT_BYTES / 2]; /* bits that can no longer be cleared */
    uint32_t operations;                     /* writes and erases so far */
};

extern struct host_flash *host_flash;

/* A device from the factory. */
void host_flash_new(void);
/* Marginal cells read as they like now. */
void host_flash_settle(void);

/* Power goes at the operation of this number (of those since host_power_on), in this way; the
 * program is left through host_power_lost. UINT32_MAX: never. */
extern uint32_t host_cut_at;
extern enum host_cut host_cut_how;
extern jmp_buf host_power_lost;
/* A start: counts operations from 0, settles the flash. */
void host_power_on(void);
/* Called at every waiting of the HAL as well; counts as an operation. */
void host_moment(void);

/* Dice of the test, the same every time. */
extern uint32_t host_seed;
uint32_t host_random(void);

/* The rest of the world. */
extern uint16_t host_storage_mv;
extern uint32_t host_time_s;
extern bool host_halted;
/* Raw samples; the test's own. NULL: uniform. */
extern void (*host_samples)(uint8_t *samples, uint16_t count);
/* Told of every mark; NULL: nobody. */
extern void (*host_marked)(bool high);
/* Everything logged, cut off when full. */
extern char host_log[4096];

/* The radio's bus: a fake chip. */
struct host_chip {
    bool (*select)(void);
    uint8_t (*byte)(uint8_t out);
    void (*deselect)(void);
    bool (*wait)(uint16_t timeout_ms); /* until GDO0 falls */
};
extern struct host_chip host_chip;

#endif
