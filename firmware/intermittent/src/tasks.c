/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sunseal/error.h"
#include "sunseal/tasks.h"
#include "sunseal/wipe.h"

int sunseal_program_run(const struct sunseal_program *program) {
    const struct sunseal_cell *cell = program->cell;
    int label = sunseal_cell_load(cell, program->shared);
    if (label < 0) {
        return label;
    }
    if (label == 0) {
        sunseal_wipe(program->shared, 2 * (size_t)cell->words);
        label = 1;
    }
    const uint8_t end = (uint8_t)(program->count + 1);
    while (label != end) {
        if (label > end) {
            return SUNSEAL_ERR_STORE;
        }
        uint8_t next = program->tasks[label - 1](program->shared);
        if (next > program->count) {
            return SUNSEAL_ERR_PARAMETERS;
        }
        label = next == 0 ? end : next;
        int status = sunseal_cell_commit(cell, program->shared, (uint8_t)label);
        if (status != SUNSEAL_OK) {
            return status;
        }
    }
    return SUNSEAL_OK;
}

void sunseal_program_wipe(const struct sunseal_program *program) {
    sunseal_cell_wipe(program->cell);
    sunseal_wipe(program->shared, 2 * (size_t)program->cell->words);
}
