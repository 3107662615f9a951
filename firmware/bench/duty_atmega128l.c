/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The CPU's crystal is what it is. Timer 0 on the watch crystal / 1024, and power-save: 2467X,
 * "Asynchronous operation of the Timer/Counter", "Power-save mode".
 */
#include "chip.h"
#include "duty.h"

#define BUSY 0x07          /* TCN0UB | OCR0UB | TCR0UB */
#define CTC_BY_1024 0x0F   /* WGM01 | CS02 | CS01 | CS00 */
#define CTC_BY_32 0x0B     /* WGM01 | CS01 | CS00 */
#define SE_POWER_SAVE 0x38 /* SE | SM1 | SM0 */

#define TICKS_HZ (32768 / 1024)
#define FINE_HZ (32768 / 32)
#define FINE_OF_TICK (FINE_HZ / TICKS_HZ)

/* Where the timer ends, by parts of a period, and until its next firing. */
static uint8_t part_top, top;

volatile uint16_t duty_fired;

void __vector_15(void) __attribute__((signal, used, externally_visible));
void __vector_15(void) {
    duty_fired++;
}

void duty_begin(uint16_t mclk_khz) {
    (void)mclk_khz;
}

/* Inline: a call would have duty_sleep save registers before its write. */
static inline __attribute__((always_inline)) void settle(void) {
    while (ASSR & BUSY) {
    }
}

uint16_t duty_timer(uint32_t period_s) {
    uint16_t parts = duty_divide(period_s * TICKS_HZ, 0x100);
    ASSR = AS0;
    part_top = top = (uint8_t)(period_s * TICKS_HZ / parts - 1);
    OCR0 = top;
    TCCR0 = CTC_BY_1024;
    settle();
    TIMSK = OCIE0;
    __asm__ volatile("sei" ::: "memory");
    return parts;
}

void duty_sleep(uint16_t seen) {
    __asm__ volatile("cli" ::: "memory");
    const uint8_t until = top;
    if (duty_fired == seen) {
        do {
            /* Behind an interrupt the timer wants a period of its crystal before the next sleep: a
             * write takes that long, and one more if it comes some cycles later. */
            OCR0 = until;
            MCUCR = SE_POWER_SAVE; /* a coprocessor's driver idles */
            top = part_top;
            settle();
            __asm__ volatile("sei\n\tsleep\n\tcli" ::: "memory");
        } while (duty_fired == seen);
    } else {
        top = part_top;
    }
    __asm__ volatile("sei" ::: "memory");
}

static uint16_t fine_ticks(uint8_t ms) {
    return (uint16_t)((ms * (uint32_t)FINE_HZ + 999) / 1000);
}

/* From a firing on, 256 fine ticks at most; the firing that ends them is none of the period's. */
static void sleep_fine(uint16_t ticks) {
    const uint16_t seen = duty_fired;
    top = (uint8_t)(ticks - 1);
    TCCR0 = CTC_BY_32;
    duty_sleep(seen);
    duty_fired = seen;
}

void duty_lead(uint8_t ms) {
    const uint16_t rest = -fine_ticks(ms) & (FINE_OF_TICK - 1);
    if (rest != 0)
        sleep_fine(rest);
}

void duty_pause(uint8_t ms) {
    const uint16_t fine = fine_ticks(ms);
    sleep_fine(fine);
    TCCR0 = CTC_BY_1024;
    top = (uint8_t)(part_top - (fine + FINE_OF_TICK - 1) / FINE_OF_TICK);
    OCR0 = top;
    settle();
}
