/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hal.h on the MSP430F1xx family.
 *
 * Clocks. ACLK is the watch crystal, MCLK and SMCLK the DCO, set against it. Timer_B counts ACLK /
 * 8 without end: the uptime; its CCR0 makes alarms.
 *
 * No watchdog: with a crystal of 32768 Hz its longest interval is a second, shorter than a
 * signature.
 *
 * The store is the battery, which is the supply: half of AVCC at the converter.
 */
#include "hal.h"

#include "board.h"
#include "dco.inc"

#define TICKS_HZ 4096 /* 32768 / 8 */

#define EVENT_ALARM 0x01 /* interrupts.S */
#define EVENT_RADIO 0x02

/* Set by interrupts.S. */
volatile uint8_t hal_events;
volatile uint16_t hal_uptime_high;

static uint16_t mclk_khz_now;
static uint32_t ticks_seen, seconds, ticks_left_over;

/* Status register */

static inline void interrupts_off(void) {
    /* DINT takes effect one instruction later. */
    __asm__ volatile("dint\n\tnop" ::: "memory");
}

static inline void interrupts_on(void) {
    __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
}

/* Enables interrupts and sleeps in one instruction, so that an event between looking and sleeping
 * still wakes. */
static inline void sleep_lpm3(void) {
    __asm__ volatile("bis %0, sr\n\tnop" ::"i"(SCG1 | SCG0 | CPUOFF | GIE) : "memory");
}

void hal_halt(void) {
    for (;;)
        __asm__ volatile("mov %0, sr\n\tnop" ::"i"(SCG1 | SCG0 | OSCOFF | CPUOFF) : "memory");
}

void hal_watchdog_kick(void) {}

#define MCLK_KHZ_RESET 1000 /* 0.8 MHz, typically: delays are rather long than short */

void hal_init(void) {
    WDTCTL = WDTPW | WDTHOLD;
    mclk_khz_now = MCLK_KHZ_RESET;
    board_pins_init();
    TBCTL = TB_UPTIME;
    interrupts_on();
}

/* The family tells no cause. */
uint16_t hal_reset_cause(void) {
    return 0;
}

void hal_clock(uint16_t mclk_khz) {
    dco_set(mclk_khz);
    mclk_khz_now = mclk_khz;
    hal_spi_init();
}

/* Time */

/* SUB and JNZ, 3 cycles a turn. */
static void spin(uint16_t turns) {
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
}

void hal_delay_us(uint16_t us) {
    /* us x kHz / 1000 cycles, 3 a turn; a little long rather than short. */
    uint32_t turns = (uint32_t)us * mclk_khz_now / 3000 + 1;
    while (turns > 0xFFFF) {
        spin(0xFFFF);
        turns -= 0xFFFF;
    }
    spin((uint16_t)turns);
}

static uint16_t now(void) {
    uint16_t low;
    /* The timer's clock is not the CPU's: read until two readings agree. */
    do
        low = TBR;
    while (low != TBR);
    return low;
}

static uint32_t ticks(void) {
    uint16_t high, low;
    do {
        high = hal_uptime_high;
        low = now();
    } while (high != hal_uptime_high);
    if ((TBCTL & TBIFG) && low < 0x8000)
        high++;
    return (uint32_t)high << 16 | low;
}

#define UPTIME_DIVIDER 1
#define UPTIME_HZ TICKS_HZ
#include "seconds.inc"

static void alarm_set(uint16_t periods) {
    interrupts_off();
    hal_events &= (uint8_t)~EVENT_ALARM;
    TBCCTL0 = 0;
    /* One more than asked for: the next may be under way. */
    TBCCR0 = (uint16_t)(now() + periods + 1);
    TBCCTL0 = CCIE;
    interrupts_on();
}

static uint8_t wait_for(uint8_t events) {
    uint8_t seen;
    interrupts_off();
    while ((seen = hal_events & events) == 0) {
        sleep_lpm3();
        interrupts_off();
    }
    hal_events &= (uint8_t)~events;
    TBCCTL0 = 0;
    interrupts_on();
    return seen;
}

#define ALARM_S_MAX 15 /* 65535 ticks are 16 s */

static uint16_t periods_of_ms(uint16_t ms) {
    return (uint16_t)((uint32_t)ms * TICKS_HZ / 1000 + 1);
}

void hal_sleep_ms(uint16_t ms) {
    while (ms > ALARM_S_MAX * 1000) {
        alarm_set(periods_of_ms(ALARM_S_MAX * 1000));
        wait_for(EVENT_ALARM);
        ms = (uint16_t)(ms - ALARM_S_MAX * 1000);
    }
    alarm_set(periods_of_ms(ms));
    wait_for(EVENT_ALARM);
}

void hal_sleep_s(uint32_t duration_s) {
    uint32_t until = hal_seconds() + duration_s;
    for (;;) {
        int32_t left = (int32_t)(until - hal_seconds());
        if (left <= 0)
            break;
        alarm_set((uint16_t)((left > ALARM_S_MAX ? ALARM_S_MAX : left) * TICKS_HZ));
        wait_for(EVENT_ALARM);
    }
}

/* Supply and temperature */

#define FULL_SCALE 4095
#define SETTLE_MS                                                                                  \
    17 /* the reference, with its external capacitors (SLAS368, built-in reference)                \
        */

static uint16_t convert(uint16_t reference, uint8_t channel) {
    ADC12CTL0 = (uint16_t)(SHT0_8 | reference | ADC12ON);
    ADC12CTL1 = SHP;
    ADC12MCTL0 = (uint8_t)(SREF_1 | channel);
    hal_sleep_ms(SETTLE_MS);
    ADC12IFG = 0;
    ADC12CTL0 |= ENC | ADC12SC;
    while ((ADC12IFG & 1) == 0) {
    }
    uint16_t result = ADC12MEM0;
    ADC12CTL0 &= (uint16_t)~(ENC | ADC12SC);
    ADC12CTL0 = 0;
    return result;
}

uint16_t hal_storage_mv(void) {
    /* 2.5 V want 2.8 V of supply; below 3.0 V its half fits into 1.5 V. */
    uint16_t half = convert(REFON, INCH_11);
    if (half < FULL_SCALE)
        return (uint16_t)((uint32_t)half * 3000 / FULL_SCALE);
    return (uint16_t)((uint32_t)convert(REFON | REF2_5V, INCH_11) * 5000 / FULL_SCALE);
}

int16_t hal_temperature_centidegree(void) {
    /* 986 mV at 0 degrees, 3.55 mV a degree, uncalibrated (SLAS368, temperature sensor). */
    int32_t tenth_mv = (int32_t)((uint32_t)convert(REFON, INCH_10) * 15000 / FULL_SCALE);
    return (int16_t)((tenth_mv - 9860) * 200 / 71);
}

/* SPI on USART0, and the radio's pins */

void hal_spi_init(void) {
    U0CTL = CHAR | SYNC | MM | SWRST;
    U0TCTL = CKPH | SSEL_SMCLK | STC; /* SCLK rests low, data valid at its rising edge */
    U0BR0 = 2;
    U0BR1 = 0;
    U0MCTL = 0;
    ME1 |= USPIE0;
    P3SEL |= BOARD_RADIO_SIMO | BOARD_RADIO_SOMI | BOARD_RADIO_SCLK;
    U0CTL &= (uint8_t)~SWRST;
    P1IES &= (uint8_t)~BOARD_RADIO_FIFOP;
}

#define RADIO_SUPPLY P4OUT
#define RADIO_SELECT P4OUT
#include "cc2420.inc"

uint8_t hal_spi_byte(uint8_t out) {
    U0TXBUF = out;
    while ((IFG1 & URXIFG0) == 0) {
    }
    return U0RXBUF;
}

void hal_radio_arm(void) {
    interrupts_off();
    hal_events &= (uint8_t)~EVENT_RADIO;
    P1IFG &= (uint8_t)~BOARD_RADIO_FIFOP;
    P1IE |= BOARD_RADIO_FIFOP;
    if (P1IN & BOARD_RADIO_FIFOP)
        hal_events |= EVENT_RADIO; /* it came before */
    interrupts_on();
}

bool hal_radio_wait(uint16_t timeout_ms) {
    alarm_set(periods_of_ms(timeout_ms));
    uint8_t seen = wait_for(EVENT_ALARM | EVENT_RADIO);
    P1IE &= (uint8_t)~BOARD_RADIO_FIFOP;
    return (seen & EVENT_RADIO) != 0;
}

/* Flash: information segments A and B; two segments of main memory stand for C and D (link.ld). */

extern uint16_t __segment_c[], __segment_d[];

static volatile uint16_t *segment_address(enum hal_segment segment) {
    switch (segment) {
    case HAL_SEGMENT_A:
        return (volatile uint16_t *)(CHIP_INFO + CHIP_INFO_SEGMENT_BYTES);
    case HAL_SEGMENT_B:
        return (volatile uint16_t *)CHIP_INFO;
    case HAL_SEGMENT_C:
        return __segment_c;
    default:
        return __segment_d;
    }
}

uint16_t hal_flash_word(enum hal_segment segment, uint16_t word_index) {
    return segment_address(segment)[word_index];
}

/* The flash timing generator: 257 to 476 kHz (SLAS368). */
#define FLASH_KHZ_MAX 450

#define FLASH_KEY FWKEY
#define FLASH_CLOCK() FCTL2 = (uint16_t)(FWKEY | FSSEL_MCLK | mclk_khz_now / FLASH_KHZ_MAX)
#define PROGRAM static
#include "msp430/flash.inc"

#include "entropy_sram.inc"

/* Marks and log */

#include "mark.inc"

#define LOG_BAUD 115200UL

static bool log_on;

void hal_log_init(void) {
    uint32_t hz = mclk_khz_now * 1000UL;
    /* UxMCTL: as many ones as eighths of a bit clock are left over. */
    static const uint8_t eighths[8] = {0x00, 0x08, 0x88, 0x2A, 0x55, 0x6B, 0xDD, 0xEF};
    U1CTL = CHAR | SWRST;
    U1TCTL = SSEL_SMCLK;
    U1BR0 = (uint8_t)(hz / LOG_BAUD);
    U1BR1 = 0;
    U1MCTL = eighths[hz % LOG_BAUD * 8 / LOG_BAUD];
    ME2 |= UTXE1;
    P3SEL |= BOARD_LOG_TXD;
    U1CTL &= (uint8_t)~SWRST;
    log_on = true;
}

void hal_log(const char *text) {
    if (!log_on)
        return;
    while (*text != '\0') {
        while ((IFG2 & UTXIFG1) == 0) {
        }
        U1TXBUF = (uint8_t)*text++;
    }
    while ((U1TCTL & TXEPT) == 0) {
    }
}
