/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "board.h"
#include "engine.h"
#include "link.h"

static volatile bool late;

/* Timer 2's overflow after 35 ms of sleep, whatever it was made of: the coprocessor may never
 * answer. The first may come early, as the count is left over; the second gives up. */
void __vector_10(void) __attribute__((signal, used, externally_visible));
void __vector_10(void) {
    late = true;
}

__attribute__((noinline)) static void idle(struct sunseal_coprocessor *engine) {
    const uint8_t interrupts = SREG;
    __asm__ volatile("cli" ::: "memory");
    late = false;
    TIFR = TOV2;
    TIMSK |= TOIE2;
    TCCR2 = TIMER2_BY_1024;
    link_watch(true);
    MCUCR = SE_IDLE;
    /* SEI takes effect behind SLEEP: a result that is there already wakes at once. */
    __asm__ volatile("sei\n\tsleep\n\tcli" ::: "memory");
    TCCR2 = 0;
    TIMSK &= (uint8_t)~TOIE2;
    if (late) {
        const uint16_t half = engine->polls_max / 2;
        engine->polls = engine->polls < half ? half : engine->polls_max;
    }
    SREG = interrupts;
}

void sunseal_coprocessor_sleep(struct sunseal_coprocessor *engine) {
    if (engine->sleeps && engine->answer != 0 && !link_seen())
        idle(engine);
}
