/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An MSP432P401R: vectors, floating-point unit, watchdog, variables. */
#include <stdint.h>

extern uint32_t data_load[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];
int main(void);
void finished(void);
void start(void);

__attribute__((section(".vectors"), used))
const void *const vectors[16] = {stack_top, (const void *)start};

void finished(void) {
    for (;;) {
        __asm__ volatile("");
    }
}

void start(void) {
    *(volatile uint32_t *)0xE000ED88 |= 0x00F00000; /* CPACR, DDI0403, B3.2.20 */
    __asm__ volatile("dsb\n\tisb");
    *(volatile uint16_t *)0x4000480C = 0x5A80; /* WDTCTL, SLAU356: held */
    volatile uint32_t *to = data_start;
    for (volatile uint32_t *from = data_load; to != data_end;) {
        *to++ = *from++;
    }
    for (to = bss_start; to != bss_end;) {
        *to++ = 0;
    }
    main();
    finished();
}
