/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hal.h on the MSP430F5xx family.
 *
 * Clocks. MCLK and SMCLK come from the DCO, which the FLL holds at a multiple of
 * REFO (32768 Hz, 3.5 % at most off over temperature). ACLK comes from the VLO:
 * it sleeps in LPM3 with about 3 uA less than REFO would (SLAS655, I(REFO)), and
 * at night the store has to carry that. The VLO may be anywhere from 6 to 14 kHz
 * and drifts with temperature, so its frequency is measured against the DCO each
 * time that entropy is taken from it: the same captures serve both.
 */
#include "hal.h"

#include "board.h"

#define REFO_HZ 32768UL

/* The radio is on USCI_B0, the log on USCI_A1. */
#define RADIO_TXBUF UCB0TXBUF
#define RADIO_RXBUF UCB0RXBUF
#define RADIO_SPI_IFG UCB0IFG
#define LOG_TXBUF UCA1TXBUF
#define LOG_IFG UCA1IFG
#define LOG_BUSY (UCA1STAT & UCBUSY)

#include "msp430/shared.inc"

/* Core voltage: SLAU208, PMM chapter, "Increasing VCORE". One level at a time,
 * the monitors ahead of the core. */

static void raise_vcore(uint16_t level) {
    PMMCTL0_H = PMMPW_H;
    /* High side up first, so that a falling supply is still caught. */
    SVSMHCTL = (uint16_t)(SVSHE | SVMHE | SVSHRVL0 * level | SVSMHRRL0 * level);
    SVSMLCTL = (uint16_t)(SVSLE | SVMLE | SVSMLRRL0 * level);
    while ((PMMIFG & SVSMLDLYIFG) == 0) {
    }
    PMMIFG &= (uint16_t)~(SVMLVLRIFG | SVMLIFG);
    PMMCTL0_L = (uint8_t)level;
    if (PMMIFG & SVMLIFG) {
        while ((PMMIFG & SVMLVLRIFG) == 0) {
        }
    }
    SVSMLCTL = (uint16_t)(SVSLE | SVMLE | SVSLRVL0 * level | SVSMLRRL0 * level);
    PMMCTL0_H = 0;
}

/* SLAS655, recommended operating conditions: highest MCLK of each level. */
static uint16_t vcore_for(uint16_t mclk_khz) {
    if (mclk_khz <= 8000)
        return 0;
    if (mclk_khz <= 12000)
        return 1;
    if (mclk_khz <= 20000)
        return 2;
    return 3;
}

static uint32_t smclk_hz(void) {
    return (uint32_t)(UCSCTL2 & 0x03FF) * REFO_HZ + REFO_HZ;
}

/* DCOCLK = 2 x DCOCLKDIV (FLLD = 2). Each range is entered well above what its
 * slowest tap may reach and left below its highest (SLAS655, f(DCO)). */
static uint16_t dco_range(uint16_t dco_khz) {
    static const uint16_t below_khz[] = {630, 1250, 2500, 5000, 10000, 20000, 38000};
    uint16_t range = 0;
    while (range < 7 && dco_khz > below_khz[range])
        range++;
    return range;
}

#define MCLK_KHZ_RESET 1048 /* 32 x REFO, which the FLL holds after a reset */

void hal_init(void) {
    mclk_khz_now = MCLK_KHZ_RESET;
    watchdog_asleep();
    board_pins_init();
    UCSCTL3 = SELREF__REFOCLK;
    UCSCTL4 = SELA__VLOCLK | SELS__DCOCLKDIV | SELM__DCOCLKDIV;
    uptime_start();
}

uint16_t hal_reset_cause(void) {
    return SYSRSTIV; /* reading clears the flag of this cause */
}

/* The FLL settles within 32 x 32 periods of its reference (SLAU208, UCS), 448 of the fastest VLO.
 */
#define SETTLE_VLO_PERIODS 448 /* check: ceil(1024 / 32768 * 14000) */

void hal_clock(uint16_t mclk_khz) {
    uint16_t multiplier = (uint16_t)((mclk_khz * 1000UL) / REFO_HZ);
    for (uint16_t level = 1; level <= vcore_for(mclk_khz); level++)
        raise_vcore(level);
    __asm__ volatile("bis %0, sr\n\tnop" ::"i"(SCG0) : "memory"); /* FLL off while it is set up */
    UCSCTL0 = 0; /* from the slowest tap upwards: never too fast */
    UCSCTL1 = (uint16_t)(dco_range((uint16_t)(2 * mclk_khz)) << DCORSEL_SHIFT);
    UCSCTL2 = (uint16_t)(1U << FLLD_SHIFT | (multiplier - 1));
    __asm__ volatile("bic %0, sr\n\tnop" ::"i"(SCG0) : "memory");
    mclk_khz_now = mclk_khz;
    alarm_set(SETTLE_VLO_PERIODS, false);
    wait_for(EVENT_ALARM, true);
    alarm_clear();
    do {
        UCSCTL7 = 0;
        SFRIFG1 &= (uint16_t)~OFIFG;
    } while (SFRIFG1 & OFIFG);
    hal_watchdog_kick();
    hal_spi_init();
}

/* Storage voltage */

#define ADC12_FLAGS ADC12IFG
#include "msp430/adc12.inc"

static uint16_t convert(uint8_t channel) {
    ADC12CTL0 = ADC12SHT0_8 | ADC12ON;
    ADC12CTL1 = ADC12SHP | ADC12SSEL_0;
    ADC12CTL2 = ADC12RES_2;
    ADC12MCTL0 = (uint8_t)(ADC12SREF_1 | channel);
    return sum_of_four();
}

#define FULL_SCALE (4 * 4095UL)
#define REFERENCE (REFMSTR | REFVSEL_2)
#define REFERENCE_OFF REFMSTR
#define STORAGE_OUT P6OUT
#define STORAGE_CHANNEL ADC12INCH_0
#define SENSOR_CHANNEL ADC12INCH_10
/* 680 mV at 0 degrees, 2.25 mV a degree, uncalibrated (SLAS655, ADC temperature sensor). */
#define CENTIDEGREES(tenth_mv) (((tenth_mv) - 6800) * 40 / 9)
#include "storage.inc"

/* SPI on USCI_B0 */

#define SPI_HZ_MAX 6500000UL /* CC2500: burst access (SWRS040, SPI timing) */

void hal_spi_init(void) {
    uint16_t divider = 1;
    while ((uint32_t)divider * SPI_HZ_MAX < smclk_hz())
        divider++;
    UCB0CTL1 = UCSWRST;
    UCB0CTL0 = UCCKPH | UCMSB | UCMST | UCSYNC; /* SCLK rests low, data valid at its rising edge */
    UCB0CTL1 = UCSSEL__SMCLK | UCSWRST;
    UCB0BR0 = (uint8_t)divider;
    UCB0BR1 = 0;
    P3SEL |= BOARD_RADIO_SIMO | BOARD_RADIO_SOMI | BOARD_RADIO_SCLK;
    UCB0CTL1 = UCSSEL__SMCLK;
    P1DIR &= (uint8_t)~(BOARD_RADIO_GDO0 | BOARD_RADIO_GDO2);
    P1IES |= BOARD_RADIO_GDO0;
}

/* Information flash */

#include "msp430/segments.inc"

#define FLASH_KEY FWPW
#define FLASH_CLOCK()
#define PROGRAM static inline __attribute__((always_inline))
#include "msp430/flash.inc"

#define LOG_BAUD 115200UL

void hal_log_init(void) {
    uint32_t hz = smclk_hz();
    uint16_t divider = (uint16_t)(hz / LOG_BAUD);
    UCA1CTL1 = UCSWRST;
    UCA1CTL0 = 0;
    UCA1CTL1 = UCSSEL__SMCLK | UCSWRST;
    UCA1BR0 = (uint8_t)divider;
    UCA1BR1 = (uint8_t)(divider >> 8);
    /* UCBRSx = eighths of a bit clock left over. */
    UCA1MCTL = (uint8_t)((hz % LOG_BAUD * 8 / LOG_BAUD) << 1);
    P5SEL |= BOARD_LOG_TXD;
    UCA1CTL1 = UCSSEL__SMCLK;
    log_on = true;
}
