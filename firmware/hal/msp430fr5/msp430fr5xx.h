/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The registers of the FR5xx and FR6xx that programs of the boards use, with TI's names: those that
 * the chips have in common lie at the same places. Base addresses: SLASE54D, table 9-43; offsets
 * and bits: SLAU367, the register tables of each chapter.
 */
#ifndef SUNSEAL_MSP430FR5XX_H
#define SUNSEAL_MSP430FR5XX_H

#include <stdint.h>

#define HAL_MCLK_KHZ_MIN 1000
#define HAL_MCLK_KHZ_MAX 16000

#define SUNSEAL_REG8(address) (*(volatile uint8_t *)(address))
#define SUNSEAL_REG16(address) (*(volatile uint16_t *)(address))

#define BIT0 0x01
#define BIT1 0x02
#define BIT2 0x04
#define BIT3 0x08
#define BIT4 0x10
#define BIT5 0x20
#define BIT6 0x40
#define BIT7 0x80

/* Status register. */
#define GIE 0x0008
#define CPUOFF 0x0010
#define OSCOFF 0x0020
#define SCG0 0x0040
#define SCG1 0x0080

/* Power management, 0x0120: pins stay as the reset left them until LOCKLPM5 is cleared. */
#define PM5CTL0 SUNSEAL_REG16(0x0130)
#define LOCKLPM5 0x0001

/* FRAM controller, 0x0140. */
#define FRCTL0 SUNSEAL_REG16(0x0140)
#define FRCTLPW 0xA500
#define NWAITS_1 0x0010

/* Watchdog, 0x015C. */
#define WDTCTL SUNSEAL_REG16(0x015C)
#define WDTPW 0x5A00
#define WDTHOLD 0x0080
#define WDTSSEL__VLO 0x0040
#define WDTCNTCL 0x0008
#define WDTIS__8192K 0x0002 /* 2^23 */
#define WDTIS__512K 0x0003  /* 2^19 */

/* Clocks, 0x0160. */
#define CSCTL0 SUNSEAL_REG16(0x0160)
#define CSCTL0_H SUNSEAL_REG8(0x0161)
#define CSCTL1 SUNSEAL_REG16(0x0162)
#define CSCTL2 SUNSEAL_REG16(0x0164)
#define CSCTL3 SUNSEAL_REG16(0x0166)
#define CSKEY 0xA500
#define DCORSEL 0x0040
#define DCOFSEL_SHIFT 1
#define SELA__VLOCLK 0x0100
#define SELS__DCOCLK 0x0030
#define SELM__DCOCLK 0x0003
#define DIVM__2 0x0001
#define DIVM__4 0x0002

/* System, 0x0180. */
#define SYSRSTIV SUNSEAL_REG16(0x019E)

/* Reference, 0x01B0. */
#define REFCTL0 SUNSEAL_REG16(0x01B0)
#define REFVSEL_2 0x0020 /* 2.5 V */
#define REFTCOFF 0x0008
#define REFON 0x0001

/* Ports, 0x0200 and up: two 8-bit ports a block. */
#define P1OUT SUNSEAL_REG8(0x0202)
#define P1DIR SUNSEAL_REG8(0x0204)
#define P1SEL0 SUNSEAL_REG8(0x020A)
#define P1SEL1 SUNSEAL_REG8(0x020C)
#define P2DIR SUNSEAL_REG8(0x0205)
#define P2SEL1 SUNSEAL_REG8(0x020D)
#define P5IN SUNSEAL_REG8(0x0240)
#define P5OUT SUNSEAL_REG8(0x0242)
#define P5DIR SUNSEAL_REG8(0x0244)
#define P5SEL0 SUNSEAL_REG8(0x024A)
#define P6DIR SUNSEAL_REG8(0x0245)
#define P6IES SUNSEAL_REG8(0x0259)
#define P6IE SUNSEAL_REG8(0x025B)
#define P6IFG SUNSEAL_REG8(0x025D)
#define PAOUT SUNSEAL_REG16(0x0202)
#define PBOUT SUNSEAL_REG16(0x0222)
#define PBDIR SUNSEAL_REG16(0x0224)
#define P6OUT SUNSEAL_REG8(0x0243)
#define PDOUT SUNSEAL_REG16(0x0262)
#define PDDIR SUNSEAL_REG16(0x0264)

/* Timer0_A, Timer1_A, Timer0_B. */
#define TA0CTL SUNSEAL_REG16(0x0340)
#define TA0R SUNSEAL_REG16(0x0350)
#define TA0EX0 SUNSEAL_REG16(0x0360)
#define TA1CTL SUNSEAL_REG16(0x0380)
#define TA1CCTL0 SUNSEAL_REG16(0x0382)
#define TA1CCR0 SUNSEAL_REG16(0x0392)
#define TA1EX0 SUNSEAL_REG16(0x03A0)
#define TB0CTL SUNSEAL_REG16(0x03C0)
#define TB0CCTL6 SUNSEAL_REG16(0x03CE)
#define TBSSEL__SMCLK 0x0200
#define TASSEL__ACLK 0x0100
#define ID__8 0x00C0
#define MC__STOP 0x0000
#define MC__UP 0x0010
#define MC__CONTINUOUS 0x0020
#define TACLR 0x0004
#define TAIE 0x0002
#define TAIFG 0x0001
#define CM_1 0x4000
#define CCIS_1 0x1000
#define SCS 0x0800
#define CAP 0x0100
#define CCIE 0x0010

/* eUSCI_A0, 0x05C0, as UART. */
#define UCA0CTLW0 SUNSEAL_REG16(0x05C0)
#define UCA0BRW SUNSEAL_REG16(0x05C6)
#define UCA0MCTLW SUNSEAL_REG16(0x05C8)
#define UCA0STATW SUNSEAL_REG16(0x05CA)
#define UCA0TXBUF SUNSEAL_REG16(0x05CE)
#define UCA0IFG SUNSEAL_REG16(0x05DC)

/* eUSCI_B1, 0x0680, as SPI master. */
#define UCB1CTLW0 SUNSEAL_REG16(0x0680)
#define UCB1BRW SUNSEAL_REG16(0x0686)
#define UCB1RXBUF SUNSEAL_REG16(0x068C)
#define UCB1TXBUF SUNSEAL_REG16(0x068E)
#define UCB1IFG SUNSEAL_REG16(0x06AC)
#define UCCKPH 0x8000
#define UCMSB 0x2000
#define UCMST 0x0800
#define UCSYNC 0x0100
#define UCSSEL__SMCLK 0x0080
#define UCSWRST 0x0001
#define UCBUSY 0x0001
#define UCRXIFG 0x0001
#define UCTXIFG 0x0002

/* ADC12_B, 0x0800. */
#define ADC12CTL0 SUNSEAL_REG16(0x0800)
#define ADC12CTL1 SUNSEAL_REG16(0x0802)
#define ADC12CTL2 SUNSEAL_REG16(0x0804)
#define ADC12CTL3 SUNSEAL_REG16(0x0806)
#define ADC12IFGR0 SUNSEAL_REG16(0x080C)
#define ADC12MCTL0 SUNSEAL_REG16(0x0820)
#define ADC12MEM0 SUNSEAL_REG16(0x0860)
#define ADC12SHT0_8 0x0800 /* 256 ADC12CLK */
#define ADC12ON 0x0010
#define ADC12ENC 0x0002
#define ADC12SC 0x0001
#define ADC12SHP 0x0200
#define ADC12SSEL_0 0x0000 /* ADC12OSC, from MODOSC */
#define ADC12RES__12BIT 0x0020
#define ADC12TCMAP 0x0080   /* temperature sensor on channel 30 */
#define ADC12VRSEL_1 0x0100 /* VREF and AVSS */
#define ADC12INCH_30 0x001E

#endif
