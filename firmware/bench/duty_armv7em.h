/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The sleep of duty_sleep on Armv7E-M, in the mode that duty_timer has set.
 */
#ifndef SUNSEAL_DUTY_ARMV7EM_H
#define SUNSEAL_DUTY_ARMV7EM_H

#include "duty.h"

static inline void sleep_until_fired(uint16_t seen) {
    __asm__ volatile("cpsid i" ::: "memory");
    while (duty_fired == seen) {
        /* WFI ends by an interrupt that is held off, too; its handler runs behind CPSIE. */
        __asm__ volatile("dsb\n\twfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
    }
    __asm__ volatile("cpsie i" ::: "memory");
}

#endif
