/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The MSP432P401R as the node's program uses it: SLAU356. Registers, with TI's names, and bits that
 * it shares with the MSP430: chip.h, which the build makes of data/.
 */
#ifndef SUNSEAL_MSP432P401R_H
#define SUNSEAL_MSP432P401R_H

#include "chip.h"

/* SLAS826, CPU frequency ranges: 24 MHz in AM_LDO_VCORE0. */
#define HAL_MCLK_KHZ_MIN 1000
#define HAL_MCLK_KHZ_MAX 24000
/* Above it a wait state (SLAS826, execution frequency against flash wait states). */
#define FLASH_KHZ_MAX 16000

/* Timers' capture inputs do not see the VLO; of 64 KB of RAM there is enough. */
#define HAL_ENTROPY_SRAM

/* Core: DDI0403, B3. */
#define NVIC_TA1_0 (1U << 10)        /* handler 26 */
#define NVIC_RTC_C (1U << 29)        /* handler 45 */
#define NVIC_PORT2 (1U << (36 - 32)) /* handler 52 */

/* RTC_C. */
#define RTC_KEY 0xA500
#define RTCHOLD 0x40
#define RTCPS_SECOND 0x1A /* RT1IP_6 (/ 128) | RT1PSIE */
#define RT1PSIFG 0x01

/* WDT_A. */
#define WDTIS__8192K 0x0002
#define WDTIS__512K 0x0003

/* Ports: two of eight bits a block. */
#define LFXT_PINS 0x03

/* CS. */
#define CS_UNLOCK 0x695A
/* ACLK, BCLK from LFXT; HSMCLK, MCLK from the DCO, SMCLK half of it: 12 MHz at most in VCORE0. */
#define LFXT_DCO_DCO_BY_2 0x10000033

/* FLCTL. */
#define RDCTL_1_WAIT_BUFFERED 0x1030 /* WAIT_1 | BUFD | BUFI */
#define PRG_ENABLE 0x1
#define PRG_VERIFIED 0xC /* VER_PST | VER_PRE, as after a reset */
#define ERASE_START 0x1
#define ERASE_CLR_STAT 0x80000
#define FLCTL_PRG 0x08
#define FLCTL_ERASE 0x20

/* ADC14. */
#define ADC14_SAMPLING 0x44000710 /* PDIV_1 (/ 4) | SHP | SHT0_7 (192) | ON; clock from MODOSC */
#define ADC14ENC_SC 0x3
#define ADC14RES__14BIT 0x30
#define ADC14VRSEL_1 0x100 /* VREF and AVSS */
#define ADC14INCH_22 22    /* temperature sensor */

#endif
