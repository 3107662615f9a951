/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_TASKS_H
#define SUNSEAL_TASKS_H

#include "sunseal/nvm.h"

/*
 * Programs of tasks
 * =================
 *
 * After Chain (Colin and Lucia, OOPSLA 2016) and Alpaca (Maeng, Colin and Lucia, OOPSLA 2017): a
 * program is a number of tasks that share one object. Each runs to its end or not at all: it works
 * on a private copy of the shared object in SRAM, and when it returns, the copy and the number of
 * the next task become the program's state in one commit. After a power failure the task that was
 * under way begins anew with what the one before it has left.
 *
 * What a task must not do is what cannot be made twice: read a word of non-volatile memory and
 * later write it, other than through the shared object. Writing results that no task reads before
 * it writes them, is fine. `sunseal war` finds the rest.
 *
 * The private copy is whole and stays in SRAM from one task to the next, so that a commit costs
 * one copy of the object (sunseal/nvm.h) and a task nothing to begin. A task that changes little
 * should run for longer: returning one's own number commits and goes on.
 *
 * Memory is static: the shared object in SRAM and its cell. Stack: 40 bytes and the task's own.
 * Do not use it together with sunseal/checkpoint.h in one program: each believes that it alone
 * decides where the program goes on.
 */

/* Does its part and returns the number of the next task, from 1; 0 ends the program. */
typedef uint8_t sunseal_task(void *shared);

struct sunseal_program {
    const struct sunseal_cell *cell;
    void *shared; /* of the cell's size, in SRAM, even address */
    sunseal_task *const *tasks;
    uint8_t count; /* at most SUNSEAL_CELL_LABEL_MAX - 1 */
};

/*
 * Runs the program from where it stands to its end; of one that has ended before, only loads the
 * shared object. A new program begins at task 1 with the shared object all zero.
 * SUNSEAL_OK; SUNSEAL_ERR_STORE: its cell is damaged; SUNSEAL_ERR_PARAMETERS: a task returned a
 * number that no task has (the state is that before this task).
 *
 * Progress is made in each life that is longer than start-up, load, the longest task and a commit.
 */
int sunseal_program_run(const struct sunseal_program *program);

/* Wipes the program's cell and its shared object: it is new, and secrets are gone. */
void sunseal_program_wipe(const struct sunseal_program *program);

#endif
