/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The DCO tuned by the constants of the chip's descriptors (SLAU356, CS, "DCO frequency
 * calibration"), the watch crystal, and LPM3 with RTC_C, which runs on in it: timers do not.
 */
#include "duty.h"

#include "msp432/dco.inc"

#define REG32(address) (*(volatile uint32_t *)(address))
#define REG16(address) (*(volatile uint16_t *)(address))

#define CSKEY REG32(0x40010400)
#define CSCTL0 REG32(0x40010404)
#define CSCTL1 REG32(0x40010408)
#define CSCTL2 REG32(0x4001040C)
#define CSIFG REG32(0x40010448)
#define CSCLRIFG REG32(0x40010450)
#define CS_UNLOCK 0x695A
#define LFXT_EN 0x100
#define LFXTIFG 0x1
#define LFXT_DCO_DCO 0x00000033 /* ACLK, BCLK from LFXT; SMCLK, HSMCLK, MCLK from the DCO */
#define PCMCTL0 REG32(0x40010000)
#define PCMCTL1 REG32(0x40010004)
#define PCM_KEY 0x695A0000u
#define AM_LDO_VCORE1 1u
#define PMR_BUSY 0x100
#define PJSEL0 (*(volatile uint8_t *)0x40004D2A)
#define LFXT_PINS 0x03

#define RTCCTL0 REG16(0x40004400)
#define RTCCTL13 REG16(0x40004402)
#define RTCPS1CTL REG16(0x4000440A)
#define RTC_KEY 0xA500
#define RTCTEVIE 0x40
#define RTCTEVIFG 0x04
#define RTCHOLD 0x40
#define EVERY_MINUTE 0
#define RTIP_SECOND 0x1A /* RT1IP_6 (/ 128) | RT1PSIE */
#define RT1PSIFG 0x01

#define NVIC_ISER0 REG32(0xE000E100)
#define RTC_INTERRUPT 29
#define SCR REG32(0xE000ED10)
#define SLEEPDEEP 0x4

volatile uint16_t duty_fired;

void sunseal_isr_45(void);
void sunseal_isr_45(void) {
    RTCCTL0 = RTC_KEY | RTCTEVIE;
    RTCPS1CTL &= (uint16_t)~RT1PSIFG;
    (void)RTCPS1CTL; /* the write has arrived */
    duty_fired++;
}

void duty_begin(uint16_t mclk_khz) {
    CSKEY = CS_UNLOCK;
    PJSEL0 |= LFXT_PINS;
    CSCTL2 |= LFXT_EN;
    do
        CSCLRIFG = LFXTIFG;
    while (CSIFG & LFXTIFG);
    if (mclk_khz > 24000) {
        PCMCTL0 = PCM_KEY | AM_LDO_VCORE1;
        while (PCMCTL1 & PMR_BUSY) {
        }
    }
    CSCTL0 = dco_setting(mclk_khz);
    CSCTL1 = LFXT_DCO_DCO;
    CSKEY = 0;
}

uint16_t duty_timer(uint32_t period_s) {
    RTCCTL0 = RTC_KEY;
    RTCCTL13 = RTCHOLD;
    int minutes = period_s % 60 == 0;
    RTCPS1CTL = minutes ? 0 : RTIP_SECOND;
    REG16(0x40004410) = 0; /* minute and second */
    RTCCTL0 = minutes ? RTC_KEY | RTCTEVIE : RTC_KEY;
    RTCCTL13 = EVERY_MINUTE;
    NVIC_ISER0 = 1u << RTC_INTERRUPT;
    SCR |= SLEEPDEEP;
    return (uint16_t)(minutes ? period_s / 60 : period_s);
}

void duty_sleep(uint16_t seen) {
    __asm__ volatile("cpsid i" ::: "memory");
    while (duty_fired == seen) {
        /* WFI ends by an interrupt that is held off, too; its handler runs behind CPSIE. */
        __asm__ volatile("dsb\n\twfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
    }
    __asm__ volatile("cpsie i" ::: "memory");
}
