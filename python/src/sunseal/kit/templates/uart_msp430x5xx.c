void board_init(void) {
    BOARD_LED_DIR |= BOARD_LED;
@PINS@
    UCA@NUMBER@CTL1 = UCSWRST;
    UCA@NUMBER@CTL0 = 0;
    UCA@NUMBER@CTL1 = UCSSEL__SMCLK | UCSWRST;
    UCA@NUMBER@BRW = @BRW@;
    UCA@NUMBER@MCTL = @MCTL@;
    UCA@NUMBER@CTL1 &= (uint8_t)~UCSWRST;
}

void board_write(const char *text) {
    while (*text) {
        while (!(UCA@NUMBER@IFG & UCTXIFG)) {}
        UCA@NUMBER@TXBUF = (uint8_t)*text++;
    }
    while (UCA@NUMBER@STAT & UCBUSY) {}
}
