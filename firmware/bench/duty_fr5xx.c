/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The DCO's trimmed frequencies and the watch crystal (SLAU367, CS), and the CC2500 of the board
 * that has one, which wakes by itself, to sleep over eUSCI_B1 (SLAU367, eUSCI in SPI mode).
 * DUTY_AT_ONCE: of a program that never pauses and so waits for no crystal.
 */
#include "chip.h"
#include "duty.h"

#define LFXT_DCO_DCO 0x0033
#define LFXT_ON 0xCDC8 /* as after reset, without LFXTOFF */
#define LFXT_PINS 0x0030

#if defined(SUNSEAL_RADIO)
#define SOMI 0x02
#define CSN 0x08
#define SPI_PINS 0x07
#define SPI_MASTER 0xA980 /* UCCKPH | UCMSB | UCMST | UCSYNC | UCSSEL__SMCLK */
#define CC2500_SPWD 0x39  /* SWRS040, command strobes */

static void radio_to_sleep(void) {
    P5OUT |= CSN;
    P5DIR |= CSN;
    UCB1CTLW0 = SPI_MASTER | UCSWRST;
    UCB1BRW = 1;
    P5SEL0 |= SPI_PINS;
    UCB1CTLW0 = SPI_MASTER;
    P5OUT &= (uint8_t)~CSN;
    while (P5IN & SOMI) {
    }
    UCB1TXBUF = CC2500_SPWD;
    while ((UCB1IFG & UCRXIFG) == 0) {
    }
    (void)UCB1RXBUF;
    P5OUT |= CSN;
}
#else
static void radio_to_sleep(void) {}
#endif

/* SLASE54, DCO: DCORSEL and DCOFSEL << 1 by frequency. */
static const struct {
    uint16_t khz, setting;
} taps[] = {{16000, DCORSEL | 4 << 1},
            {8000, 6 << 1},
            {7000, 5 << 1},
            {5333, 4 << 1},
            {4000, 3 << 1},
            {3500, 2 << 1},
            {2667, 1 << 1},
            {0, 0}};

void duty_begin(uint16_t mclk_khz) {
    radio_to_sleep();
    PJSEL0 |= LFXT_PINS;
    CSCTL0 = CSKEY;
    CSCTL1 = 0; /* 1 MHz while the crystal starts */
    CSCTL3 = 0;
    CSCTL4 = LFXT_ON;
    CSCTL2 = LFXT_DCO_DCO;
#if !defined(DUTY_AT_ONCE)
    do
        CSCTL5 &= (uint16_t)~LFXTOFFG;
    while (CSCTL5 & LFXTOFFG);
#endif
    uint16_t i = 0;
    while (taps[i].khz > mclk_khz)
        i++;
    CSCTL1 = taps[i].setting;
    CSCTL0_H = 0; /* a byte that is no key locks; a word would reset */
}
