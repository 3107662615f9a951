void board_wait_ms(uint16_t ms) {
    while (ms--) {
        uint16_t turns = BOARD_MCLK_HZ / 1000 / 3; /* DEC and JNZ are 3 cycles */
        __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
    }
}
