/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * node/cc1000.c over a chip that shifts bytes: what it sends is what it hears, wherever in the
 * stream of bits it begins, and the amplifier is on only where the chip is set up for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc16.h"
#include "hal.h"
#include "link.h"
#include "phy.h"

#define STREAM_BYTES 4096

static unsigned failed, checks;

static void check(bool holds, const char *what) {
    checks++;
    if (!holds) {
        if (failed++ < 10)
            printf("test_cc1000: %s\n", what);
    }
}

/* The chip: registers, what has gone out, what comes in. */
static uint8_t registers[0x47];
static uint8_t gone[STREAM_BYTES], coming[STREAM_BYTES];
static size_t gone_bytes, coming_bytes, taken;
static uint8_t shift;
static bool sends;

#define MAIN 0x00
#define MAIN_RX 0x11
#define MAIN_TX 0xE1
#define CURRENT 0x09
#define PA_POW 0x0B

void hal_radio_write(uint8_t reg, uint8_t value) {
    check(reg < sizeof registers, "a register that is none");
    check(reg != MAIN || registers[PA_POW] == 0, "MAIN changes under a running amplifier");
    registers[reg] = value;
    check(registers[PA_POW] == 0 || (registers[MAIN] == MAIN_TX && registers[CURRENT] == 0x81),
          "the amplifier runs and the chip is not set up to send");
}

uint8_t hal_radio_read(uint8_t reg) {
    return reg == 0x0E ? 0x08 : registers[reg];
}

void hal_stream_start(bool send, uint8_t first, uint16_t timeout_ms) {
    check(timeout_ms != 0, "no time to send or hear in");
    check(registers[MAIN] == (send ? MAIN_TX : MAIN_RX), "bits go the wrong way");
    sends = send;
    shift = first;
    if (send)
        gone_bytes = 0;
}

bool hal_stream_byte(uint8_t out, uint8_t *in) {
    if (sends) {
        check(registers[PA_POW] != 0, "bits go out without an amplifier");
        gone[gone_bytes++] = shift;
        shift = out;
        *in = 0;
        return gone_bytes < STREAM_BYTES;
    }
    if (taken == coming_bytes)
        return false;
    *in = coming[taken++];
    return true;
}

void hal_stream_stop(void) {}
void hal_spi_init(void) {}
void hal_delay_us(uint16_t us) {
    (void)us;
}
void hal_sleep_ms(uint16_t ms) {
    (void)ms;
}

/* Bits to hear, first bit highest. */
static size_t bits;

static void hear_bit(bool bit) {
    if (bits / 8 >= STREAM_BYTES)
        abort();
    if (bits % 8 == 0)
        coming[bits / 8] = 0;
    coming[bits / 8] |= (uint8_t)(bit << (7 - bits % 8));
    bits++;
    coming_bytes = (bits + 7) / 8;
}

static void hear(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < 8 * count; i++)
        hear_bit(bytes[i / 8] >> (7 - i % 8) & 1);
}

static void silence(void) {
    bits = coming_bytes = taken = 0;
}

static void noise(unsigned count) {
    while (count-- != 0)
        hear_bit(rand() >> 8 & 1);
}

static uint8_t packet[LINK_PACKET_BYTES], frame[LINK_FRAME_BYTES];

static void make_packet(uint8_t frame_bytes) {
    packet[0] = frame_bytes;
    for (uint8_t i = 1; i <= frame_bytes; i++)
        packet[i] = (uint8_t)rand();
}

static bool got_packet(void) {
    return phy_receive(frame, sizeof frame, 100) == packet[0] &&
           memcmp(frame, packet + 1, packet[0]) == 0;
}

static void what_is_sent_is_heard(void) {
    for (uint8_t frame_bytes = 1; frame_bytes <= LINK_FRAME_BYTES; frame_bytes++) {
        make_packet(frame_bytes);
        check(phy_send(packet, (uint8_t)(1 + frame_bytes), frame_bytes % 2), "nothing is sent");
        check(registers[PA_POW] == 0, "the amplifier runs on");
        uint16_t crc = crc16(packet, 1U + frame_bytes);
        const uint8_t head[] = {0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0x33, 0xCC};
        size_t end = sizeof head + 1 + frame_bytes;
        check(gone_bytes >= end + 2 && memcmp(gone, head, sizeof head) == 0 &&
                  memcmp(gone + sizeof head, packet, 1U + frame_bytes) == 0 &&
                  gone[end] == crc >> 8 && gone[end + 1] == (uint8_t)crc,
              "not all of the packet went out");
        for (unsigned before = 0; before < 24; before++) {
            silence();
            noise(before);
            hear(gone, gone_bytes);
            noise(64);
            check(got_packet(), "a packet is not heard");
        }
    }
}

static void only_whole_packets_are_heard(void) {
    make_packet(20);
    phy_send(packet, 21, true);
    uint8_t good[STREAM_BYTES];
    size_t bytes = gone_bytes;
    memcpy(good, gone, bytes);
    for (size_t bit = 7 * 8; bit < (8 + 1 + 20 + 2) * 8; bit++) {
        silence();
        hear(good, bytes);
        coming[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        noise(1000);
        check(phy_receive(frame, sizeof frame, 100) == 0, "a packet with a wrong bit is heard");
    }
    silence();
    hear(good, bytes);
    coming[20] ^= 1;
    noise(5);
    hear(good, bytes);
    noise(64);
    check(got_packet(), "a broken packet hides the next");
    static const uint8_t lengths[] = {0, LINK_FRAME_BYTES + 1, 0x80, 0xFF};
    for (size_t i = 0; i < sizeof lengths; i++) {
        silence();
        hear(good, 8);
        hear(lengths + i, 1);
        noise(3);
        hear(good, bytes);
        noise(64);
        check(got_packet(), "a length that cannot be hides the next packet");
    }
    silence();
    check(phy_receive(frame, sizeof frame, 100) == 0, "something is heard where nothing was");
    /* Longer than the caller's memory. */
    silence();
    hear(good, bytes);
    noise(64);
    check(phy_receive(frame, 19, 100) == 0, "a frame runs over its memory");
}

int main(void) {
    srand(1);
    check(phy_start(0, 0x0F), "the chip is not set up");
    check(registers[MAIN] == 0x3F && registers[PA_POW] == 0, "the chip does not sleep");
    check(phy_wake(), "the chip does not wake");
    what_is_sent_is_heard();
    only_whole_packets_are_heard();
    phy_sleep();
    check(registers[MAIN] == 0x3F && registers[PA_POW] == 0, "the chip does not sleep again");
    printf("test_cc1000: %u checks, %u differ\n", checks, failed);
    return failed != 0;
}
