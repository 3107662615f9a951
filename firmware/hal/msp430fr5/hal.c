/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hal.h on the MSP430FR5xx family.
 *
 * Clocks. MCLK and SMCLK come from the DCO at one of its trimmed frequencies, the highest that is
 * not above what is asked for; ACLK from the VLO, as in hal/msp430f5: its jitter is the entropy.
 *
 * Information memory is FRAM. It is used as flash is, so that node/ has one kind of memory: an
 * erase sets words to 0xFFFF, a write only clears bits. A word is written whole or not at all.
 */
#include "hal.h"

#include "board.h"

/* The radio is on eUSCI_B1, the log on eUSCI_A0. */
#define RADIO_TXBUF UCB1TXBUF
#define RADIO_RXBUF (uint8_t)UCB1RXBUF
#define RADIO_SPI_IFG UCB1IFG
#define LOG_TXBUF UCA0TXBUF
#define LOG_IFG UCA0IFG
#define LOG_BUSY (UCA0STATW & UCBUSY)

#include "msp430/shared.inc"

/* SLASE54, DCO: DCORSEL and DCOFSEL by frequency. */
static const struct {
    uint16_t khz, setting;
} taps[] = {{16000, DCORSEL | 4 << DCOFSEL_SHIFT},
            {8000, 6 << DCOFSEL_SHIFT},
            {7000, 5 << DCOFSEL_SHIFT},
            {5333, 4 << DCOFSEL_SHIFT},
            {4000, 3 << DCOFSEL_SHIFT},
            {3500, 2 << DCOFSEL_SHIFT},
            {2667, 1 << DCOFSEL_SHIFT},
            {1000, 0}};

#define FRAM_KHZ_MAX 8000 /* above it, one wait state (SLASE54, "Wait States") */

static uint32_t smclk_hz(void) {
    return mclk_khz_now * UINT32_C(1000);
}

/* Divided by 4 for 10 us, since the DCO overshoots when its frequency changes (erratum CS12). */
static void dco(uint16_t setting) {
    CSCTL0 = CSKEY;
    CSCTL2 = SELA__VLOCLK | SELS__DCOCLK | SELM__DCOCLK;
    CSCTL3 = DIVS__4 | DIVM__4;
    CSCTL1 = setting;
    for (volatile uint8_t at_most_4_mhz = 0; at_most_4_mhz < 10; at_most_4_mhz++) {
    }
    CSCTL3 = 0; /* nothing divided */
    CSCTL0_H = 0;
}

void hal_init(void) {
    mclk_khz_now = 1000;
    watchdog_asleep();
    board_pins_init();
    PM5CTL0 &= (uint16_t)~LOCKLPM5;
    dco(0);
    uptime_start();
}

uint16_t hal_reset_cause(void) {
    return SYSRSTIV; /* reading clears the flag of this cause */
}

void hal_clock(uint16_t mclk_khz) {
    uint8_t i = 0;
    while (taps[i].khz > mclk_khz)
        i++;
    if (taps[i].khz > FRAM_KHZ_MAX)
        FRCTL0 = FRCTLPW | NWAITS_1;
    dco(taps[i].setting);
    mclk_khz_now = taps[i].khz;
    hal_watchdog_kick();
    hal_spi_init();
}

/* Storage voltage */

#define ADC12_FLAGS ADC12IFGR0
#include "msp430/adc12.inc"

static uint16_t convert(uint16_t channel) {
    ADC12CTL0 = ADC12SHT0_8 | ADC12ON;
    ADC12CTL1 = ADC12SHP | ADC12SSEL_0;
    ADC12CTL2 = ADC12RES__12BIT;
    ADC12CTL3 = ADC12TCMAP;
    ADC12MCTL0 = (uint16_t)(ADC12VRSEL_1 | channel);
    return sum_of_four();
}

#define FULL_SCALE (4 * 4095UL)
#define REFERENCE REFVSEL_2
#define REFERENCE_OFF 0
#define STORAGE_OUT P1OUT
#define STORAGE_CHANNEL BOARD_STORAGE_CHANNEL
#define SENSOR_CHANNEL ADC12INCH_30
/* 700 mV at 0 degrees, 2.5 mV a degree, uncalibrated (SLASE54, ADC12_B temperature sensor). */
#define CENTIDEGREES(tenth_mv) (((tenth_mv) - 7000) * 4)
#include "storage.inc"

/* SPI on eUSCI_B1 */

#define SPI_HZ_MAX 6500000UL /* CC2500: burst access (SWRS040, SPI timing) */
#define SPI_MASTER (UCCKPH | UCMSB | UCMST | UCSYNC | UCSSEL__SMCLK)

void hal_spi_init(void) {
    uint16_t divider = 1;
    while ((uint32_t)divider * SPI_HZ_MAX < smclk_hz())
        divider++;
    UCB1CTLW0 = SPI_MASTER | UCSWRST; /* SCLK rests low, data valid at its rising edge */
    UCB1BRW = divider;
    P5SEL0 |= BOARD_RADIO_SIMO | BOARD_RADIO_SOMI | BOARD_RADIO_SCLK;
    UCB1CTLW0 = SPI_MASTER;
    P6IES |= BOARD_RADIO_GDO0;
}

/* Information memory */

#include "msp430/segments.inc"

void hal_flash_erase(enum hal_segment segment) {
    if (segment == HAL_SEGMENT_A)
        return; /* the configuration */
    for (uint8_t i = 0; i < HAL_SEGMENT_BYTES / 2; i++)
        segment_address(segment)[i] = 0xFFFF;
}

void hal_flash_write(enum hal_segment segment, uint16_t word_index, uint16_t value) {
    segment_address(segment)[word_index] &= value;
}

/* Log */

#define LOG_SELECT P2SEL1
#include "log_eusci.inc"
