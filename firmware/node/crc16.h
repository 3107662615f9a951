/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * CRC-16/CCITT-FALSE: polynomial 0x1021, start 0xFFFF, highest bit first; what
 * binascii.crc_hqx(data, 0xFFFF) computes in Python.
 */
#ifndef SUNSEAL_CRC16_H
#define SUNSEAL_CRC16_H

#include <stddef.h>
#include <stdint.h>

uint16_t crc16(const uint8_t *data, size_t length);

#endif
