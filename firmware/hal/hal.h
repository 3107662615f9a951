/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the node's application wants of the hardware. One folder for each family
 * of microcontrollers implements it, hal/host on a PC for unit tests.
 *
 * Interrupt handlers only set an event and end the sleep. They never multiply:
 * the hardware multiplier has one set of registers, and the code that an
 * interrupt stops may be using them.
 */
#ifndef SUNSEAL_HAL_H
#define SUNSEAL_HAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that never changes lies in program memory, which an AVR reads by pointers of its own: its 4
 * KB of RAM are no place for it. */
#ifdef __AVR__
#define HAL_FLASH __flash
#define HAL_TEXT(text)                                                                             \
    (__extension__({                                                                               \
        static const HAL_FLASH char text_[] = text;                                                \
        text_;                                                                                     \
    }))
#else
#define HAL_FLASH
#define HAL_TEXT(text) (text)
#endif

/* Start
 * -----
 * hal_init starts the watchdog, sets the pins and leaves the clock as the reset
 * did, at 1 MHz: what comes before there is energy runs slowly. hal_clock raises
 * the core voltage as far as the clock needs, and locks MCLK = SMCLK to
 * mclk_khz. The watchdog then wants a kick within half a minute (ten minutes
 * below 8 MHz); every sleep and every wait for the radio kicks it. board.h gives the bounds,
 * HAL_MCLK_KHZ_MIN and HAL_MCLK_KHZ_MAX. Where a crystal is the clock (hal/avr) both are its
 * frequency.
 */
void hal_init(void);
void hal_clock(uint16_t mclk_khz);
void hal_watchdog_kick(void);

/* SYSRSTIV of the last reset (SLAU208, SYS): 0 none, 2 brownout, 12 and 14 SVS, 22 watchdog. AVR:
 * MCUCSR (2467X): 1 power-on, 4 brown-out detector, 8 watchdog. MSP432: RSTCTL_HARDRESET_STAT. */
uint16_t hal_reset_cause(void);

/* Never returns; only a reset leads out. */
_Noreturn void hal_halt(void);

/* Time
 * ----
 * The slow clock is the VLO (see hal/msp430f5/hal.c for why). It is measured
 * against MCLK in hal_entropy_samples, so its length of a second follows
 * temperature as often as entropy is taken.
 */
uint32_t hal_seconds(void);
void hal_sleep_s(uint32_t seconds);
void hal_sleep_ms(uint16_t ms);
void hal_delay_us(uint16_t us);

/* Storage voltage and temperature
 * -------------------------------
 * The divider and the reference are on only during the call.
 */
#define HAL_STORAGE_MV_MAX 5000 /* full scale of every board so far */

#define HAL_NO_TEMPERATURE INT16_MIN /* of a board without a sensor */

uint16_t hal_storage_mv(void);
int16_t hal_temperature_centidegree(void);

/* Radio: SPI with chip select, and the packet interrupt
 * ------------------------------------------------------
 * hal_radio_select pulls the chip select and waits until the chip's crystal
 * runs; false if it does not within 10 ms.
 * hal_radio_arm clears and enables the packet interrupt (the falling edge of a CC2500's GDO0, the
 * rising one of a CC2420's FIFOP), hal_radio_wait sleeps
 * until it comes (true) or timeout_ms have passed (false), and disables it.
 */
void hal_spi_init(void);
/* Of chips with a regulator and a reset pin of their own. */
void hal_radio_power(bool on);
void hal_radio_reset(void);
bool hal_radio_select(void);
void hal_radio_deselect(void);
uint8_t hal_spi_byte(uint8_t out);
void hal_radio_arm(void);
bool hal_radio_wait(uint16_t timeout_ms);

/* Of a CC1000, whose registers are written over three pins, and which clocks its bits through the
 * microcontroller itself. hal_stream_start makes `first` the byte that goes out first, if it sends,
 * and starts the time; hal_stream_byte says which byte goes out next, and sleeps until the present
 * one is through: true, and the byte that came meanwhile; false when the time is over.
 */
void hal_radio_write(uint8_t reg, uint8_t value);
uint8_t hal_radio_read(uint8_t reg);
void hal_stream_start(bool send, uint8_t first, uint16_t timeout_ms);
bool hal_stream_byte(uint8_t out, uint8_t *in);
void hal_stream_stop(void);

/* Information flash
 * -----------------
 * Four segments; erased words read 0xFFFF, a written word can only be written
 * again after an erase. Power may go at any moment: a word half written or a
 * segment half erased must be expected afterwards. Segment A holds node_config. What is read is
 * what the memory holds, never a copy.
 */
#define HAL_SEGMENT_BYTES 128
enum hal_segment { HAL_SEGMENT_A, HAL_SEGMENT_B, HAL_SEGMENT_C, HAL_SEGMENT_D };

uint16_t hal_flash_word(enum hal_segment segment, uint16_t word_index);
void hal_flash_erase(enum hal_segment segment);
void hal_flash_write(enum hal_segment segment, uint16_t word_index, uint16_t value);

/* Entropy
 * -------
 * Raw samples: the low bytes of successive periods of the VLO, counted in
 * periods of the DCO (the idea of SLAA338). They are biased and correlated: test
 * and condition them (node/entropy.c).
 * HAL_ENTROPY_SRAM: the board has no two clocks to count each other. Samples are then what RAM held
 * at power-on, each byte once; behind the last one come zeros, which the health tests refuse.
 */
void hal_entropy_samples(uint8_t *samples, uint16_t count);

/* Marks and log
 * -------------
 * The mark is the trigger pin of the measurement unit. The log is a UART; it is
 * silent until hal_log_init.
 */
void hal_mark(bool high);
void hal_log_init(void);
void hal_log(const HAL_FLASH char *text);

#endif
