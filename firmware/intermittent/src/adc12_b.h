/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SLAU367P, ADC12_B and REF_A. */
#ifndef SUNSEAL_ADC12_B_H
#define SUNSEAL_ADC12_B_H

#include <stdint.h>

#include "chip.h"

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
