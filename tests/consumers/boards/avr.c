/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An ATmega128 with avr-libc's start-up code. */
void finished(void);

__attribute__((noinline, used)) void finished(void) {
    for (;;) {
        __asm__ volatile("");
    }
}
