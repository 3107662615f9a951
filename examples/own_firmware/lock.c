/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The tutorial's program (docs/tutorial.md): does the code that was typed open the lock?
 * With -DLEAKS it stops at the first byte that differs: its time tells how many were right.
 */
#include <stdint.h>

uint8_t code[8]; /* in RAM since the lock was made: nothing here sets it */
uint8_t typed[8];
volatile uint8_t opened;

__attribute__((noinline)) uint8_t same(const uint8_t *a, const uint8_t *b, uint16_t size) {
#ifdef LEAKS
    while (size--) {
        if (*a++ != *b++) return 0;
    }
    return 1;
#else
    uint8_t differ = 0;
    while (size--) differ |= *a++ ^ *b++;
    return (uint8_t)((uint16_t)(differ - 1) >> 15);
#endif
}

__attribute__((noinline)) void done(void) {
    __asm__ volatile("");
}

int main(void) {
    for (uint16_t i = 0; i < sizeof typed; i++) typed[i] = (uint8_t)i;
    opened = same(code, typed, sizeof code);
    done();
    return 0;
}
