/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "checkpoint.h"

#include <stddef.h>

#include "adc12_b.h"
#include "sunseal/error.h"
#include "sunseal/wipe.h"

#define RES(i) SUNSEAL_REG16((uintptr_t)&RES0 + 2 * (i))

extern uint16_t __data_start[], __noinit_end[], __stack_top[];

SUNSEAL_NVM static struct slot slots[2] = {{0}};
SUNSEAL_NVM static volatile uint16_t wiping = 0;
SUNSEAL_NVM volatile uint16_t sunseal_checkpoint_refused_bytes = 0;
static const struct sunseal_checkpoint_config *config;

/* ---- supply --------------------------------------------------------------------------------- */

/* Converts all the time, every 18 periods of MODOSC / 32: 120 us. The window's lower edge
 * interrupts. */
static void watch(void) {
    ADC12LO = config->save_below;
    ADC12HI = 0x0FFF;
    adc_start(config->channel, ADC12DIV_7 | ADC12CONSEQ_2);
    ADC12IFGR2 = 0;
    ADC12IER2 = ADC12LOIFG;
}

void sunseal_checkpoint_stop(void) {
    adc_stop();
}

/* ---- multiplier ----------------------------------------------------------------------------- */

static void multiplier_save(struct multiplier *m) {
    m->control = MPY32CTL0;
    MPY32CTL0 = m->control & (uint16_t)~(MPYSAT | MPYFRAC); /* results as they are */
    m->sumext = SUMEXT;
    m->operand[0] = MPY32L;
    m->operand[1] = MPY32H;
    /* 16 by 16 bits leave the upper words undefined. Who multiplies 32 by 16 bits reads them before
     * the next 16-bit operand. */
    size_t words = m->control & (MPYOP1_32 | MPYOP2_32) ? 4 : 2;
    for (size_t i = 0; i < 4; i++) {
        m->result[i] = i < words ? RES(i) : 0;
    }
    MPY32CTL0 = m->control;
}

/* SUMEXT cannot be written: an operation that leaves it as it was comes first. */
static void multiplier_restore(const struct multiplier *m) {
    MPY32CTL0 = 0;
    if (m->sumext == 1) {
        RESLO = 0xFFFF;
        RESHI = 0xFFFF;
        MAC = 1;
        OP2 = 1;
    } else if (m->sumext != 0) {
        MPYS = 1;
        OP2 = 0xFFFF;
    } else {
        MPY = 0;
        OP2 = 0;
    }
    MPY32L = m->operand[0];
    MPY32H = m->operand[1];
    for (size_t i = 0; i < 4; i++) {
        RES(i) = m->result[i];
    }
    MPY32CTL0 = m->control;
}

/* ---- slots ---------------------------------------------------------------------------------- */

#define HEAD_WORDS ((offsetof(struct slot, memory) - offsetof(struct slot, sp)) / 2)

static uint16_t static_words(void) {
    return (uint16_t)(__noinit_end - __data_start);
}

static uint16_t stack_words(uint16_t sp) {
    return (uint16_t)((uint16_t)(uintptr_t)__stack_top - sp) / 2;
}

/* The slot with the younger number, valid or not. */
static uint16_t youngest(void) {
    uint16_t first = slots[0].sequence, second = slots[1].sequence;
    if (first == 0 || second == 0) {
        return first == 0;
    }
    return (int16_t)(second - first) > 0;
}

static int is_whole(const struct slot *slot) {
    uint16_t sp = slot->sp;
    if (slot->sequence == 0 || sp < (uintptr_t)__noinit_end || sp > (uintptr_t)__stack_top ||
        sp & 1) {
        return 0;
    }
    uint16_t words = (uint16_t)(static_words() + stack_words(sp));
    return words <= SUNSEAL_CHECKPOINT_BYTES / 2 &&
           sunseal_nvm_check(&slot->sp, (uint16_t)(HEAD_WORDS + words), slot->sequence) ==
               slot->crc;
}

static int save(uint16_t sp, const struct multiplier *multiplier, uint16_t crc_module) {
    uint16_t first = static_words(), then = stack_words(sp);
    if (2 * (first + then) > SUNSEAL_CHECKPOINT_BYTES) {
        sunseal_checkpoint_refused_bytes = (uint16_t)(2 * (first + then));
        return SUNSEAL_ERR_STORE;
    }
    uint16_t last = youngest();
    uint16_t sequence = (uint16_t)(slots[last].sequence + 1);
    sequence += sequence == 0;
    struct slot *slot = &slots[1 - last];
    sunseal_nvm_commit(&slot->sequence, 0);
    slot->sp = sp;
    slot->crc_module = crc_module;
    slot->multiplier = *multiplier;
    for (size_t i = 0; i < config->count; i++) {
        slot->registers[i] = SUNSEAL_REG16(config->registers[i].address);
    }
    uint16_t sum = sunseal_nvm_check(&slot->sp, HEAD_WORDS, sequence);
    sum = sunseal_nvm_copy(slot->memory, __data_start, first, sum);
    slot->crc = sunseal_nvm_copy(slot->memory + first, (const void *)(uintptr_t)sp, then, sum);
    sunseal_nvm_commit(&slot->sequence, sequence);
    return SUNSEAL_OK;
}

/* The compiler may multiply, and the CRC module works for the slots: both are handed back. */
int sunseal_checkpoint_save(uint16_t sp) {
    struct multiplier multiplier;
    multiplier_save(&multiplier);
    uint16_t crc_module = CRCINIRES;
    int status = save(sp, &multiplier, crc_module);
    CRCINIRES = crc_module;
    multiplier_restore(&multiplier);
    return status;
}

void sunseal_checkpoint_supply_low(uint16_t sp) {
    adc_stop();
    sunseal_checkpoint_save(sp);
    sunseal_supply_wait(config->channel, config->resume_above);
    watch();
}

/* On the stack below what it writes. */
void sunseal_checkpoint_restore(const struct slot *slot) {
    uint16_t first = static_words();
    sunseal_nvm_copy(__data_start, slot->memory, first, 0);
    sunseal_nvm_copy((void *)(uintptr_t)slot->sp, slot->memory + first, stack_words(slot->sp), 0);
    for (size_t i = 0; i < config->count; i++) {
        const struct sunseal_checkpoint_register *r = &config->registers[i];
        uint16_t value = slot->registers[i];
        SUNSEAL_REG16(r->address) = r->password ? (uint16_t)((value & 0xFF) | r->password) : value;
    }
    multiplier_restore(&slot->multiplier);
    CRCINIRES = slot->crc_module;
    watch();
}

/* ---- the program's side --------------------------------------------------------------------- */

void sunseal_checkpoint_wipe(void) {
    sunseal_nvm_commit(&wiping, 1);
    sunseal_wipe(slots, sizeof slots);
    sunseal_nvm_commit(&wiping, 0);
}

int sunseal_checkpoint_start(const struct sunseal_checkpoint_config *with) {
    if (with->save_below >= with->resume_above || with->resume_above > 0x0FFE ||
        (with->channel > 15 && with->channel != SUNSEAL_SUPPLY) ||
        with->count > SUNSEAL_CHECKPOINT_REGISTERS_MAX) {
        return SUNSEAL_ERR_PARAMETERS;
    }
    config = with;
    sunseal_supply_wait(config->channel, config->resume_above);
    if (wiping) {
        sunseal_checkpoint_wipe();
    }
    uint16_t last = youngest();
    for (uint16_t i = 0; i < 2; i++) {
        const struct slot *slot = &slots[last ^ i];
        if (is_whole(slot)) {
            sunseal_checkpoint_go(slot);
        }
    }
    watch();
    __asm__ volatile("nop\n\teint\n\tnop");
    return SUNSEAL_OK;
}
