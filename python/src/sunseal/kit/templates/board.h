/* Facts of the board that a program needs: @TITLE@. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#include "@DEVICE@.h"

#define BOARD_MCLK_HZ @MCLK_HZ@UL /* @MCLK_SOURCE@ */
#define BOARD_LED @LED_BIT@ /* @LED@ */
#define BOARD_LED_OUT @LED_OUT@
#define BOARD_LED_DIR @LED_DIR@

/* The UART at 9600 baud, 8N1, and the LED's pin. */
void board_init(void);
/* Send a text and wait until its last bit has left. */
void board_write(const char *text);
void board_toggle(void);
/* Wait about so long, at the clock after a reset. */
void board_wait_ms(uint16_t ms);
/* Sleep until a handler of an interrupt has set the flag; interrupts are enabled from then on. */
#define BOARD_SLEEP @SLEEP@
void board_sleep_until(const volatile uint8_t *flag);

#endif
