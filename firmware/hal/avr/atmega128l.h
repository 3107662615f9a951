/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The ATmega128L as the node's program uses it: 2467X. Registers and bits: chip.h, which the build
 * makes of data/.
 */
#ifndef SUNSEAL_ATMEGA128L_H
#define SUNSEAL_ATMEGA128L_H

#include "chip.h"

/* Crystals give no jitter that could be counted: what RAM held at power-on. 4 KB of it do not hold
 * 256 bits at 1/8 bit a byte (sunseal/random.h): 1280 bytes are 160 bits, a quarter more than the
 * 128 of a curve of 256 (FIPS 186-5, A.2: the generator's strength is the curve's at least). */
#define HAL_ENTROPY_SRAM
#define HAL_ENTROPY_SAMPLES_KEY 1280

/* In EEPROM, the first bytes left alone: 2467X, "Preventing EEPROM corruption", and the first
 * address is where a register that has lost its value points. The linker script agrees. */
#define HAL_EEPROM_START 0x80

/* MCUCR and MCUCSR. */
#define SE_IDLE 0x20       /* SE */
#define SE_POWER_SAVE 0x38 /* SE | SM1 | SM0 */
#define SE_POWER_DOWN 0x30 /* SE | SM1 */
#define RESET_CAUSES 0x1F

/* Timers 0 to 2. */
#define ASSR_BUSY 0x07          /* TCN0UB | OCR0UB | TCR0UB */
#define TIMER0_BY_1024 0x07     /* CS02 | CS01 | CS00 */
#define TIMER1_CTC_BY_1024 0x0D /* WGM12 | CS12 | CS10 */
#define TIMER2_BY_1024 0x05     /* CS22 | CS20 */

/* Converter. */
#define ADMUX_BANDGAP_BY_AVCC 0x5E /* REFS0 | MUX 11110 */
#define ADC_BY_64 0x06

#endif
