/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The one place where a target that the library does not take is told of; every other source is
 * empty then. */
#include "target.h"

/* clang-format off */
#if defined(SUNSEAL_WRONG_LARGE)
#error "sunseal-crypto: the MSP430 assembly has 16-bit pointers: compile with -msmall instead of -mlarge"
#elif defined(SUNSEAL_WRONG_CHIP)
#error "sunseal-crypto: the MSP430F1611 has the classic CPU: leave SUNSEAL_MSP430X out"
#elif defined(SUNSEAL_WRONG_CPU)
#error "sunseal-crypto: clang does not say which CPU this is: give -mmcu=<chip>, or define SUNSEAL_MSP430X as 1 (430X: F5xx, F6xx, FRxx) or 0 (classic)"
#elif defined(SUNSEAL_WRONG_MPY)
#error "sunseal-crypto: define SUNSEAL_MPY as 32 (MPY32 multiplier: F5xx, F6xx, FRxx), 16 (MPY: F14x, F16x) or 0 (none), whichever the MSP430 has"
#elif defined(SUNSEAL_WRONG_MPY_AT)
#error "sunseal-crypto: define SUNSEAL_MPY_AT as 0x04C0 (multiplier of the F5xx, F6xx and FRxx) or 0x0130 (1xx, 2xx and 4xx)"
#elif defined(SUNSEAL_WRONG_MPY32)
#error "sunseal-crypto: the MPY32 is driven at 0x04C0 only: define SUNSEAL_MPY as 16 for a chip whose multiplier is at 0x0130"
#elif defined(SUNSEAL_WRONG_AVR)
#error "sunseal-crypto: the AVR assembly needs MUL and the I/O addresses of an ATmega: compile for avr4, avr5, avr51 or avr6, such as -mmcu=atmega128"
#elif defined(SUNSEAL_WRONG_COMPILER)
#error "sunseal-crypto: the sources are for GCC and clang: use one of them"
#elif defined(SUNSEAL_WRONG_ORDER)
#error "sunseal-crypto: the sources are for little-endian cores: there is no other build of them"
#elif defined(SUNSEAL_WRONG_CORE)
#error "sunseal-crypto: no assembly for this core: for a Cortex-M4 compile with -mcpu=cortex-m4, else define SUNSEAL_PORTABLE as 1 for C, whose timing nobody has checked there"
#endif
/* clang-format on */

extern int sunseal_target_is_known;
