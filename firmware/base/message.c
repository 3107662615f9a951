/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "message.h"

uint8_t message_write(uint8_t to[MESSAGE_BYTES], const struct message *message) {
    uint8_t *next = to;
    *next++ = 0;
    *next++ = message->to;
    *next++ = 0;
    *next++ = message->from;
    *next++ = 1 + message->body_bytes;
    *next++ = MESSAGE_GROUP;
    *next++ = message->type;
    *next++ = message->sequence;
    for (uint8_t i = 0; i < message->body_bytes; i++)
        *next++ = message->body[i];
    return MESSAGE_HEADER_BYTES + 1 + message->body_bytes;
}

bool message_read(struct message *message, const uint8_t *from, uint8_t bytes) {
    if (bytes <= MESSAGE_HEADER_BYTES || bytes > MESSAGE_BYTES ||
        from[4] != bytes - MESSAGE_HEADER_BYTES || from[5] != MESSAGE_GROUP || from[0] != 0 ||
        from[2] != 0)
        return false;
    message->to = from[1];
    message->from = from[3];
    message->type = from[6];
    message->sequence = from[7];
    message->body_bytes = bytes - MESSAGE_HEADER_BYTES - 1;
    for (uint8_t i = 0; i < message->body_bytes; i++)
        message->body[i] = from[8 + i];
    return true;
}
