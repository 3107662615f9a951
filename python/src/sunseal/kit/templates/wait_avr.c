void board_wait_ms(uint16_t ms) {
    while (ms--) {
        uint16_t turns = BOARD_MCLK_HZ / 1000 / 4; /* SBIW and BRNE are 4 cycles */
        __asm__ volatile("1: sbiw %0, 1\n\tbrne 1b" : "+w"(turns));
    }
}
