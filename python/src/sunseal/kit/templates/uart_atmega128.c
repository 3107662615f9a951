#define UBRR (BOARD_MCLK_HZ / 8 / 9600 - 1) /* U2X: an eighth of the clock */

void board_init(void) {
    BOARD_LED_DIR |= BOARD_LED;
    UCSR@NUMBER@A = U2X;
    UBRR@NUMBER@H = UBRR >> 8;
    UBRR@NUMBER@L = UBRR & 0xFF;
    UCSR@NUMBER@C = UCSZ1 | UCSZ0;
    UCSR@NUMBER@B = RXEN | TXEN;
}

void board_write(const char *text) {
    if (!*text) return;
    while (*text) {
        while (!(UCSR@NUMBER@A & UDRE)) {}
        UCSR@NUMBER@A = TXC | U2X; /* cleared by writing a one */
        UDR@NUMBER@ = (uint8_t)*text++;
    }
    while (!(UCSR@NUMBER@A & TXC)) {}
}
