/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Messages between a base station and a node (Rizvi et al. 2009, section II-C), the same on the air
 * and on the serial port: an active message of TinyOS, whose type says what it carries.
 *
 *   to 2, from 2, length 1, group 1, type 1, then `length` bytes of payload: sequence number, body
 *
 * Stop-and-wait, as the report has it: key, data and results go in segments of 8 bytes, the last
 * one first: the sequence number counts down to 0, so the first one says how many there are. Each
 * is answered by an ACK before the next.
 *
 * In a window, which the report leaves for later (section V-D): START tells bytes, packet, window
 * and key; then data and results go in packets of so many bytes, numbered from 0, the last one the
 * rest. A burst is as many as the window holds; its last one, ..._ENDS, is answered by an ACK that
 * says what has come (window.h), and what is missing is sent again.
 */
#ifndef SUNSEAL_BASE_MESSAGE_H
#define SUNSEAL_BASE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#define MESSAGE_HEADER_BYTES 7
#define MESSAGE_BODY_BYTES 8
/* Whole blocks of 8 and of 16 bytes in a frame of the radio's driver, LINK_FRAME_BYTES. */
#define MESSAGE_BODY_BYTES_MAX 48
#define MESSAGE_BYTES (MESSAGE_HEADER_BYTES + 1 + MESSAGE_BODY_BYTES_MAX)

#define MESSAGE_GROUP 0x22 /* TinyOS's default */
#define MESSAGE_BASE 1
#define MESSAGE_NODE 2

enum message_type {
    MESSAGE_KEY = 1,
    MESSAGE_DATA = 2,
    MESSAGE_RESULT = 3,
    MESSAGE_ACK = 4,     /* body: the type that is acknowledged; of a burst, a window behind it */
    MESSAGE_REFUSED = 5, /* in place of an ACK; body: enum message_reason */
    MESSAGE_FAILED = 6,  /* in place of results; body: the engine's status, negated */
    MESSAGE_START = 7, /* body: bytes of the data, high byte first, of a packet, the window; key */
    MESSAGE_DATA_ENDS = 8,  /* DATA that ends a burst */
    MESSAGE_RESULT_ENDS = 9 /* RESULT that ends a burst */
};

enum message_reason {
    MESSAGE_TOO_LONG = 1,  /* beyond the buffer; its segments follow in the body, high byte first */
    MESSAGE_KEY_WRONG = 2, /* not the cipher's key; its bytes follow */
    MESSAGE_NO_KEY = 3,
    MESSAGE_NO_BLOCK = 4,     /* no whole number of blocks; a block's bytes follow */
    MESSAGE_PACKET_WRONG = 5, /* no packet or window that it takes; the most bytes of one follow */
    MESSAGE_NO_START = 6      /* a burst, and no START before it */
};

struct message {
    uint8_t to, from;
    uint8_t type;
    uint8_t sequence;
    uint8_t body_bytes;
    uint8_t body[MESSAGE_BODY_BYTES_MAX];
};

/* Writes a message; returns its bytes. */
uint8_t message_write(uint8_t to[MESSAGE_BYTES], const struct message *message);

/* False if that is no message of our group. */
bool message_read(struct message *message, const uint8_t *from, uint8_t bytes);

#endif
