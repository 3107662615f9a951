/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The DCO by its external resistor, set against the watch crystal: SLAU049, basic clock module and
 * Timer_A. Upwards in steps that are surely too small, so that it is never too fast.
 */
#include "duty.h"

#define DCOCTL (*(volatile uint8_t *)0x0056)
#define BCSCTL1 (*(volatile uint8_t *)0x0057)
#define BCSCTL2 (*(volatile uint8_t *)0x0058)
#define TACTL (*(volatile uint16_t *)0x0160)
#define TACCTL2 (*(volatile uint16_t *)0x0166)
#define TACCR2 (*(volatile uint16_t *)0x0176)

#define XT2OFF 0x80
#define DIVA_8 0x30
#define DCOR 0x01
#define RSEL_MAX 7
#define DCO_MAX 7
#define MOD_MAX 31
#define SMCLK_CONTINUOUS 0x0224 /* TASSEL_2 | MC_2 | TACLR */
#define ACLK_RISING 0x5100      /* CM_1 | CCIS_1 (CCI2B, ACLK) | CAP */
#define CCIFG 0x0001

/* SLAS368, DCO: neighbouring ranges at most 1.73 apart (typical figures), taps at most 1.16. */
#define RANGE_PERCENT 180
#define TAP_PERCENT 116

static uint16_t edge(void) {
    TACCTL2 = ACLK_RISING;
    while ((TACCTL2 & CCIFG) == 0) {
    }
    return TACCR2;
}

/* DCO periods in one of ACLK / 8. */
static uint16_t measured(uint8_t range, uint8_t tap, uint8_t mod) {
    BCSCTL1 = (uint8_t)(XT2OFF | DIVA_8 | range);
    DCOCTL = (uint8_t)(tap << 5 | mod);
    edge();
    uint16_t from = edge();
    return (uint16_t)(edge() - from);
}

static int reaches(uint16_t periods, uint8_t percent, uint16_t wanted) {
    return (uint32_t)periods * percent <= (uint32_t)wanted * 100;
}

void duty_begin(uint16_t mclk_khz) {
    uint16_t wanted = (uint16_t)((uint32_t)mclk_khz * 1000 / (32768 / 8));
    uint8_t range = 0, tap = 0, mod = 0;
    BCSCTL2 = DCOR;
    TACTL = SMCLK_CONTINUOUS;
    while (range < RSEL_MAX && reaches(measured(range, 0, 0), RANGE_PERCENT, wanted))
        range++;
    while (tap < DCO_MAX && reaches(measured(range, tap, 0), TAP_PERCENT, wanted))
        tap++;
    /* A step of the modulator is a third of a percent; behind its last comes the next tap. */
    while (tap < DCO_MAX) {
        uint8_t next = mod == MOD_MAX ? 0 : (uint8_t)(mod + 1);
        if (measured(range, (uint8_t)(tap + (next == 0)), next) > wanted)
            break;
        tap = (uint8_t)(tap + (next == 0));
        mod = next;
    }
    DCOCTL = (uint8_t)(tap << 5 | mod);
    BCSCTL1 = (uint8_t)(XT2OFF | range);
    TACTL = 0;
    TACCTL2 = 0;
}
