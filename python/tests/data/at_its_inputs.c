/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program of an MSP430FR5994 that samples channel A4 and reads the temperature of a TMP102 at
 * 0x48 on eUSCI_B2, again and again; `sampled` and `sensed` have what came last.
 */
#include <stdint.h>

#define REG8(a) (*(volatile uint8_t *)(a))
#define REG16(a) (*(volatile uint16_t *)(a))

volatile uint16_t sampled, sensed;

int main(void) {
    REG16(0x015C) = 0x5A80; /* WDTCTL: hold */
    REG16(0x0130) = 0;      /* PM5CTL0: pins unlocked */
    REG16(0x0800) = 0x0210; /* ADC12CTL0: 16 clocks of sampling, on */
    REG16(0x0802) = 0x0200; /* ADC12CTL1: SHP */
    REG16(0x0804) = 0x0020; /* ADC12CTL2: 12 bits */
    REG16(0x0820) = 4;      /* ADC12MCTL0: A4 */
    REG16(0x06C0) = 0x0F81; /* UCB2CTLW0: I2C, master, SMCLK, in reset */
    REG16(0x06C6) = 10;
    REG16(0x06E0) = 0x48;
    REG16(0x06C0) = 0x0F80;
    for (;;) {
        REG16(0x0800) = 0x0213; /* ENC, SC */
        while (!(REG16(0x080C) & 1))
            ;
        sampled = REG16(0x0860);
        REG16(0x06C0) = 0x0F82; /* START, receiver */
        while (!(REG16(0x06EC) & 1))
            ;
        uint16_t high = REG16(0x06CC);
        REG16(0x06C0) = 0x0F84; /* STOP */
        while (!(REG16(0x06EC) & 1))
            ;
        sensed = (uint16_t)(high << 8 | REG16(0x06CC));
        while (REG16(0x06C0) & 4)
            ;
    }
}
