/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The FR5xx and FR6xx as programs of the boards use them. Registers and bits, with TI's names:
 * chip.h, which the build makes of data/.
 */
#ifndef SUNSEAL_MSP430FR5XX_H
#define SUNSEAL_MSP430FR5XX_H

#include "chip.h"

#define HAL_MCLK_KHZ_MIN 1000
#define HAL_MCLK_KHZ_MAX 16000

#define DCOFSEL_SHIFT 1 /* of CSCTL1: SLAU367 */

#define TB0CCTL_ACLK TB0CCTL2 /* whose CCI2B is ACLK */

#endif
