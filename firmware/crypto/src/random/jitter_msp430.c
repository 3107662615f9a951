/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "../buffers.h"
#include "sunseal/random.h"

/*
 * ACLK's rising edges capture Timer_B, which counts SMCLK: on all three parts the timer's last
 * block has ACLK for its input B. SLAU208 and SLAU367 (Timer_B, UCS, CS), SLAU049 (Timer_B, basic
 * clock).
 */

#define REGISTER16(address) (*(volatile uint16_t *)(address))
#define REGISTER8(address) (*(volatile uint8_t *)(address))

#ifdef SUNSEAL_DEVICE_msp430f1611
#define TIMER_B 0x0180
#else
#define TIMER_B 0x03C0
#endif
#define TBCTL REGISTER16(TIMER_B)
#define TBCCTL6 REGISTER16(TIMER_B + 0x0E)
#define TBCCR6 REGISTER16(TIMER_B + 0x1E)

#define TBSSEL_SMCLK 0x0200
#define MC_CONTINUOUS 0x0020
#define TBCLR 0x0004
#define TBIFG 0x0001
#define CM_RISING 0x4000
#define CCIS_B 0x1000
#define SCS 0x0800
#define CAP 0x0100
#define CCIFG 0x0001

/* The DCO at its lowest fraction of a tap, or a step down, and back: never faster than it was. */
#if defined(SUNSEAL_DEVICE_msp430f1611)
#define DCOCTL REGISTER8(0x0056)
#define MOD 0x1F
static uint16_t dco_read(void) {
    return DCOCTL;
}
static void dco_write(uint16_t value) {
    DCOCTL = (uint8_t)value;
}
static uint16_t dco_shifted(uint16_t value) {
    return value & (uint16_t)~MOD;
}
#elif defined(SUNSEAL_FRAM)
#define CSCTL0_H REGISTER8(0x0161)
#define CSCTL1 REGISTER16(0x0162)
#define CSKEY_H 0xA5
#define DCOFSEL 0x000E
#define DCOFSEL_1 0x0002
static uint16_t dco_read(void) {
    return CSCTL1;
}
static void dco_write(uint16_t value) {
    CSCTL0_H = CSKEY_H;
    CSCTL1 = value;
    CSCTL0_H = 0;
}
static uint16_t dco_shifted(uint16_t value) {
    return (value & DCOFSEL) != 0 ? value - DCOFSEL_1 : value;
}
#else
#define UCSCTL0 REGISTER16(0x0160)
#define MOD 0x00F8
static uint16_t dco_read(void) {
    return UCSCTL0;
}
static void dco_write(uint16_t value) {
    UCSCTL0 = value;
}
static uint16_t dco_shifted(uint16_t value) {
    return value & (uint16_t)~MOD;
}
#endif

/* Where the timer has gone round twice without an edge, ACLK stands. */
static int edge(uint16_t *at) {
    uint8_t rounds = 0;
    TBCCTL6 = CM_RISING | CCIS_B | SCS | CAP;
    while ((TBCCTL6 & CCIFG) == 0) {
        if (TBCTL & TBIFG) {
            TBCTL &= (uint16_t)~TBIFG;
            if (++rounds == 2) {
                return SUNSEAL_ERR_ENTROPY;
            }
        }
    }
    *at = TBCCR6;
    return SUNSEAL_OK;
}

int sunseal_jitter_read(void *context, uint8_t *samples, size_t count) {
    const struct sunseal_jitter *jitter = context;
    SUNSEAL_REQUIRE_APART(samples, count, jitter, sizeof *jitter);
    uint16_t before = 0, now = 0, dco = dco_read();
    TBCTL = TBSSEL_SMCLK | MC_CONTINUOUS | TBCLR;
    int status = edge(&before);
    for (size_t i = 0; i < count; i++) {
        if (jitter->shift) {
            dco_write(i & 1 ? dco : dco_shifted(dco));
        }
        if (status == SUNSEAL_OK) {
            status = edge(&now);
        }
        samples[i] = status == SUNSEAL_OK ? (uint8_t)(now - before) : 0;
        before = now;
    }
    if (jitter->shift) {
        dco_write(dco);
    }
    TBCCTL6 = 0;
    TBCTL = 0;
    return status;
}
