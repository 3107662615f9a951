/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Start-up of a program that has none of its own, for the MSP430F5438A: a stack, no watchdog, main,
 * a halt. Variables are neither set nor cleared.
 */
#include <stdint.h>

int main(void);

__attribute__((naked, section(".text.start"))) void _start(void) {
    __asm__ volatile("mov #__stack_top, r1\n\t"
                     "mov #0x5A80, &0x015C\n\t" /* hold the watchdog (WDTCTL; SLAU208, 16.3.1) */
                     "call #main\n\t"
                     "bis #0xF0, sr\n" /* LPM4, interrupts off: the machine has halted */
                     "1: jmp 1b");
}

__attribute__((section(".vectors"), used)) static void (*const vectors[64])(void) = {[63] = _start};
