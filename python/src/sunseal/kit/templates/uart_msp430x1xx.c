void board_init(void) {
    BOARD_LED_DIR |= BOARD_LED;
@PINS@
    ME@MODULE@ |= UTXE@NUMBER@ | URXE@NUMBER@;
    U@NUMBER@CTL = SWRST;
    U@NUMBER@CTL = CHAR | SWRST;
    U@NUMBER@TCTL = SSEL0 | TXEPT;
    U@NUMBER@BR0 = @BR@;
    U@NUMBER@BR1 = 0;
    U@NUMBER@MCTL = @MCTL@;
    U@NUMBER@CTL &= (uint8_t)~SWRST;
}

void board_write(const char *text) {
    while (*text) {
        while (!(IFG@MODULE@ & UTXIFG@NUMBER@)) {}
        U@NUMBER@TXBUF = (uint8_t)*text++;
    }
    while (!(U@NUMBER@TCTL & TXEPT)) {}
}
