/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The MSP430F1611 as the node's program uses it. Registers and bits, with TI's names: chip.h, which
 * the build makes of data/.
 */
#ifndef SUNSEAL_MSP430F1611_H
#define SUNSEAL_MSP430F1611_H

#include "chip.h"

/* SLAS368, figure 1: 8 MHz at 3.6 V. */
#define HAL_MCLK_KHZ_MIN 1000
#define HAL_MCLK_KHZ_MAX 8000

/* The crystal is steadier than the DCO's steps: counting one by the other gives nothing new. */
#define HAL_ENTROPY_SRAM

#define SSEL_SMCLK 0x30   /* SSEL1 | SSEL0, USART */
#define FSSEL_MCLK 0x0040 /* FSSEL_1, flash */
#define TB_UPTIME 0x01E6  /* TBSSEL_1 (ACLK) | ID_3 (/ 8) | MC_2 | TBCLR | TBIE */

#endif
