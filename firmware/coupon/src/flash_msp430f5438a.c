/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The flash controller of the MSP430F5438A, run from flash: the CPU is held meanwhile. Segment A of
 * information flash stays locked. */
#include "chip.h"
#include "coupon.h"

static uint16_t word(const uint16_t *at) {
    return *(const volatile uint16_t *)at;
}

static volatile uint16_t *one(volatile uint16_t *to, uint16_t value) {
    FCTL1 = FWPW | WRT;
    *to++ = value;
    while (FCTL3 & BUSY) {
    }
    return to;
}

/* Two words take the time of one where they begin at an address divisible by 4. */
static int program(uint16_t *at, const uint16_t *from, uint16_t words) {
    static const uint16_t zero = 0;
    const uint8_t step = from == NULL ? 0 : 1;
    volatile uint16_t *to = at;
    from = step == 0 ? &zero : from;
    FCTL3 = FWPW;
    if (words > 0 && (uintptr_t)to % 4 != 0) {
        to = one(to, *from);
        from += step;
        words--;
    }
    FCTL1 = FWPW | BLKWRT;
    for (; words > 1; words -= 2) {
        *to++ = *from;
        from += step;
        *to++ = *from;
        from += step;
        while (FCTL3 & BUSY) {
        }
    }
    if (words > 0) {
        one(to, *from);
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
