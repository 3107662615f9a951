void board_init(void) {
    BOARD_LED_DIR |= BOARD_LED;
@PINS@
    UCA@NUMBER@CTLW0 = UCSSEL__SMCLK | UCSWRST;
    UCA@NUMBER@BRW = @BRW@;
    UCA@NUMBER@MCTLW = @MCTLW@;
    UCA@NUMBER@CTLW0 &= (uint16_t)~UCSWRST;
}

void board_write(const char *text) {
    while (*text) {
        while (!(UCA@NUMBER@IFG & UCTXIFG)) {}
        UCA@NUMBER@TXBUF = (uint8_t)*text++;
    }
    while (UCA@NUMBER@STATW & UCBUSY) {}
}
