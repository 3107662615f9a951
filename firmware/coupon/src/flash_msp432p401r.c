/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The flash controller of the MSP432P401R: sectors of bank 1, while the program runs in bank 0. */
#include "chip.h"
#include "coupon.h"

/* SLAU356, FLCTL */
#define PRG_ENABLE 0x01u
#define PRG_FULL_WORD 0x02u /* 128 bits at once, 32 by 32, from the lowest on */
#define PRG_VERIFIED 0x0Cu
#define ERASE_START 0x01u
#define ERASE_CLR_STAT 0x80000u
#define IFG_PRG 0x08u
#define IFG_ERASE 0x20u

#define BANK1 0x20000u
#define SECTOR_BYTES CHIP_FLASH_SEGMENT_BYTES
/* Pulses of programming; of erasing ten times as many (SLAS826, device descriptors; recalled). */
#define PULSES_MAX 5

static uint16_t word(const uint16_t *at) {
    return *(const volatile uint16_t *)at;
}

static uint32_t sector_bit(const uint16_t *at) {
    return UINT32_C(1) << (((uintptr_t)at - BANK1) / SECTOR_BYTES);
}

/* One pulse for 1, 2 or 8 words of `value`s; whether they are what they should be. */
static bool pulse(uint16_t *at, const uint32_t *value, uint16_t count) {
    volatile uint32_t *wide = (volatile uint32_t *)(void *)at;
    FLCTL_CLRIFG = IFG_PRG;
    FLCTL_PRG_CTLSTAT = PRG_VERIFIED | PRG_ENABLE | (count == 8 ? PRG_FULL_WORD : 0);
    if (count == 1) {
        *(volatile uint16_t *)at = (uint16_t)*value;
    } else {
        wide[0] = value[0];
        if (count == 8) {
            wide[1] = value[1];
            wide[2] = value[2];
            wide[3] = value[3];
        }
    }
    while ((FLCTL_IFG & IFG_PRG) == 0) {
    }
    FLCTL_PRG_CTLSTAT = PRG_VERIFIED;
    if (count == 1) {
        return (word(at) & ~*value) == 0;
    }
    uint32_t missed = wide[0] & ~value[0];
    if (count == 8) {
        missed |= (wide[1] & ~value[1]) | (wide[2] & ~value[2]) | (wide[3] & ~value[3]);
    }
    return missed == 0;
}

/* A pulse takes the same time for 16, 32 and 128 bits: as many words at once as their address
 * lets. */
static int program(uint16_t *at, const uint16_t *from, uint16_t words) {
    int status = 0;
    uint32_t value[4] = {0};
    FLCTL_BANK1_MAIN_WEPROT &= ~sector_bit(at);
    while (words > 0) {
        const uint16_t count = words >= 8 && (uintptr_t)at % 16 == 0  ? 8
                               : words >= 2 && (uintptr_t)at % 4 == 0 ? 2
                                                                      : 1;
        if (from != NULL) {
            for (uint16_t i = 0; i < count; i++) {
                ((uint16_t *)value)[i] = *from++;
            }
        }
        uint8_t pulses = 0;
        bool done;
        do {
            done = pulse(at, value, count);
        } while (++pulses < PULSES_MAX && !done);
        status |= !done;
        at += count;
        words = (uint16_t)(words - count);
    }
    FLCTL_BANK1_MAIN_WEPROT = UINT32_MAX;
    return status;
}

static bool is_erased(const uint16_t *block) {
    for (uint16_t i = 0; i < SECTOR_BYTES / 2; i++) {
        if (word(block + i) != 0xFFFF) {
            return false;
        }
    }
    return true;
}

static int erase(uint16_t *block) {
    bool good = false;
    FLCTL_BANK1_MAIN_WEPROT &= ~sector_bit(block);
    for (uint8_t pulses = 0; pulses < 10 * PULSES_MAX && !good; pulses++) {
        FLCTL_CLRIFG = IFG_ERASE;
        FLCTL_ERASE_SECTADDR = (uint32_t)(uintptr_t)block;
        FLCTL_ERASE_CTLSTAT = ERASE_START;
        while ((FLCTL_IFG & IFG_ERASE) == 0) {
        }
        FLCTL_ERASE_CTLSTAT = ERASE_CLR_STAT;
        good = is_erased(block);
    }
    FLCTL_BANK1_MAIN_WEPROT = UINT32_MAX;
    return good ? 0 : 1;
}

const struct sunseal_coupon_flash_driver sunseal_coupon_flash_msp432p401r = {word, program, erase};
