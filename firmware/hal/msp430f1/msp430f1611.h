/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The registers of the MSP430F1611 that the node's program uses, with TI's names: SLAS368,
 * peripheral file map; bits: SLAU049, the register tables of each chapter.
 */
#ifndef SUNSEAL_MSP430F1611_H
#define SUNSEAL_MSP430F1611_H

#include "msp430/status.h"
#include "registers.h"

/* SLAS368, figure 1: 8 MHz at 3.6 V. */
#define HAL_MCLK_KHZ_MIN 1000
#define HAL_MCLK_KHZ_MAX 8000

/* The crystal is steadier than the DCO's steps: counting one by the other gives nothing new. */
#define HAL_ENTROPY_SRAM

/* Special functions. */
#define IFG1 SUNSEAL_REG8(0x0002)
#define IFG2 SUNSEAL_REG8(0x0003)
#define ME1 SUNSEAL_REG8(0x0004)
#define ME2 SUNSEAL_REG8(0x0005)
#define URXIFG0 0x40 /* IFG1 */
#define UTXIFG1 0x20 /* IFG2 */
#define USPIE0 0x40  /* ME1 */
#define UTXE1 0x20   /* ME2 */

#define WDTCTL SUNSEAL_REG16(0x0120)
#define WDTPW 0x5A00
#define WDTHOLD 0x0080

/* Ports. */
#define P1IN SUNSEAL_REG8(0x0020)
#define P1OUT SUNSEAL_REG8(0x0021)
#define P1DIR SUNSEAL_REG8(0x0022)
#define P1IFG SUNSEAL_REG8(0x0023)
#define P1IES SUNSEAL_REG8(0x0024)
#define P1IE SUNSEAL_REG8(0x0025)
#define P2OUT SUNSEAL_REG8(0x0029)
#define P2DIR SUNSEAL_REG8(0x002A)
#define P3OUT SUNSEAL_REG8(0x0019)
#define P3DIR SUNSEAL_REG8(0x001A)
#define P3SEL SUNSEAL_REG8(0x001B)
#define P4OUT SUNSEAL_REG8(0x001D)
#define P4DIR SUNSEAL_REG8(0x001E)
#define P5OUT SUNSEAL_REG8(0x0031)
#define P5DIR SUNSEAL_REG8(0x0032)
#define P6OUT SUNSEAL_REG8(0x0035)
#define P6DIR SUNSEAL_REG8(0x0036)

/* USART0 as SPI master, USART1 as UART. */
#define U0CTL SUNSEAL_REG8(0x0070)
#define U0TCTL SUNSEAL_REG8(0x0071)
#define U0MCTL SUNSEAL_REG8(0x0073)
#define U0BR0 SUNSEAL_REG8(0x0074)
#define U0BR1 SUNSEAL_REG8(0x0075)
#define U0RXBUF SUNSEAL_REG8(0x0076)
#define U0TXBUF SUNSEAL_REG8(0x0077)
#define U1CTL SUNSEAL_REG8(0x0078)
#define U1TCTL SUNSEAL_REG8(0x0079)
#define U1MCTL SUNSEAL_REG8(0x007B)
#define U1BR0 SUNSEAL_REG8(0x007C)
#define U1BR1 SUNSEAL_REG8(0x007D)
#define U1TXBUF SUNSEAL_REG8(0x007F)
#define CHAR 0x10
#define SYNC 0x04
#define MM 0x02
#define SWRST 0x01
#define CKPH 0x80
#define SSEL_SMCLK 0x30
#define STC 0x02
#define TXEPT 0x01

/* ADC12. */
#define ADC12MCTL0 SUNSEAL_REG8(0x0080)
#define ADC12MEM0 SUNSEAL_REG16(0x0140)
#define ADC12CTL0 SUNSEAL_REG16(0x01A0)
#define ADC12CTL1 SUNSEAL_REG16(0x01A2)
#define ADC12IFG SUNSEAL_REG16(0x01A4)
#define SHT0_8 0x0800
#define REF2_5V 0x0040
#define REFON 0x0020
#define ADC12ON 0x0010
#define ENC 0x0002
#define ADC12SC 0x0001
#define SHP 0x0200
#define SREF_1 0x10
#define INCH_10 0x0A /* temperature sensor */
#define INCH_11 0x0B /* half of AVCC */

/* Flash. */
#define FCTL1 SUNSEAL_REG16(0x0128)
#define FCTL2 SUNSEAL_REG16(0x012A)
#define FCTL3 SUNSEAL_REG16(0x012C)
#define FWKEY 0xA500
#define ERASE 0x0002
#define WRT 0x0040
#define FSSEL_MCLK 0x0040
#define BUSY 0x0001
#define LOCK 0x0010

/* Timer_B. */
#define TBCTL SUNSEAL_REG16(0x0180)
#define TBCCTL0 SUNSEAL_REG16(0x0182)
#define TBR SUNSEAL_REG16(0x0190)
#define TBCCR0 SUNSEAL_REG16(0x0192)
#define TB_UPTIME 0x01E6 /* TBSSEL_1 (ACLK) | ID_3 (/ 8) | MC_2 | TBCLR | TBIE */
#define TBIFG 0x0001
#define CCIE 0x0010

#endif
