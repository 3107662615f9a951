/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Packets on a serial line as TinyOS 2.1.2 frames them (TEP 113; the CRC as its code has it): flag,
 * packet, CRC, flag; flags and escapes within are escaped. The CRC is CRC-16/XMODEM of the packet,
 * low byte first. A packet begins with a protocol byte.
 */
#ifndef SUNSEAL_BASE_HDLC_H
#define SUNSEAL_BASE_HDLC_H

#include <stdbool.h>
#include <stdint.h>

#include "message.h"

/* Protocol bytes: ACK and sequence byte; PACKET_ACK, sequence byte, dispatch and packet, which
 * wants an ACK; PACKET_NOACK, dispatch and packet. */
#define HDLC_ACK 0x43
#define HDLC_PACKET_ACK 0x44
#define HDLC_PACKET_NOACK 0x45
#define HDLC_DISPATCH_MESSAGE 0 /* an active message follows */

#define HDLC_CRC_BYTES 2
#define HDLC_BYTES (3 + MESSAGE_BYTES + HDLC_CRC_BYTES)

struct hdlc_reader {
    uint8_t bytes[HDLC_BYTES];
    uint8_t count;
    bool escaped, broken; /* too long, or an escape before a flag: not read until the next flag */
};

/* Takes a byte of the line. Returns the bytes of a packet with its CRC, which may be wrong, when
 * one is whole; else 0. */
uint8_t hdlc_read(struct hdlc_reader *reader, uint8_t byte);

/* Whether the CRC at the end of a packet is the packet's. */
bool hdlc_holds(const uint8_t *bytes, uint8_t count);

/* Writes the framed packet byte by byte. */
void hdlc_write(void (*put)(uint8_t byte), const uint8_t *packet, uint8_t count);

#endif
