/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Bits of an MSP430's status register.
 */
#ifndef SUNSEAL_MSP430_STATUS_H
#define SUNSEAL_MSP430_STATUS_H

#define GIE 0x0008
#define CPUOFF 0x0010
#define OSCOFF 0x0020
#define SCG0 0x0040
#define SCG1 0x0080

#endif
