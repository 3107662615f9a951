/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * MSI, or the PLL on it, in the lower voltage range that carries the clock; the watch crystal, and
 * Stop 2 with the RTC's wakeup timer, which runs on in it (RM0351, 5.3.8 and 38.3.6).
 */
#include "duty_armv7em.h"

#include "board.h"

/* Fastest HCLK in Range 2: DS10198. */
#define RANGE_2_KHZ_MAX 26000
/* MSI as the PLL's input, and its range. */
#define MSI_PLL_KHZ 4000u
#define MSI_PLL_RANGE 6

static const uint16_t msi_khz[] = {100,  200,  400,   800,   1000,  2000,
                                   4000, 8000, 16000, 24000, 32000, 48000};
#define MSI_RANGES (sizeof msi_khz / sizeof msi_khz[0])

static uint32_t pll; /* RCC_PLLCFGR, or 0: MSI is the clock */

volatile uint16_t duty_fired;

void sunseal_isr_19(void);
void sunseal_isr_19(void) {
    RTC_ISR = ~(WUTF | RTC_INIT);
    EXTI_PR1 = LINE_RTC_WAKEUP;
    (void)EXTI_PR1; /* the writes have arrived */
    duty_fired++;
}

/* N and R of 4 MHz x N / R, rounded down: the VCO between 64 MHz and, in Range 2, 128 MHz. */
static uint32_t pll_setting(uint16_t mclk_khz, uint16_t *reached_khz) {
    if (mclk_khz < 8000)
        return 0;
    uint32_t eighths = mclk_khz <= 16000 || (mclk_khz > RANGE_2_KHZ_MAX && mclk_khz <= 43000);
    uint32_t r = eighths ? 8 : 4, n = mclk_khz * r / MSI_PLL_KHZ;
    *reached_khz = (uint16_t)(MSI_PLL_KHZ * n / r);
    return PLLREN | (r / 2 - 1) << 25 | n << 8 | PLLSRC_MSI;
}

static void pll_on(void) {
    RCC_CR |= PLLON;
    while ((RCC_CR & PLLRDY) == 0) {
    }
    RCC_CFGR = SW_PLL;
    while ((RCC_CFGR & SWS_PLL) != SWS_PLL) {
    }
}

void duty_begin(uint16_t mclk_khz) {
    RCC_APB1ENR1 |= PWREN;
    (void)RCC_APB1ENR1;
    PWR_CR1 = (mclk_khz > RANGE_2_KHZ_MAX ? VOS_RANGE_1 : VOS_RANGE_2) | DBP;
    RCC_BDCR = LSEON;
    while ((RCC_BDCR & LSERDY) == 0) {
    }
    RCC_BDCR = LSEON | RTCSEL_LSE | RTCEN;
    uint16_t reached_khz = 0;
    pll = pll_setting(mclk_khz, &reached_khz);
    uint32_t range = 0;
    while (range + 1 < MSI_RANGES && msi_khz[range + 1] <= mclk_khz)
        range++;
    if (pll != 0 && reached_khz > msi_khz[range]) {
        RCC_PLLCFGR = pll;
        pll_on();
        return;
    }
    pll = 0;
    RCC_CR = MSION | MSIRGSEL | range << 4;
}

uint16_t duty_timer(uint32_t period_s) {
    uint16_t parts = duty_divide(period_s, 0x10000);
    RTC_WPR = 0xCA;
    RTC_WPR = 0x53;
    RTC_CR = 0;
    while ((RTC_ISR & WUTWF) == 0) {
    }
    RTC_WUTR = period_s / parts - 1;
    EXTI_RTSR1 |= LINE_RTC_WAKEUP;
    EXTI_IMR1 |= LINE_RTC_WAKEUP;
    NVIC_ISER0 = NVIC_RTC_WKUP;
    PWR_CR1 |= LPMS_STOP_2;
    SCR |= SLEEPDEEP;
    RTC_CR = WUCKSEL_SECONDS | WUTE | WUTIE;
    return parts;
}

void duty_sleep(uint16_t seen) {
    sleep_until_fired(seen);
    if (pll != 0)
        pll_on(); /* a Stop mode switches it off and MSI in */
}
