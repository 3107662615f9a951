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
 *
 * Timers. Timer0_A counts ACLK / 64 without end: the uptime. Timer1_A makes one
 * alarm. Timer0_B captures ACLK edges (CCR6, input B) in SMCLK ticks
 * while the CPU sleeps in LPM0.
 */
#include "hal.h"

#include "board.h"

#define REFO_HZ 32768UL
#define VLO_TYPICAL_HZ 9400 /* SLAS655, VLO */
#define UPTIME_DIVIDER 64

#define EVENT_ALARM 0x01 /* interrupts.S */
#define EVENT_RADIO 0x02
#define EVENT_CAPTURE 0x04

/* Set by interrupts.S. */
extern volatile uint8_t hal_events;
extern volatile uint16_t hal_uptime_high;
extern volatile uint16_t *volatile hal_capture_next;
extern volatile uint16_t *volatile hal_capture_end;
volatile uint8_t hal_events;
volatile uint16_t hal_uptime_high;
volatile uint16_t *volatile hal_capture_next;
volatile uint16_t *volatile hal_capture_end;

static uint16_t mclk_khz_now;
static uint16_t vlo_hz = VLO_TYPICAL_HZ;
static uint32_t ticks_seen, seconds, ticks_left_over;

/* Status register */

static inline void interrupts_off(void) {
    /* DINT takes effect one instruction later. */
    __asm__ volatile("dint\n\tnop" ::: "memory");
}

static inline void interrupts_on(void) {
    __asm__ volatile("nop\n\teint\n\tnop" ::: "memory");
}

/* Enables interrupts and sleeps in one instruction, so that an event between
 * looking and sleeping still wakes. */
static inline void sleep_lpm3(void) {
    __asm__ volatile("bis %0, sr\n\tnop" ::"i"(SCG1 | SCG0 | CPUOFF | GIE) : "memory");
}

/* The same with SMCLK running, for the captures. */
static inline void sleep_lpm0(void) {
    __asm__ volatile("bis %0, sr\n\tnop" ::"i"(CPUOFF | GIE) : "memory");
}

void hal_halt(void) {
    WDTCTL = WDTPW | WDTHOLD;
    for (;;)
        __asm__ volatile("mov %0, sr\n\tnop" ::"i"(SCG1 | SCG0 | OSCOFF | CPUOFF) : "memory");
}

/* Watchdog, on the VLO: 2^19 periods, 37 to 87 s, awake; 2^23, 10 to 23 minutes, asleep, and awake
 * below 8 MHz, where the longest operation (P-256 without multiplier) may take two minutes. */
#define WATCHDOG_FAST_KHZ 8000

void hal_watchdog_kick(void) {
    WDTCTL = (uint16_t)(WDTPW | WDTSSEL__VLO | WDTCNTCL |
                        (mclk_khz_now < WATCHDOG_FAST_KHZ ? WDTIS__8192K : WDTIS__512K));
}

static void watchdog_asleep(void) {
    WDTCTL = WDTPW | WDTSSEL__VLO | WDTCNTCL | WDTIS__8192K;
}

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
    TA0EX0 = 7; /* a further / 8 */
    TA0CTL = TASSEL__ACLK | ID__8 | MC__CONTINUOUS | TACLR | TAIE;
    interrupts_on();
}

uint16_t hal_reset_cause(void) {
    return SYSRSTIV; /* reading clears the flag of this cause */
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

static uint32_t ticks(void) {
    uint16_t high, low;
    /* The timer's clock is not the CPU's: read until two readings agree. */
    do {
        high = hal_uptime_high;
        do
            low = TA0R;
        while (low != TA0R);
    } while (high != hal_uptime_high);
    if ((TA0CTL & TAIFG) && low < 0x8000)
        high++;
    return (uint32_t)high << 16 | low;
}

/* Called at least every few hours: the product below has to fit 32 bits. */
uint32_t hal_seconds(void) {
    interrupts_off();
    uint32_t now = ticks();
    interrupts_on();
    ticks_left_over += (now - ticks_seen) * UPTIME_DIVIDER;
    ticks_seen = now;
    seconds += ticks_left_over / vlo_hz;
    ticks_left_over %= vlo_hz;
    return seconds;
}

static void alarm_set(uint16_t periods, bool divided) {
    interrupts_off();
    hal_events &= (uint8_t)~EVENT_ALARM;
    interrupts_on();
    TA1CTL = TACLR;
    TA1EX0 = divided ? 7 : 0;
    TA1CCR0 = periods;
    TA1CCTL0 = CCIE;
    TA1CTL = (uint16_t)(TASSEL__ACLK | MC__UP | TACLR | (divided ? ID__8 : 0));
}

static void alarm_clear(void) {
    TA1CTL = MC__STOP;
    TA1CCTL0 = 0;
}

/* Sleeps until one of the events; with SMCLK, in LPM0. */
static uint8_t wait_for(uint8_t events, bool smclk) {
    uint8_t seen;
    interrupts_off();
    while ((seen = hal_events & events) == 0) {
        if (smclk)
            sleep_lpm0();
        else
            sleep_lpm3();
        interrupts_off();
    }
    hal_events &= (uint8_t)~events;
    interrupts_on();
    return seen;
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

/* In steps of 64 periods where 16 bits cannot count single ones, from 5 s on. */
static void alarm_set_ms(uint16_t ms) {
    uint32_t periods = (uint32_t)ms * vlo_hz / 1000 + 1;
    bool divided = periods > 0xFFFF;
    alarm_set((uint16_t)(divided ? periods / UPTIME_DIVIDER + 1 : periods), divided);
}

void hal_sleep_ms(uint16_t ms) {
    watchdog_asleep();
    alarm_set_ms(ms);
    wait_for(EVENT_ALARM, false);
    alarm_clear();
    hal_watchdog_kick();
}

void hal_sleep_s(uint32_t duration_s) {
    uint32_t until = hal_seconds() + duration_s;
    for (;;) {
        watchdog_asleep();
        uint32_t now = hal_seconds();
        int32_t left = (int32_t)(until - now);
        if (left <= 0)
            break;
        /* One alarm reaches 65535 / (VLO / 64), 446 s at 9.4 kHz. */
        uint32_t periods = (uint32_t)(left > 256 ? 256 : left) * vlo_hz / UPTIME_DIVIDER + 1;
        alarm_set((uint16_t)periods, true);
        wait_for(EVENT_ALARM, false);
        alarm_clear();
    }
    hal_watchdog_kick();
}

/* Storage voltage */

static uint16_t convert(uint8_t channel) {
    ADC12CTL0 = ADC12SHT0_8 | ADC12ON;
    ADC12CTL1 = ADC12SHP | ADC12SSEL_0;
    ADC12CTL2 = ADC12RES_2;
    ADC12MCTL0 = (uint8_t)(ADC12SREF_1 | channel);
    /* Four conversions: the sum has two bits more than one. */
    uint16_t sum = 0;
    for (uint8_t i = 0; i < 4; i++) {
        ADC12IFG = 0;
        ADC12CTL0 |= ADC12ENC | ADC12SC;
        while ((ADC12IFG & 1) == 0) {
        }
        sum = (uint16_t)(sum + ADC12MEM0);
        ADC12CTL0 &= (uint16_t)~(ADC12ENC | ADC12SC);
    }
    ADC12CTL0 = 0;
    return sum;
}

static void reference_on(uint16_t bits) {
    REFCTL0 = (uint16_t)(REFMSTR | REFVSEL_2 | REFON | bits);
    hal_delay_us(100); /* settles within 75 us (SLAS655, built-in reference) */
}

uint16_t hal_storage_mv(void) {
    P6OUT |= BOARD_STORAGE_DIVIDER;
    reference_on(REFTCOFF);
    uint16_t sum = convert(ADC12INCH_0);
    REFCTL0 = REFMSTR;
    P6OUT &= (uint8_t)~BOARD_STORAGE_DIVIDER;
    return (uint16_t)((uint32_t)sum * (BOARD_ADC_REFERENCE_MV * BOARD_STORAGE_DIVIDER_RATIO) /
                      (4 * 4095UL));
}

int16_t hal_temperature_centidegree(void) {
    reference_on(0);
    uint16_t sum = convert(ADC12INCH_10);
    REFCTL0 = REFMSTR;
    /* 680 mV at 0 degrees, 2.25 mV a degree, uncalibrated (SLAS655, ADC
     * temperature sensor): centidegrees = (mV - 680) / 2.25 x 100. */
    int32_t tenth_mv = (int32_t)((uint32_t)sum * (BOARD_ADC_REFERENCE_MV * 10UL) / (4 * 4095UL));
    return (int16_t)((tenth_mv - 6800) * 40 / 9);
}

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

bool hal_radio_select(void) {
    P3OUT &= (uint8_t)~BOARD_RADIO_CSN;
    /* SOMI is high until the crystal runs. */
    for (uint16_t i = 0; i < 1000; i++) {
        if ((P3IN & BOARD_RADIO_SOMI) == 0)
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
    return UCB0RXBUF;
}

void hal_radio_arm(void) {
    interrupts_off();
    hal_events &= (uint8_t)~EVENT_RADIO;
    P1IFG &= (uint8_t)~BOARD_RADIO_GDO0;
    P1IE |= BOARD_RADIO_GDO0;
    interrupts_on();
}

bool hal_radio_wait(uint16_t timeout_ms) {
    watchdog_asleep();
    alarm_set_ms(timeout_ms);
    uint8_t seen = wait_for(EVENT_ALARM | EVENT_RADIO, false);
    alarm_clear();
    hal_watchdog_kick();
    P1IE &= (uint8_t)~BOARD_RADIO_GDO0;
    return (seen & EVENT_RADIO) != 0;
}

/* Information flash */

static volatile uint16_t *segment_address(enum hal_segment segment) {
    return (volatile uint16_t *)(uintptr_t)(0x1980 - HAL_SEGMENT_BYTES * (uint16_t)segment);
}

const volatile uint16_t *hal_flash(enum hal_segment segment) {
    return segment_address(segment);
}

void hal_flash_erase(enum hal_segment segment) {
    if (segment == HAL_SEGMENT_A)
        return; /* the configuration: LOCKA stays set */
    interrupts_off();
    FCTL3 = FWPW;
    FCTL1 = FWPW | ERASE;
    *segment_address(segment) = 0; /* any write starts the erase; the CPU is held until it ends */
    while (FCTL3 & BUSY) {
    }
    FCTL1 = FWPW;
    FCTL3 = FWPW | LOCK;
    interrupts_on();
}

void hal_flash_write(enum hal_segment segment, uint16_t word_index, uint16_t value) {
    interrupts_off();
    FCTL3 = FWPW;
    FCTL1 = FWPW | WRT;
    segment_address(segment)[word_index] = value;
    while (FCTL3 & BUSY) {
    }
    FCTL1 = FWPW;
    FCTL3 = FWPW | LOCK;
    interrupts_on();
}

/* Entropy and the VLO's frequency */

/* One more capture than samples: a sample is the time between two. */
#define CAPTURES 64
static volatile uint16_t captures[CAPTURES + 1];

static void capture(uint16_t count) {
    hal_capture_next = captures;
    hal_capture_end = captures + count;
    TB0CTL = TBSSEL__SMCLK | MC__CONTINUOUS | TACLR;
    TB0CCTL6 = CM_1 | CCIS_1 | SCS | CAP | CCIE;
    wait_for(EVENT_CAPTURE, true);
    TB0CTL = MC__STOP;
    TB0CCTL6 = 0;
}

void hal_entropy_samples(uint8_t *samples, uint16_t count) {
    uint32_t sum = 0;
    uint16_t summed = 0;
    while (count != 0) {
        uint16_t part = count > CAPTURES ? CAPTURES : count;
        capture((uint16_t)(part + 1));
        for (uint16_t i = 0; i < part; i++)
            *samples++ = (uint8_t)(captures[i + 1] - captures[i]);
        for (uint16_t i = 0; i < part && summed < 256; i++, summed++)
            sum += (uint16_t)(captures[i + 1] - captures[i]);
        count = (uint16_t)(count - part);
    }
    if (summed >= 32) {
        hal_seconds(); /* what has passed counts by the old length */
        uint32_t hz = smclk_hz() / (sum / summed);
        if (hz >= 6000 && hz <= 14000) /* SLAS655, VLO */
            vlo_hz = (uint16_t)hz;
    }
}

/* Marks and log */

void hal_mark(bool high) {
    if (high)
        board_trigger_high();
    else
        board_trigger_low();
}

#define LOG_BAUD 115200UL

static bool log_on;

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

void hal_log(const char *text) {
    if (!log_on)
        return;
    while (*text != '\0') {
        while ((UCA1IFG & UCTXIFG) == 0) {
        }
        UCA1TXBUF = (uint8_t)*text++;
    }
    while (UCA1STAT & UCBUSY) {
    }
}
