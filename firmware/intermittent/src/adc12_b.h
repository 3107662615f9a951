/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SLAU367P, ADC12_B and REF_A; addresses SLASE54D. */
#ifndef SUNSEAL_ADC12_B_H
#define SUNSEAL_ADC12_B_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint16_t *)(address))

#define ADC12CTL0 REGISTER(0x0800)
#define ADC12CTL1 REGISTER(0x0802)
#define ADC12CTL2 REGISTER(0x0804)
#define ADC12CTL3 REGISTER(0x0806)
#define ADC12LO REGISTER(0x0808)
#define ADC12HI REGISTER(0x080A)
#define ADC12IFGR2 REGISTER(0x0810)
#define ADC12IER2 REGISTER(0x0816)
#define ADC12MCTL0 REGISTER(0x0820)
#define ADC12MEM0 REGISTER(0x0860)
#define ADC12SC 0x0001
#define ADC12ENC 0x0002
#define ADC12ON 0x0010
#define ADC12MSC 0x0080
#define ADC12BUSY 0x0001
#define ADC12CONSEQ_2 0x0004
#define ADC12DIV_3 0x0060
#define ADC12DIV_7 0x00E0
#define ADC12SHP 0x0200
#define ADC12PDIV_1 0x2000
#define ADC12RES_2 0x0020
#define ADC12BATMAP 0x0040
#define ADC12VRSEL_1 0x0100
#define ADC12WINC 0x4000
#define ADC12LOIFG 0x0004
#define REFCTL0 REGISTER(0x01B0)
#define REFON 0x0001
#define REFGENBUSY 0x0400
#define REFGENRDY 0x1000

/* Converts a channel against 1.2 V: once, or (ADC12CONSEQ_2) all the time. mode goes into CTL1. */
static inline void adc_start(uint8_t channel, uint16_t mode) {
    REFCTL0 = REFON;
    while (!(REFCTL0 & REFGENRDY)) {
    }
    ADC12CTL0 = 0;
    ADC12CTL0 = ADC12MSC | ADC12ON;
    ADC12CTL1 = ADC12PDIV_1 | ADC12SHP | mode;
    ADC12CTL2 = ADC12RES_2;
    ADC12CTL3 = ADC12BATMAP;
    ADC12MCTL0 = (uint16_t)(ADC12WINC | ADC12VRSEL_1 | channel);
    ADC12CTL0 |= ADC12ENC | ADC12SC;
}

static inline void adc_stop(void) {
    ADC12IER2 = 0;
    ADC12CTL1 &= (uint16_t)~ADC12CONSEQ_2; /* so that ENC ends a conversion at once */
    ADC12CTL0 &= (uint16_t)~ADC12ENC;
    ADC12CTL0 = 0;
    while (REFCTL0 & REFGENBUSY) {
    }
    REFCTL0 = 0;
}

#endif
