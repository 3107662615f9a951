/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The DCO tuned by the constants of the chip's descriptors (SLAU356, CS, "DCO frequency
 * calibration"), the watch crystal, and LPM3 with RTC_C, which runs on in it: timers do not. The
 * board's CC2500, which wakes by itself, is put to sleep over eUSCI_B0.
 */
#include "duty_armv7em.h"

#include "board.h"
#include "msp432/dco.inc"

#define LFXT_DCO_DCO 0x00000033 /* ACLK, BCLK from LFXT; SMCLK, HSMCLK, MCLK from the DCO */
#define PCM_KEY 0x695A0000u
#define AM_LDO_VCORE1 1u

#define RTCTEVIE 0x40
#define EVERY_MINUTE 0

#define SPI_MASTER (UCCKPH | UCMSB | UCMST | UCSYNC | UCSSEL__SMCLK)
#define CC2500_SPWD 0x39 /* SWRS040, command strobes */

static void radio_to_sleep(void) {
    P3OUT |= BOARD_RADIO_CSN;
    P3DIR |= BOARD_RADIO_CSN;
    UCB0CTLW0 = SPI_MASTER | UCSWRST;
    UCB0BRW = 1;
    P1SEL0 |= BOARD_RADIO_SCLK | BOARD_RADIO_SIMO | BOARD_RADIO_SOMI;
    UCB0CTLW0 = SPI_MASTER;
    P3OUT &= (uint8_t)~BOARD_RADIO_CSN;
    while (P1IN & BOARD_RADIO_SOMI) {
    }
    UCB0TXBUF = CC2500_SPWD;
    while ((UCB0IFG & UCRXIFG) == 0) {
    }
    (void)UCB0RXBUF;
    P3OUT |= BOARD_RADIO_CSN;
}

volatile uint16_t duty_fired;

/* RTC_C fires where a minute begins. At the beginning of a period that is no whole minutes its
 * clock is put forward, so that the first firing ends the seconds beyond them. Should the write
 * restart the prescalers, they have just begun, and the period is longer by the handler's way to
 * it. */
static uint8_t begins_at_s;
static uint16_t parts, part;

void sunseal_isr_45(void);
void sunseal_isr_45(void) {
    RTCCTL0 = RTC_KEY | RTCTEVIE;
    if (begins_at_s != 0 && ++part == parts) {
        part = 0;
        RTCTIM0 = begins_at_s;
    }
    (void)RTCCTL0; /* the write has arrived */
    duty_fired++;
}

void duty_begin(uint16_t mclk_khz) {
    radio_to_sleep();
    CSKEY = CS_UNLOCK;
    PJSEL0 |= LFXT_PINS;
    CSCTL2 |= LFXT_EN;
    do
        CSCLRIFG = LFXTIFG;
    while (CSIFG & LFXTIFG);
    if (mclk_khz > 24000) {
        PCMCTL0 = PCM_KEY | AM_LDO_VCORE1;
        while (PCMCTL1 & PMR_BUSY) {
        }
    }
    CSCTL0 = dco_setting(mclk_khz);
    CSCTL1 = LFXT_DCO_DCO;
    CSKEY = 0;
}

uint16_t duty_timer(uint32_t period_s) {
    const uint8_t seconds = (uint8_t)(period_s % 60);
    begins_at_s = seconds != 0 ? 60 - seconds : 0;
    parts = (uint16_t)(period_s / 60 + (seconds != 0));
    RTCCTL0 = RTC_KEY;
    RTCCTL13 = RTCHOLD;
    RTCTIM0 = begins_at_s;
    RTCCTL0 = RTC_KEY | RTCTEVIE;
    RTCCTL13 = EVERY_MINUTE;
    NVIC_ISER0 = NVIC_RTC_C;
    SCR |= SLEEPDEEP;
    return parts;
}

void duty_sleep(uint16_t seen) {
    sleep_until_fired(seen);
}
