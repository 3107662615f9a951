/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The MSP430F5438A as this firmware uses it. Registers and bits, with TI's names: chip.h, which the
 * build makes of data/.
 */
#ifndef SUNSEAL_MSP430F5438A_H
#define SUNSEAL_MSP430F5438A_H

#include "chip.h"

#define HAL_MCLK_KHZ_MIN 1000
#define HAL_MCLK_KHZ_MAX 25000

/* Fields (SLAU208): of PMMCTL0 as a mask, of UCSCTL1 and UCSCTL2 by their places. */
#define PMMCOREV 0x0003
#define DCORSEL_SHIFT 4
#define FLLD_SHIFT 12

#define TB0CCTL_ACLK TB0CCTL6 /* whose CCI6B is ACLK */

#endif
