void board_wait_ms(uint16_t ms) {
    while (ms--) {
        uint32_t turns = BOARD_MCLK_HZ / 1000 / 3; /* SUBS and BNE are 3 cycles */
        __asm__ volatile("1: subs %0, #1\n\tbne 1b" : "+r"(turns) : : "cc");
    }
}
