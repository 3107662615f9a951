#include "board.h"

@UART@
void board_toggle(void) {
    BOARD_LED_OUT ^= BOARD_LED;
}

@WAIT@
