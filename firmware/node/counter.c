/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counter.h"

#include "hal.h"

#define WORDS (HAL_SEGMENT_BYTES / 2)
#define FIRST_SLOT 4
#define SLOTS (WORDS - FIRST_SLOT)
#define ERASED 0xFFFF

static const enum hal_segment segments[2] = {HAL_SEGMENT_D, HAL_SEGMENT_C};
static uint8_t current; /* index into segments */
static uint16_t used;   /* slots burnt in it */

static uint16_t word(uint8_t index, uint16_t at) {
    return hal_flash_word(segments[index], at);
}

static uint32_t base_of(uint8_t index) {
    return (uint32_t)word(index, 1) << 16 | word(index, 0);
}

static bool valid(uint8_t index) {
    return (word(index, 0) ^ word(index, 2)) == 0xFFFF &&
           (word(index, 1) ^ word(index, 3)) == 0xFFFF;
}

static bool erased(uint8_t index) {
    for (uint16_t i = 0; i < WORDS; i++) {
        if (word(index, i) != ERASED)
            return false;
    }
    return true;
}

/* Erased even if it reads so: that may be the work of an erase cut short. The complement first:
 * a base without it does not count. */
static void start_segment(uint8_t index, uint32_t base) {
    hal_flash_erase(segments[index]);
    hal_flash_write(segments[index], 2, (uint16_t)~base);
    hal_flash_write(segments[index], 3, (uint16_t)(~base >> 16));
    hal_flash_write(segments[index], 0, (uint16_t)base);
    hal_flash_write(segments[index], 1, (uint16_t)(base >> 16));
    current = index;
    used = 0;
}

/* Slots are used from the first on: behind the last used one all are erased. */
static uint16_t slots_used(uint8_t index) {
    uint16_t last = 0;
    for (uint16_t i = 0; i < SLOTS; i++) {
        if (word(index, FIRST_SLOT + i) != ERASED)
            last = (uint16_t)(i + 1);
    }
    return last;
}

bool counter_unused(void) {
    return slots_used(0) == 0 && erased(1);
}

void counter_create(void) {
    if (!erased(1))
        hal_flash_erase(segments[1]);
    start_segment(0, 0);
    counter_burn();
}

bool counter_open(void) {
    bool first = valid(0), second = valid(1);
    if (!first && !second)
        return false;
    current = second && (!first || base_of(1) > base_of(0));
    used = slots_used(current);
    /* Nothing is lost by it: the other segment is full and says the same. */
    if (used == 0)
        start_segment(current, base_of(current));
    counter_burn();
    return true;
}

uint32_t counter_now(void) {
    return base_of(current) + used;
}

uint32_t counter_burn(void) {
    for (uint16_t tries = 0; tries < SLOTS && counter_now() != COUNTER_MAX; tries++) {
        if (used == SLOTS)
            start_segment(current ^ 1, counter_now());
        if (!valid(current))
            return 0;
        uint16_t slot = FIRST_SLOT + used;
        hal_flash_write(segments[current], slot, 0);
        used++;
        if (word(current, slot) != ERASED)
            return counter_now();
    }
    return 0;
}
