void board_init(void) {
@PINS@
    BOARD_LED_DIR = (BOARD_LED_DIR & ~(3u << @LED_SHIFT@)) | 1u << @LED_SHIFT@;
    USART@NUMBER@_BRR = @BRR@;
    USART@NUMBER@_CR1 = USART_CR1_TE | USART_CR1_UE;
}

void board_write(const char *text) {
    while (*text) {
        while (!(USART@NUMBER@_ISR & USART_ISR_TXE)) {}
        USART@NUMBER@_TDR = (uint8_t)*text++;
    }
    while (!(USART@NUMBER@_ISR & USART_ISR_TC)) {}
}
