/* @TITLE@: says hello over the UART, blinks, and stops. */
#include "board.h"

#define BLINKS 3

volatile uint8_t blinks; /* how often it has blinked: `sunseal run --exit blinks` */

int main(void) {
    board_init();
    board_write("hello from @BOARD@\r\n");
    while (blinks < BLINKS) {
        board_toggle();
        board_wait_ms(20);
        board_toggle();
        board_wait_ms(20);
        blinks++;
    }
    board_write("ready\r\n");
    return 0; /* start-up code stops the chip: `sunseal run` ends here */
}
