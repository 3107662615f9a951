/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The CPU's crystal is what it is. Timer 0 on the watch crystal / 1024, and power-save: 2467X,
 * "Asynchronous operation of the Timer/Counter", "Power-save mode".
 */
#include "chip.h"
#include "duty.h"

#define BUSY 0x07          /* TCN0UB | OCR0UB | TCR0UB */
#define CTC_BY_1024 0x0F   /* WGM01 | CS02 | CS01 | CS00 */
#define SE_POWER_SAVE 0x38 /* SE | SM1 | SM0 */

#define TICKS_HZ (32768 / 1024)

volatile uint16_t duty_fired;

void __vector_15(void) __attribute__((signal, used, externally_visible));
void __vector_15(void) {
    duty_fired++;
}

void duty_begin(uint16_t mclk_khz) {
    (void)mclk_khz;
}

static void settle(void) {
    while (ASSR & BUSY) {
    }
}

uint16_t duty_timer(uint32_t period_s) {
    uint16_t parts = duty_divide(period_s * TICKS_HZ, 0x100);
    ASSR = AS0;
    OCR0 = (uint8_t)(period_s * TICKS_HZ / parts - 1);
    TCCR0 = CTC_BY_1024;
    settle();
    TIMSK = OCIE0;
    MCUCR = SE_POWER_SAVE;
    __asm__ volatile("sei" ::: "memory");
    return parts;
}

void duty_sleep(uint16_t seen) {
    __asm__ volatile("cli" ::: "memory");
    while (duty_fired == seen) {
        /* Behind an interrupt the timer wants a period of its crystal before the next sleep: a
         * write takes that long. */
        OCR0 = OCR0;
        settle();
        __asm__ volatile("sei\n\tsleep\n\tcli" ::: "memory");
    }
    __asm__ volatile("sei" ::: "memory");
}
