/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "hdlc.h"

#define FLAG 0x7E
#define ESCAPE 0x7D
#define ESCAPED_BIT 0x20

static uint16_t crc_add(uint16_t crc, uint8_t byte) {
    crc ^= (uint16_t)(byte << 8);
    for (uint8_t bit = 0; bit < 8; bit++)
        crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    return crc;
}

uint8_t hdlc_read(struct hdlc_reader *reader, uint8_t byte) {
    if (byte == FLAG) {
        uint8_t whole = reader->broken || reader->escaped ? 0 : reader->count;
        reader->count = 0;
        reader->escaped = reader->broken = false;
        return whole > HDLC_CRC_BYTES ? whole : 0;
    }
    if (byte == ESCAPE) {
        reader->escaped = true;
        return 0;
    }
    if (reader->escaped)
        byte ^= ESCAPED_BIT;
    reader->escaped = false;
    if (reader->count == HDLC_BYTES)
        reader->broken = true;
    else
        reader->bytes[reader->count++] = byte;
    return 0;
}

bool hdlc_holds(const uint8_t *bytes, uint8_t count) {
    uint16_t crc = 0;
    for (uint8_t i = 0; i < count - HDLC_CRC_BYTES; i++)
        crc = crc_add(crc, bytes[i]);
    return bytes[count - 2] == (uint8_t)crc && bytes[count - 1] == (uint8_t)(crc >> 8);
}

static void put_escaped(void (*put)(uint8_t byte), uint8_t byte) {
    if (byte == FLAG || byte == ESCAPE) {
        put(ESCAPE);
        byte ^= ESCAPED_BIT;
    }
    put(byte);
}

void hdlc_write(void (*put)(uint8_t byte), const uint8_t *packet, uint8_t count) {
    uint16_t crc = 0;
    put(FLAG);
    for (uint8_t i = 0; i < count; i++) {
        crc = crc_add(crc, packet[i]);
        put_escaped(put, packet[i]);
    }
    put_escaped(put, (uint8_t)crc);
    put_escaped(put, (uint8_t)(crc >> 8));
    put(FLAG);
}
