/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hal.h on the MSP432P401R.
 *
 * Clocks. MCLK is the DCO, SMCLK half of it; ACLK and BCLK are the watch crystal, or REFO until
 * that has started (SLAU356, CS, "fail-safe operation"): a second of waiting awake would cost more
 * than a message. RTC_C counts seconds, in LPM3 too, and wakes the CPU with each. Timer_A1 on ACLK
 * makes the alarms of milliseconds and of the radio, in LPM0: in LPM3 timers stand still.
 *
 * The four segments are the last four sectors of main flash. They lie in bank 1 and the program in
 * bank 0, so that it runs on while one of them is written.
 */
#include "hal.h"

#include "board.h"

#define EVENT_ALARM 0x01
#define EVENT_RADIO 0x02

static volatile uint8_t events;
static volatile uint32_t seconds;
static uint16_t mclk_khz_now;

/* Alarm of Timer_A1. */
void sunseal_isr_26(void);
void sunseal_isr_26(void) {
    TA1CTL = 0;
    TA1CCTL0 = 0;
    (void)TA1CCTL0; /* the write has arrived */
    events |= EVENT_ALARM;
}

/* RTC_C: a second. */
void sunseal_isr_45(void);
void sunseal_isr_45(void) {
    RTCPS1CTL = RTCPS_SECOND;
    (void)RTCPS1CTL;
    seconds++;
}

/* The radio's end of packet. */
void sunseal_isr_52(void);
void sunseal_isr_52(void) {
    P2IFG &= (uint8_t)~BOARD_RADIO_GDO0;
    (void)P2IFG;
    events |= EVENT_RADIO;
}

static inline void interrupts_off(void) {
    __asm__ volatile("cpsid i" ::: "memory");
}

static inline void interrupts_on(void) {
    __asm__ volatile("cpsie i" ::: "memory");
}

/* Interrupts are off: WFI ends by one that is held off, whose handler runs behind CPSIE. */
static void sleep(uint32_t deep) {
    SCR = deep;
    __asm__ volatile("dsb\n\twfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
}

void hal_halt(void) {
    interrupts_off();
    WDTCTL = WDTPW | WDTHOLD;
    RTCCTL0 = RTC_KEY;
    RTCCTL13 = RTCHOLD;
    NVIC_ICER0 = UINT32_MAX;
    NVIC_ICER1 = UINT32_MAX;
    SCR = SLEEPDEEP;
    for (;;)
        __asm__ volatile("dsb\n\twfi" ::: "memory");
}

/* Watchdog, on the VLO: 2^19 periods, 56 s typically, awake; 2^23, a quarter of an hour, asleep. */
void hal_watchdog_kick(void) {
    WDTCTL = WDTPW | WDTSSEL__VLO | WDTCNTCL | WDTIS__512K;
}

static void watchdog_asleep(void) {
    WDTCTL = WDTPW | WDTSSEL__VLO | WDTCNTCL | WDTIS__8192K;
}

#define MCLK_KHZ_RESET 3000

void hal_init(void) {
    mclk_khz_now = MCLK_KHZ_RESET;
    watchdog_asleep();
    board_pins_init();
    CSKEY = CS_UNLOCK;
    PJSEL0 |= LFXT_PINS;
    CSCTL2 |= LFXT_EN;
    CSCTL1 = LFXT_DCO_DCO_BY_2;
    CSKEY = 0;
    RTCCTL0 = RTC_KEY;
    RTCPS1CTL = RTCPS_SECOND;
    RTCCTL13 = 0;
    NVIC_ISER0 = NVIC_TA1_0 | NVIC_RTC_C;
    NVIC_ISER1 = NVIC_PORT2;
    interrupts_on();
}

uint16_t hal_reset_cause(void) {
    uint32_t causes = RSTCTL_HARDRESET_STAT;
    RSTCTL_HARDRESET_CLR = causes;
    return (uint16_t)causes;
}

/* The crystal's flag stays until it is cleared, and comes back as long as the crystal does not run.
 */
static void try_crystal(void) {
    if ((CSIFG & LFXTIFG) == 0)
        return;
    CSKEY = CS_UNLOCK;
    CSCLRIFG = LFXTIFG;
    CSKEY = 0;
}

#include "dco.inc"

void hal_clock(uint16_t mclk_khz) {
    uint32_t reads = mclk_khz > FLASH_KHZ_MAX ? RDCTL_1_WAIT_BUFFERED : 0;
    FLCTL_BANK0_RDCTL = reads;
    FLCTL_BANK1_RDCTL = reads;
    CSKEY = CS_UNLOCK;
    CSCTL0 = dco_setting(mclk_khz);
    CSKEY = 0;
    mclk_khz_now = mclk_khz;
    hal_watchdog_kick();
    hal_spi_init();
}

static uint32_t smclk_hz(void) {
    return mclk_khz_now * UINT32_C(500);
}

/* Time */

/* SUBS and BNE, 3 cycles a turn at least. */
static void spin(uint32_t turns) {
    __asm__ volatile("1: subs %0, #1\n\tbne 1b" : "+r"(turns)::"cc");
}

void hal_delay_us(uint16_t us) {
    spin((uint32_t)us * mclk_khz_now / 3000 + 1);
}

uint32_t hal_seconds(void) {
    return seconds;
}

#define ALARM_HZ 4096 /* ACLK / 8; / 64 from 15 s on, which 16 bits do not count */

static void alarm_set(uint16_t ms) {
    uint32_t divided = ms > 15000 ? 8 : 1;
    interrupts_off();
    events &= (uint8_t)~EVENT_ALARM;
    TA1CTL = TACLR;
    TA1EX0 = (uint16_t)(divided - 1);
    TA1CCR0 = (uint16_t)((uint32_t)ms * ALARM_HZ / divided / 1000 + 1);
    TA1CCTL0 = CCIE;
    TA1CTL = TASSEL__ACLK | ID__8 | MC__UP | TACLR;
    interrupts_on();
}

static uint8_t wait_for(uint8_t wanted) {
    uint8_t seen;
    watchdog_asleep();
    interrupts_off();
    while ((seen = events & wanted) == 0)
        sleep(0);
    events &= (uint8_t)~wanted;
    TA1CTL = 0;
    TA1CCTL0 = 0;
    interrupts_on();
    hal_watchdog_kick();
    return seen;
}

/* In LPM3, until then or one of the events, which is true. */
static bool sleep_until(uint32_t until, uint8_t wanted) {
    watchdog_asleep();
    interrupts_off();
    while ((events & wanted) == 0 && (int32_t)(until - seconds) > 0) {
        sleep(SLEEPDEEP);
        if ((seconds & 0xFF) == 0)
            watchdog_asleep();
    }
    bool seen = (events & wanted) != 0;
    events &= (uint8_t)~wanted;
    interrupts_on();
    hal_watchdog_kick();
    return seen;
}

void hal_sleep_s(uint32_t duration_s) {
    uint32_t until = seconds + duration_s;
    try_crystal();
    sleep_until(until, 0);
}

void hal_sleep_ms(uint16_t ms) {
    if (ms >= 2000) {
        hal_sleep_s(ms / 1000 + 1); /* the first one is under way */
        ms %= 1000;
    }
    alarm_set(ms);
    wait_for(EVENT_ALARM);
}

/* Storage voltage and temperature */

static uint32_t convert(uint32_t channel) {
    ADC14CTL0 = 0;
    ADC14CTL1 = ADC14RES__14BIT | ADC14TCMAP;
    ADC14MCTL0 = ADC14VRSEL_1 | channel;
    ADC14CTL0 = ADC14_SAMPLING;
    ADC14CTL0 = ADC14_SAMPLING | ADC14ENC_SC;
    while ((ADC14IFGR0 & 1) == 0) {
    }
    uint32_t result = ADC14MEM0;
    ADC14CTL0 = 0;
    return result;
}

#define FULL_SCALE 16384
#define REFERENCE REFVSEL_3
#define REFERENCE_OFF 0
#define STORAGE_OUT P4OUT
#define STORAGE_CHANNEL BOARD_STORAGE_CHANNEL
#define SENSOR_CHANNEL ADC14INCH_22
/* 685 mV at 0 degrees, 1.9 mV a degree, uncalibrated (SLAS826, ADC14 temperature sensor;
 * recalled). */
#define CENTIDEGREES(tenth_mv) (((tenth_mv) - 6850) * 100 / 19)
#include "storage.inc"

/* Radio: SPI on eUSCI_B0 */

#define SPI_HZ_MAX 6500000UL /* CC2500: burst access (SWRS040, SPI timing) */
#define SPI_MASTER (UCCKPH | UCMSB | UCMST | UCSYNC | UCSSEL__SMCLK)

void hal_spi_init(void) {
    UCB0CTLW0 = SPI_MASTER | UCSWRST; /* SCLK rests low, data valid at its rising edge */
    UCB0BRW = (uint16_t)((smclk_hz() + SPI_HZ_MAX - 1) / SPI_HZ_MAX);
    P1SEL0 |= BOARD_RADIO_SIMO | BOARD_RADIO_SOMI | BOARD_RADIO_SCLK;
    UCB0CTLW0 = SPI_MASTER;
    P2IES |= BOARD_RADIO_GDO0;
}

bool hal_radio_select(void) {
    P3OUT &= (uint8_t)~BOARD_RADIO_CSN;
    /* SOMI is high until the crystal runs. */
    for (uint16_t i = 0; i < 1000; i++) {
        if ((P1IN & BOARD_RADIO_SOMI) == 0)
            return true;
        hal_delay_us(10);
    }
    hal_radio_deselect();
    return false;
}

void hal_radio_deselect(void) {
    P3OUT |= BOARD_RADIO_CSN;
}

uint8_t hal_spi_byte(uint8_t out) {
    UCB0TXBUF = out;
    while ((UCB0IFG & UCRXIFG) == 0) {
    }
    return (uint8_t)UCB0RXBUF;
}

void hal_radio_arm(void) {
    interrupts_off();
    P2IFG &= (uint8_t)~BOARD_RADIO_GDO0;
    P2IE = BOARD_RADIO_GDO0;
    events &= (uint8_t)~EVENT_RADIO;
    interrupts_on();
}

/* From two seconds on in whole ones, so that Timer_A need not run: a port wakes from LPM3 as well.
 */
bool hal_radio_wait(uint16_t timeout_ms) {
    bool seen;
    if (timeout_ms >= 2000) {
        seen = sleep_until(seconds + timeout_ms / 1000 + 1, EVENT_RADIO);
    } else {
        alarm_set(timeout_ms);
        seen = (wait_for(EVENT_ALARM | EVENT_RADIO) & EVENT_RADIO) != 0;
    }
    P2IE = 0;
    return seen;
}

/* Flash */

#define SECTOR_BYTES CHIP_FLASH_SEGMENT_BYTES
#define SEGMENTS (CHIP_FLASH + CHIP_FLASH_BYTES - 4 * SECTOR_BYTES) /* the linker script agrees */
#define PULSES_MAX                                                                                 \
    5 /* of programming; of erasing ten times as many (SLAS826, device descriptors; recalled) */

static volatile uint16_t *segment_address(enum hal_segment segment) {
    return (volatile uint16_t *)(SEGMENTS + SECTOR_BYTES * (uint32_t)segment);
}

/* Sectors 28 to 31 of bank 1. */
static void unprotect(enum hal_segment segment) {
    FLCTL_BANK1_MAIN_WEPROT &= ~(UINT32_C(1) << (28 + segment));
    FLCTL_CLRIFG = FLCTL_PRG | FLCTL_ERASE;
}

static void protect(void) {
    FLCTL_PRG_CTLSTAT = PRG_VERIFIED;
    FLCTL_BANK1_MAIN_WEPROT = UINT32_MAX;
}

uint16_t hal_flash_word(enum hal_segment segment, uint16_t word_index) {
    return segment_address(segment)[word_index];
}

static bool erased(enum hal_segment segment) {
    for (uint8_t i = 0; i < HAL_SEGMENT_BYTES / 2; i++) {
        if (hal_flash_word(segment, i) != 0xFFFF)
            return false;
    }
    return true;
}

void hal_flash_erase(enum hal_segment segment) {
    if (segment == HAL_SEGMENT_A)
        return; /* the configuration */
    for (uint8_t pulses = 0; pulses < 10 * PULSES_MAX; pulses++) {
        unprotect(segment);
        FLCTL_ERASE_SECTADDR = (uint32_t)(uintptr_t)segment_address(segment);
        FLCTL_ERASE_CTLSTAT = ERASE_START;
        while ((FLCTL_IFG & FLCTL_ERASE) == 0) {
        }
        FLCTL_ERASE_CTLSTAT = ERASE_CLR_STAT;
        protect();
        if (erased(segment))
            return;
    }
}

void hal_flash_write(enum hal_segment segment, uint16_t word_index, uint16_t value) {
    for (uint8_t pulses = 0; pulses < PULSES_MAX; pulses++) {
        unprotect(segment);
        FLCTL_PRG_CTLSTAT = PRG_VERIFIED | PRG_ENABLE;
        segment_address(segment)[word_index] = value;
        while ((FLCTL_IFG & FLCTL_PRG) == 0) {
        }
        protect();
        if ((hal_flash_word(segment, word_index) & ~value) == 0)
            return;
    }
}

#include "entropy_sram.inc"

/* Marks and log */

#include "mark.inc"

static bool log_on;

#define LOG_SELECT P1SEL0
#include "log_eusci.inc"

void hal_log(const HAL_FLASH char *text) {
    if (!log_on)
        return;
    while (*text != '\0') {
        while ((UCA0IFG & UCTXIFG) == 0) {
        }
        UCA0TXBUF = (uint8_t)*text++;
    }
    while (UCA0STATW & UCBUSY) {
    }
}
