/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The base station: a mote that hands messages on between its serial port and the air, as TinyOS's
 * application BaseStation does. Packets from the host are acknowledged when they are whole, whether
 * or not a node hears them.
 *
 * USART0 at 57,600 baud, TinyOS's rate for a MICA2. It is read and written by interrupt, as the
 * radio is listened to meanwhile; a whole packet ends the listening, and waits for the end of what
 * is being sent. The line is faster than the air, so that what came does not pile up.
 */
#include "board.h"
#include "events.h"
#include "hal.h"
#include "hdlc.h"
#include "message.h"
#include "phy.h"

#define BAUD 57600UL
#define CHANNEL 0
/* Between two looks at the serial port, should a packet be whole just before the listening. */
#define LISTEN_MS 200

static struct hdlc_reader reader;
static volatile uint8_t whole_bytes; /* of a packet that waits: the reader stands still */
static volatile bool listening;      /* a packet that is sent must not be broken off */

/* Bytes on their way out: as many as the indices count. */
static volatile uint8_t queue[256], queue_in, queue_out;

void __vector_18(void) __attribute__((signal, used, externally_visible));
void __vector_18(void) {
    uint8_t byte = UDR0;
    if (whole_bytes != 0)
        return;
    whole_bytes = hdlc_read(&reader, byte);
    if (whole_bytes != 0 && listening)
        hal_events |= EVENT_ALARM;
}

void __vector_19(void) __attribute__((signal, used, externally_visible));
void __vector_19(void) {
    if (queue_out == queue_in)
        UCSR0B &= (uint8_t)~UDRIE;
    else
        UDR0 = queue[queue_out++];
}

static void serial_start(void) {
    UBRR0H = 0;
    UBRR0L = (uint8_t)(BOARD_CRYSTAL_HZ / 8 / BAUD - 1);
    UCSR0A = U2X;
    UCSR0B = RXCIE | RXEN | TXEN;
}

static void serial_put(uint8_t byte) {
    while ((uint8_t)(queue_in + 1) == queue_out) {
    }
    queue[queue_in++] = byte;
    UCSR0B |= UDRIE;
}

/* Takes the packet that waits, acknowledges it, and sends its message. */
static void from_serial(void) {
    uint8_t packet[1 + MESSAGE_BYTES];
    uint8_t count = whole_bytes - HDLC_CRC_BYTES;
    bool holds = hdlc_holds(reader.bytes, whole_bytes) && count > 3 &&
                 reader.bytes[0] == HDLC_PACKET_ACK && reader.bytes[2] == HDLC_DISPATCH_MESSAGE;
    uint8_t ack[2] = {HDLC_ACK, reader.bytes[1]};
    struct message message;
    holds = holds && message_read(&message, reader.bytes + 3, count - 3);
    whole_bytes = 0;
    if (!holds)
        return;
    hdlc_write(serial_put, ack, sizeof ack);
    packet[0] = message_write(packet + 1, &message);
    phy_send(packet, packet[0] + 1, true);
}

static void to_serial(const uint8_t *frame, uint8_t bytes) {
    uint8_t packet[2 + MESSAGE_BYTES] = {HDLC_PACKET_NOACK, HDLC_DISPATCH_MESSAGE};
    struct message message;
    if (!message_read(&message, frame, bytes) || message.to != MESSAGE_BASE)
        return;
    uint8_t written = message_write(packet + 2, &message);
    hdlc_write(serial_put, packet, 2 + written);
}

int main(void) {
    uint8_t frame[MESSAGE_BYTES];
    hal_init();
    if (!phy_start(CHANNEL, BOARD_POWER))
        hal_halt();
    phy_wake();
    serial_start();
    for (;;) {
        if (whole_bytes != 0)
            from_serial();
        listening = true;
        uint8_t bytes = whole_bytes != 0 ? 0 : phy_receive(frame, sizeof frame, LISTEN_MS);
        listening = false;
        if (bytes != 0)
            to_serial(frame, bytes);
    }
}
