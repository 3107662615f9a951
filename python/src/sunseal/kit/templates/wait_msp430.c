void board_wait_ms(uint16_t ms) {
    while (ms--) {
        uint16_t turns = BOARD_MCLK_HZ / 1000 / 3; /* DEC and JNZ are 3 cycles */
        __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
    }
}

/* An interrupt between looking at the flag and sleeping still wakes: GIE and CPUOFF are set at once. */
void board_sleep_until(const volatile uint8_t *flag) {
    __asm__ volatile("dint\n\tnop" : : : "memory");
    while (!*flag) {
        __asm__ volatile("nop\n\tbis %0, r2\n\tnop\n\tdint\n\tnop" : : "i"(BOARD_SLEEP | GIE) : "memory");
    }
    __asm__ volatile("nop\n\teint\n\tnop" : : : "memory");
}
