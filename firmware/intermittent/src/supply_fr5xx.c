/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "adc12_b.h"
#include "sunseal/supply.h"

/* LPM3 with GIE until an interrupt ends it; supply_fr5xx.S. */
void sunseal_supply_sleep(void);

static uint16_t look(uint8_t channel) {
    adc_start(channel, ADC12DIV_3); /* 18 periods of MODOSC / 16 */
    while (ADC12CTL1 & ADC12BUSY) {
    }
    uint16_t code = ADC12MEM0;
    adc_stop();
    return code;
}

void sunseal_supply_wait(uint8_t channel, uint16_t above) {
    uint16_t watchdog = WDTCTL;
    while (look(channel) <= above) {
        WDTCTL = WDTPW | WDTSSEL__VLO | WDTTMSEL | WDTCNTCL | WDTIS__512;
        SFRIFG1 &= (uint16_t)~WDTIE;
        SFRIE1 |= WDTIE;
        sunseal_supply_sleep();
        SFRIE1 &= (uint16_t)~WDTIE;
    }
    WDTCTL = (uint16_t)(WDTPW | WDTCNTCL | (watchdog & 0xFF));
}
