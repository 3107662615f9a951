/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * NUCLEO-L476RG; the same facts as in data/boards/nucleo-l476rg.toml.
 *
 *   PA8          Arduino D7: trigger of the measurement unit, high during the operation
 */
#ifndef SUNSEAL_BOARD_H
#define SUNSEAL_BOARD_H

#include "stm32l476rg.h"

#define BOARD_TRIGGER 0x100u /* port A */
#define TRIGGER_MODE (3u << 16)
#define TRIGGER_OUTPUT (1u << 16)

/* Both caches on and no prefetch, as the data sheet's currents are measured. */
#define BOARD_HAS_WAIT_STATES
static inline void board_wait_states(uint8_t waits) {
    FLASH_ACR = DCEN | ICEN | waits;
}

static inline void board_trigger_init(void) {
    RCC_AHB2ENR |= GPIOAEN;
    (void)RCC_AHB2ENR; /* the clock is on two cycles later (RM0351, 6.2.19) */
    GPIOA_BSRR = BOARD_TRIGGER << 16;
    GPIOA_MODER = (GPIOA_MODER & ~TRIGGER_MODE) | TRIGGER_OUTPUT;
}
static inline void board_trigger_high(void) {
    GPIOA_BSRR = BOARD_TRIGGER;
}
static inline void board_trigger_low(void) {
    GPIOA_BSRR = BOARD_TRIGGER << 16;
}

#endif
