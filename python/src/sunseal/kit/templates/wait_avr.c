void board_wait_ms(uint16_t ms) {
    while (ms--) {
        uint16_t turns = BOARD_MCLK_HZ / 1000 / 4; /* SBIW and BRNE are 4 cycles */
        __asm__ volatile("1: sbiw %0, 1\n\tbrne 1b" : "+w"(turns));
    }
}

/* An interrupt between looking at the flag and sleeping still wakes: SEI takes effect behind the next instruction. */
void board_sleep_until(const volatile uint8_t *flag) {
    __asm__ volatile("cli" : : : "memory");
    MCUCR = (uint8_t)((MCUCR & ~(SM0 | SM1 | SM2)) | SE | BOARD_SLEEP);
    while (!*flag) {
        __asm__ volatile("sei\n\tsleep\n\tcli" : : : "memory");
    }
    MCUCR &= (uint8_t)~SE;
    __asm__ volatile("sei" : : : "memory");
}
