/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Bits of an eUSCI's registers, of the FR5xx as of the MSP432 (SLAU367, SLAU356).
 */
#ifndef SUNSEAL_EUSCI_H
#define SUNSEAL_EUSCI_H

#define UCCKPH 0x8000
#define UCMSB 0x2000
#define UCMST 0x0800
#define UCSYNC 0x0100
#define UCSSEL__SMCLK 0x0080
#define UCSWRST 0x0001
#define UCBUSY 0x0001
#define UCRXIFG 0x0001
#define UCTXIFG 0x0002

#endif
