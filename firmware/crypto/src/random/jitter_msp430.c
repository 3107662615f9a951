/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "../buffers.h"
#include "sunseal/random.h"

/*
 * ACLK's rising edges capture Timer_B, which counts SMCLK: one of the timer's blocks has ACLK for
 * its input B, the last one of MSP430F5438A and F1611, the third of the FRAM parts (SLASE54D table
 * 9-17, SLAS704G table 6-17). SLAU208 and SLAU367 (Timer_B, UCS, CS), SLAU049 (Timer_B, basic
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
#ifdef SUNSEAL_FRAM
#define BLOCK 2
#else
#define BLOCK 6
#endif
#define TBCCTL REGISTER16(TIMER_B + 0x02 + 2 * BLOCK)
#define TBCCR REGISTER16(TIMER_B + 0x12 + 2 * BLOCK)

#define TBSSEL_SMCLK 0x0200
#define MC_CONTINUOUS 0x0020
#define TBCLR 0x0004
#define TBIFG 0x0001
#define CM_RISING 0x4000
#define CCIS_B 0x1000
#define SCS 0x0800
#define COV 0x0002
#define CAP 0x0100
#define CCIFG 0x0001

/* The DCO at its lowest fraction of a tap, or some steps down, and back: never faster than it was.
 */
#if defined(SUNSEAL_DEVICE_msp430f1611)
#define DCOCTL REGISTER8(0x0056)
#define MOD 0x1F
static uint16_t dco_read(void) {
    return DCOCTL;
}
static void dco_write(uint16_t value) {
    DCOCTL = (uint8_t)value;
}
static uint16_t dco_shifted(uint16_t value, uint8_t step) {
    return step & 1 ? value & (uint16_t)~MOD : value;
}
#elif defined(SUNSEAL_FRAM)
#define CSCTL0_H REGISTER8(0x0161)
#define CSCTL1 REGISTER16(0x0162)
#define CSCTL3 REGISTER16(0x0166)
#define DIVA 0x0700
#define DIVS_4 0x0020
#define DIVM_4 0x0002
#define CSKEY_H 0xA5
#define DCOFSEL 0x000E
#define DCOFSEL_1 0x0002
static uint16_t dco_read(void) {
    return CSCTL1;
}
/* For about 10 us behind the change the DCO overshoots, and FRAM might be read too fast: SMCLK and
 * MCLK are divided by 4 meanwhile (erratum CS12, SLAZ683L). 60 cycles are 10 us of 24 MHz by 4. */
static void dco_write(uint16_t value) {
    CSCTL0_H = CSKEY_H;
    uint16_t dividers = CSCTL3;
    CSCTL3 = (uint16_t)((dividers & DIVA) | DIVS_4 | DIVM_4);
    CSCTL1 = value;
    for (uint8_t rounds = 20; rounds > 0; rounds--) {
        __asm__ volatile(""); /* 3 cycles or more each */
    }
    CSCTL3 = dividers;
    CSCTL0_H = 0;
}
static uint16_t dco_shifted(uint16_t value, uint8_t step) {
    uint16_t down = (uint16_t)(step * DCOFSEL_1);
    return (value & DCOFSEL) >= down ? value - down : value;
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
static uint16_t dco_shifted(uint16_t value, uint8_t step) {
    return step & 1 ? value & (uint16_t)~MOD : value;
}
#endif

#define CAPTURE (CM_RISING | CCIS_B | SCS | CAP)

/* Waits for an edge, or takes the one that came meanwhile; not alone where there were more than
 * that one. Where the timer has gone round twice without an edge, ACLK stands. */
static inline int edge(uint16_t *at, bool *alone) {
    uint8_t rounds = 0;
    while ((TBCCTL & CCIFG) == 0) {
        if (TBCTL & TBIFG) {
            TBCTL &= (uint16_t)~TBIFG;
            if (++rounds == 2) {
                return SUNSEAL_ERR_ENTROPY;
            }
        }
    }
    *at = TBCCR;
    *alone = (TBCCTL & COV) == 0;
    TBCCTL = CAPTURE;
    return SUNSEAL_OK;
}

static int start(struct sunseal_jitter *jitter) {
    bool alone;
    jitter->dco = dco_read();
    jitter->step = 0;
    jitter->taken = 0;
    jitter->runs = 1;
    TBCTL = TBSSEL_SMCLK | MC_CONTINUOUS | TBCLR;
    TBCCTL = CAPTURE;
    return edge(&jitter->before, &alone);
}

static void stop(struct sunseal_jitter *jitter) {
    if (jitter->runs && jitter->shift) {
        dco_write(jitter->dco);
    }
    jitter->runs = 0;
    TBCCTL = 0;
    TBCTL = 0;
}

int sunseal_jitter_read(void *context, uint8_t *samples, size_t count) {
    struct sunseal_jitter *jitter = context;
    SUNSEAL_REQUIRE_APART(samples, count, jitter, sizeof *jitter);
    if (count == 0) {
        stop(jitter);
        return SUNSEAL_OK;
    }
    int status = jitter->runs ? SUNSEAL_OK : start(jitter);
    while (count > 0 && status == SUNSEAL_OK) {
        uint16_t before;
        bool alone, whole = true;
        if (jitter->shift && jitter->taken++ == jitter->shift) {
            jitter->taken = 1;
            jitter->step = (jitter->step + 1) & (SUNSEAL_JITTER_CLOCKS - 1);
            dco_write(dco_shifted(jitter->dco, jitter->step));
            /* Where in this period the clock changed is the polling's doing, and looks like noise.
             */
            whole = false;
        }
        do {
            before = jitter->before;
            status = edge(&jitter->before, &alone);
            alone &= whole;
            whole = true;
        } while (status == SUNSEAL_OK && !alone);
        if (status == SUNSEAL_OK) {
            *samples++ = (uint8_t)(jitter->before - before);
            count--;
        }
    }
    if (status != SUNSEAL_OK) {
        stop(jitter);
        memset(samples, 0, count);
    }
    return status;
}
