/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * How the headers of all chips name a register, and bits of one.
 */
#ifndef SUNSEAL_REGISTERS_H
#define SUNSEAL_REGISTERS_H

#include <stdint.h>

#define SUNSEAL_REG8(address) (*(volatile uint8_t *)(address))
#define SUNSEAL_REG16(address)                                                                     \
    (*(volatile uint16_t *)(address)) /* AVR writes the high byte first */
#define SUNSEAL_REG32(address) (*(volatile uint32_t *)(address))

#define BIT0 0x01
#define BIT1 0x02
#define BIT2 0x04
#define BIT3 0x08
#define BIT4 0x10
#define BIT5 0x20
#define BIT6 0x40
#define BIT7 0x80

#endif
