/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Fields of the STM32L476's registers that the firmware uses: RM0351. Registers, with
 * STMicroelectronics' names: chip.h, which the build makes of data/.
 */
#ifndef SUNSEAL_STM32L476RG_H
#define SUNSEAL_STM32L476RG_H

#include "chip.h"

/* RTC. */
#define WUCKSEL_SECONDS 4u
#define WUTE 0x400u
#define WUTIE 0x4000u
#define WUTWF 0x4u
#define WUTF 0x400u
#define RTC_INIT 0x80u

/* PWR. */
#define LPMS_STOP_2 2u
#define DBP 0x100u
#define VOS_RANGE_1 0x200u
#define VOS_RANGE_2 0x400u

/* EXTI. */
#define LINE_RTC_WAKEUP (1u << 20)

/* RCC. */
#define MSION 0x1u
#define MSIRDY 0x2u
#define MSIRGSEL 0x8u
#define PLLON (1u << 24)
#define PLLRDY (1u << 25)
#define SW_PLL 3u
#define SWS_PLL 0xCu
#define PLLSRC_MSI 1u
#define PLLREN (1u << 24)
#define GPIOAEN 0x1u
#define PWREN (1u << 28)
#define LSEON 0x1u
#define LSERDY 0x2u
#define RTCSEL_LSE 0x100u
#define RTCEN 0x8000u

/* Flash. */
#define ICEN 0x200u
#define DCEN 0x400u

/* The core. */
#define NVIC_RTC_WKUP 0x8u

#endif
