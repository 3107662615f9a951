void board_wait_ms(uint16_t ms) {
    while (ms--) {
        uint32_t turns = BOARD_MCLK_HZ / 1000 / 3; /* SUBS and BNE are 3 cycles */
        __asm__ volatile("1: subs %0, #1\n\tbne 1b" : "+r"(turns) : : "cc");
    }
}

/* An interrupt between looking at the flag and sleeping still wakes: WFI ends at one that is pending and masked. */
void board_sleep_until(const volatile uint8_t *flag) {
    __asm__ volatile("cpsid i" : : : "memory");
    SCR = BOARD_SLEEP;
    while (!*flag) {
        __asm__ volatile("dsb\n\twfi\n\tcpsie i\n\tisb\n\tcpsid i" : : : "memory");
    }
    __asm__ volatile("cpsie i" : : : "memory");
}
