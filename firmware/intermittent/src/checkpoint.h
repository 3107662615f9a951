/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What checkpoint.c and checkpoint_fr5xx.S share. */
#ifndef SUNSEAL_CHECKPOINT_INTERNAL_H
#define SUNSEAL_CHECKPOINT_INTERNAL_H

#define SLOT_SEQUENCE 0
#define SLOT_CRC 2
#define SLOT_SP 4

#ifndef __ASSEMBLER__
#include "sunseal/checkpoint.h"

struct multiplier {
    uint16_t control, sumext, operand[2], result[4];
};

struct slot {
    volatile uint16_t sequence; /* written last; 0: not valid */
    uint16_t crc;               /* of all below */
    uint16_t sp;                /* the registers are on the stack, in front of the program's own */
    uint16_t crc_module;
    struct multiplier multiplier;
    uint16_t registers[SUNSEAL_CHECKPOINT_REGISTERS_MAX];
    uint16_t memory[SUNSEAL_CHECKPOINT_BYTES / 2]; /* static, then stack */
};

/* Assembly, for C. */
__attribute__((noreturn)) void sunseal_checkpoint_go(const struct slot *slot);

/* C, for assembly: sp is that of the saved registers. */
int sunseal_checkpoint_save(uint16_t sp);
void sunseal_checkpoint_supply_low(uint16_t sp);
void sunseal_checkpoint_restore(const struct slot *slot);
#endif

#endif
