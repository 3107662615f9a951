/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hal.h on the ATmega128L, but for the radio (radio_<chip>.c).
 *
 * Clocks. The CPU's crystal is what it is. Timer 0 counts the watch crystal / 1024, in power-save
 * too: the uptime, and the alarms of long sleeps in ticks of 1/32 s. Timer 1 counts the CPU's
 * crystal / 1024 in idle mode: waits of milliseconds, and for the radio, whose pins are seen by a
 * running clock only.
 *
 * No watchdog: its longest interval is two seconds (2467X, table 22), and a signature at 4 MHz may
 * take more than one.
 *
 * The four segments lie in EEPROM, which is used as flash is: an erase sets bytes to 0xFF, a write
 * only clears bits. A byte is erased and written in one go, so a cut may leave it anywhere in
 * between, as flash; the CPU idles meanwhile.
 *
 * The store is the battery, which is the supply: the bandgap against AVCC.
 */
#include "hal.h"

#include "board.h"
#include "events.h"

#define TICKS_HZ (32768 / 1024)

volatile uint8_t hal_events;
static volatile uint32_t overflows; /* of timer 0, 8 s each */
static volatile uint8_t alarm_parts;
static uint32_t ticks_seen, seconds, ticks_left_over;

#define ISR(number)                                                                                \
    void __vector_##number(void) __attribute__((signal, used, externally_visible));                \
    void __vector_##number(void)

/* Timer 0: overflow, and the alarm of a long sleep. */
ISR(16) {
    overflows++;
    hal_events |= EVENT_TICK;
}

ISR(15) {
    hal_events |= EVENT_TICK;
}

/* Timer 1: so many rounds are a wait. */
ISR(12) {
    if (--alarm_parts == 0)
        hal_events |= EVENT_ALARM;
}

/* The EEPROM is ready, and says so until it is told not to. */
ISR(22) {
    EECR = 0;
    hal_events |= EVENT_EEPROM;
}

/* A change of OCR0 takes two periods of the watch crystal. The CPU may sleep again, and TCNT0 is
 * true again behind a sleep, when one is through: 2467X, "Asynchronous operation of
 * Timer/Counter0". */
static void synchronise(uint8_t ocr0) {
    OCR0 = ocr0;
    while (ASSR & ASSR_BUSY) {
    }
}

static void sleep(uint8_t mode) {
    MCUCR = mode;
    /* SEI takes effect behind the next instruction: an event between looking and sleeping still
     * wakes. */
    __asm__ volatile("sei\n\tsleep\n\tcli" ::: "memory");
}

uint8_t hal_wait_for(uint8_t events) {
    uint8_t seen;
    interrupts_off();
    while ((seen = hal_events & events) == 0)
        sleep(SE_IDLE);
    hal_events &= (uint8_t)~events;
    interrupts_on();
    return seen;
}

void hal_halt(void) {
    interrupts_off();
    MCUCR = SE_POWER_DOWN;
    for (;;)
        __asm__ volatile("sleep");
}

void hal_watchdog_kick(void) {}

void hal_init(void) {
    ACSR = ACD;
    board_pins_init();
    ASSR = AS0;
    TCCR0 = TIMER0_BY_1024;
    synchronise(0);
    TIFR = TOV0 | OCF0;
    TIMSK = TOIE0;
    interrupts_on();
}

uint16_t hal_reset_cause(void) {
    uint8_t causes = MCUCSR & RESET_CAUSES;
    MCUCSR &= (uint8_t)~RESET_CAUSES;
    return causes;
}

void hal_clock(uint16_t mclk_khz) {
    (void)mclk_khz;
    hal_spi_init();
}

/* Time */

/* SBIW and BRNE, 4 cycles a turn. */
static void spin(uint16_t turns) {
    __asm__ volatile("1: sbiw %0, 1\n\tbrne 1b" : "+w"(turns));
}

void hal_delay_us(uint16_t us) {
    uint32_t turns = (uint32_t)us * (BOARD_CRYSTAL_HZ / 1000 / 4) / 1000 + 1;
    while (turns > 0xFFFF) {
        spin(0xFFFF);
        turns -= 0xFFFF;
    }
    spin((uint16_t)turns);
}

/* Interrupts are off. */
static uint32_t ticks(void) {
    synchronise(OCR0);
    uint8_t low = TCNT0;
    uint32_t high = overflows;
    if ((TIFR & TOV0) && low < 0x80)
        high++;
    return high << 8 | low;
}

#define UPTIME_DIVIDER 1
#define UPTIME_HZ TICKS_HZ
#include "seconds.inc"

/* In power-save. */
static void sleep_ticks(uint32_t wanted) {
    interrupts_off();
    uint32_t until = ticks() + wanted;
    for (;;) {
        hal_events &= (uint8_t)~EVENT_TICK;
        int32_t left = (int32_t)(until - ticks());
        if (left <= 0)
            break;
        if (left <= 0xFF) {
            /* The match comes with the end of the tick. */
            synchronise((uint8_t)(until - 1));
            TIFR = OCF0;
            TIMSK |= OCIE0;
            /* It may have ended meanwhile, and the match with it. */
            if ((int32_t)(until - ticks()) <= 0)
                break;
        }
        while ((hal_events & EVENT_TICK) == 0) {
            sleep(SE_POWER_SAVE);
            synchronise(OCR0);
        }
        TIMSK &= (uint8_t)~OCIE0;
    }
    TIMSK &= (uint8_t)~OCIE0;
    interrupts_on();
}

void hal_alarm_set(uint16_t ms) {
    uint32_t periods = (uint32_t)ms * (BOARD_CRYSTAL_HZ / 1024) / 1000 + 1;
    uint8_t parts = (uint8_t)(periods >> 16) + 1;
    hal_alarm_clear();
    interrupts_off();
    hal_events &= (uint8_t)~EVENT_ALARM;
    alarm_parts = parts;
    OCR1A = (uint16_t)(periods / parts);
    TCNT1 = 0;
    TIFR = OCF1A;
    TIMSK |= OCIE1A;
    interrupts_on();
    TCCR1B = TIMER1_CTC_BY_1024;
}

void hal_alarm_clear(void) {
    TCCR1B = 0;
    TIMSK &= (uint8_t)~OCIE1A;
}

void hal_sleep_ms(uint16_t ms) {
    if (ms >= 1000) {
        sleep_ticks(ms / 1000 * TICKS_HZ);
        ms %= 1000;
    }
    hal_alarm_set(ms);
    hal_wait_for(EVENT_ALARM);
    hal_alarm_clear();
}

/* In steps, so that ticks fit. */
#define SLEEP_S_MAX UINT32_C(0x1000000)

void hal_sleep_s(uint32_t duration_s) {
    while (duration_s > SLEEP_S_MAX) {
        sleep_ticks(SLEEP_S_MAX * TICKS_HZ);
        duration_s -= SLEEP_S_MAX;
    }
    sleep_ticks(duration_s * TICKS_HZ);
}

/* Supply and temperature */

/* 1.22 V (2467X, table 98) x 1024. */
#define BANDGAP_MV_BY_1024 UINT32_C(1249280)

uint16_t hal_storage_mv(void) {
    uint16_t result = 0;
    ADMUX = ADMUX_BANDGAP_BY_AVCC;
    ADCSRA = ADEN | ADC_BY_64;
    /* The first one warms the converter up and the bandgap with it. */
    for (uint8_t i = 0; i < 2; i++) {
        ADCSRA |= ADSC;
        while (ADCSRA & ADSC) {
        }
        result = ADC;
    }
    ADCSRA = 0;
    return result < 20 ? UINT16_MAX : (uint16_t)(BANDGAP_MV_BY_1024 / result);
}

int16_t hal_temperature_centidegree(void) {
    return HAL_NO_TEMPERATURE;
}

/* EEPROM */

static uint16_t address_of(enum hal_segment segment) {
    return (uint16_t)(HAL_EEPROM_START + HAL_SEGMENT_BYTES * (uint16_t)segment);
}

static uint8_t read_byte(uint16_t address) {
    EEAR = address;
    EECR = EERE;
    return EEDR;
}

static void write_byte(uint16_t address, uint8_t value) {
    EEAR = address;
    EEDR = value;
    interrupts_off();
    hal_events &= (uint8_t)~EVENT_EEPROM;
    /* EEWE within four cycles of EEMWE. */
    EECR = EEMWE;
    EECR = EEMWE | EEWE;
    EECR = EERIE;
    interrupts_on();
    hal_wait_for(EVENT_EEPROM);
}

uint16_t hal_flash_word(enum hal_segment segment, uint16_t word_index) {
    uint16_t address = address_of(segment) + 2 * word_index;
    return (uint16_t)(read_byte(address + 1) << 8 | read_byte(address));
}

void hal_flash_erase(enum hal_segment segment) {
    if (segment == HAL_SEGMENT_A)
        return; /* the configuration */
    for (uint8_t i = 0; i < HAL_SEGMENT_BYTES; i++)
        write_byte(address_of(segment) + i, 0xFF);
}

void hal_flash_write(enum hal_segment segment, uint16_t word_index, uint16_t value) {
    uint16_t address = address_of(segment) + 2 * word_index;
    for (uint8_t i = 0; i < 2; i++, address++, value >>= 8) {
        if ((uint8_t)value != 0xFF)
            write_byte(address, read_byte(address) & (uint8_t)value);
    }
}

#include "entropy_sram.inc"

/* Marks and log */

#include "mark.inc"

static bool log_on;

void hal_log_init(void) {
    UBRR0H = 0;
    UBRR0L = (uint8_t)((BOARD_CRYSTAL_HZ + 4 * BOARD_LOG_BAUD) / (8 * BOARD_LOG_BAUD) - 1);
    UCSR0A = U2X;
    UCSR0B = TXEN;
    log_on = true;
}

void hal_log(const HAL_FLASH char *text) {
    if (!log_on || *text == '\0')
        return;
    UCSR0A = U2X | TXC;
    while (*text != '\0') {
        while ((UCSR0A & UDRE) == 0) {
        }
        UDR0 = (uint8_t)*text++;
    }
    while ((UCSR0A & TXC) == 0) {
    }
}
