/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Registers of the hardware multiplier (MSP430x5xx family guide SLAU208, MPY32 chapter; base 0x04C0
 * on the MSP430F5438A, SLAS655, and the MSP430FR5994, SLASE54). The first six are all that a 16-bit
 * multiplier has. Plain numbers: a macro of the assembler would split a sum at its spaces. */
#ifndef SUNSEAL_MPY_REGISTERS_H
#define SUNSEAL_MPY_REGISTERS_H

#ifdef SUNSEAL_DEVICE_msp430f1611
/* SLAU049 (MSP430x1xx), hardware multiplier. */
#define MPY 0x0130
#define MAC 0x0134
#define OP2 0x0138
#define RESLO 0x013A
#define RESHI 0x013C
#define SUMEXT 0x013E
#else
#define MPY 0x04C0
#define MAC 0x04C4
#define OP2 0x04C8
#define RESLO 0x04CA
#define RESHI 0x04CC
#define SUMEXT 0x04CE
#endif

#define MPY32L 0x04D0
#define MPY32H 0x04D2
#define MAC32L 0x04D8
#define MAC32H 0x04DA
#define OP2L 0x04E0
#define OP2H 0x04E2
#define RES0 0x04E4
#define RES1 0x04E6
#define RES2 0x04E8
#define RES3 0x04EA

#endif
