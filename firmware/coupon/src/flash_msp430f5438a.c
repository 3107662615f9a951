/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The flash controller of the MSP430F5438A, run from flash: the CPU is held meanwhile. Segment A of
 * information flash stays locked. */
#include "coupon.h"

/* SLAU208, flash memory controller */
#define FCTL1 (*(volatile uint16_t *)0x0140)
#define FCTL3 (*(volatile uint16_t *)0x0144)
#define FWPW 0xA500
#define ERASE 0x0002
#define WRT 0x0040
#define BUSY 0x0001
#define LOCK 0x0010

static uint16_t word(const uint16_t *at) {
    return *(const volatile uint16_t *)at;
}

static int program(uint16_t *at, const uint16_t *from, uint16_t words) {
    volatile uint16_t *to = at;
    FCTL3 = FWPW;
    FCTL1 = FWPW | WRT;
    for (; words > 0; words--) {
        *to++ = from == NULL ? 0 : *from++;
        while (FCTL3 & BUSY) {
        }
    }
    FCTL1 = FWPW;
    FCTL3 = FWPW | LOCK;
    return 0;
}

static int erase(uint16_t *block) {
    FCTL3 = FWPW;
    FCTL1 = FWPW | ERASE;
    *(volatile uint16_t *)block = 0; /* any write starts it */
    while (FCTL3 & BUSY) {
    }
    FCTL1 = FWPW;
    FCTL3 = FWPW | LOCK;
    return 0;
}

const struct sunseal_coupon_flash_driver sunseal_coupon_flash_msp430f5438a = {word, program, erase};
