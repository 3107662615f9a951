/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * phy.h on the CC2420 (SWRS041). A link-layer frame is the payload of an IEEE 802.15.4 data frame
 * with short addresses in one PAN, not acknowledged; the link layer checks addresses itself, so
 * the chip's filter is off. Between messages its voltage regulator is off and it forgets all.
 */
#include "hal.h"
#include "link.h"
#include "phy.h"

#define READ 0x40

#define STROBE_SNOP 0x00
#define STROBE_SXOSCON 0x01
#define STROBE_SRXON 0x03
#define STROBE_STXON 0x04
#define STROBE_SRFOFF 0x06
#define STROBE_SFLUSHRX 0x08
#define STROBE_SFLUSHTX 0x09

#define REG_MDMCTRL0 0x11
#define REG_TXCTRL 0x15
#define REG_FSCTRL 0x18
#define REG_SECCTRL0 0x19
#define REG_IOCFG0 0x1C
#define FIFO_TX 0x3E
#define FIFO_RX 0x3F

#define MDMCTRL0_NO_FILTER 0x02E2     /* as after a reset, ADR_DECODE off: CRC by the chip */
#define TXCTRL_REST 0xA0E0            /* as after a reset, without PA_LEVEL */
#define SECCTRL0_NO_PROTECTION 0x01C4 /* as after a reset, RXFIFO_PROTECTION off */
#define IOCFG0_WHOLE_FRAME 0x007F     /* FIFOP when a frame is whole */
#define FSCTRL_CHANNEL_11 0x4165      /* 2405 MHz; 5 MHz a channel */
#define CHANNELS 16
#define PA_LEVEL_MAX 31

#define STATUS_TX_ACTIVE 0x08
#define STATUS_XOSC_STABLE 0x40
#define CRC_OK 0x80 /* second byte behind a frame, with the correlation */

#define PAN_LOW 0x53
#define PAN_HIGH 0x53
#define FCF_LOW 0x41  /* data, one PAN */
#define FCF_HIGH 0x88 /* short addresses */
#define MAC_BYTES 9
#define FCS_BYTES 2

static uint16_t frequency, power;
static uint8_t sequence;
static bool listening;

static uint8_t strobe(uint8_t command) {
    hal_radio_select();
    uint8_t status = hal_spi_byte(command);
    hal_radio_deselect();
    return status;
}

static void write_register(uint8_t reg, uint16_t value) {
    hal_radio_select();
    hal_spi_byte(reg);
    hal_spi_byte((uint8_t)(value >> 8));
    hal_spi_byte((uint8_t)value);
    hal_radio_deselect();
}

bool phy_wake(void) {
    hal_radio_power(true);
    hal_delay_us(600); /* voltage regulator: at most 0.6 ms */
    hal_radio_reset();
    strobe(STROBE_SXOSCON);
    uint8_t tries = 0;
    while ((strobe(STROBE_SNOP) & STATUS_XOSC_STABLE) == 0) {
        hal_delay_us(100); /* 0.86 ms, typically */
        if (++tries == 100) {
            hal_radio_power(false);
            return false;
        }
    }
    write_register(REG_MDMCTRL0, MDMCTRL0_NO_FILTER);
    write_register(REG_TXCTRL, power);
    write_register(REG_FSCTRL, frequency);
    write_register(REG_SECCTRL0, SECCTRL0_NO_PROTECTION);
    write_register(REG_IOCFG0, IOCFG0_WHOLE_FRAME);
    listening = false;
    return true;
}

void phy_sleep(void) {
    strobe(STROBE_SRFOFF);
    hal_radio_power(false);
}

bool phy_start(uint8_t channel, uint8_t power_value) {
    frequency = (uint16_t)(FSCTRL_CHANNEL_11 + 5 * (channel % CHANNELS));
    power = TXCTRL_REST | (power_value & PA_LEVEL_MAX);
    hal_spi_init();
    if (!phy_wake())
        return false;
    phy_sleep();
    return true;
}

bool phy_send(const uint8_t *packet, uint8_t bytes, bool then_listen) {
    uint8_t frame_bytes = (uint8_t)(bytes - 1);
    strobe(STROBE_SRFOFF);
    strobe(STROBE_SFLUSHTX);
    hal_radio_select();
    hal_spi_byte(FIFO_TX);
    hal_spi_byte((uint8_t)(MAC_BYTES + frame_bytes + FCS_BYTES));
    hal_spi_byte(FCF_LOW);
    hal_spi_byte(FCF_HIGH);
    hal_spi_byte(sequence++);
    hal_spi_byte(PAN_LOW);
    hal_spi_byte(PAN_HIGH);
    hal_spi_byte(packet[1]); /* to */
    hal_spi_byte(0);
    hal_spi_byte(packet[2]); /* from */
    hal_spi_byte(0);
    for (uint8_t i = 0; i < frame_bytes; i++)
        hal_spi_byte(packet[1 + i]);
    hal_radio_deselect();
    strobe(STROBE_SFLUSHRX);
    strobe(STROBE_SFLUSHRX);
    hal_radio_arm();
    strobe(STROBE_STXON);
    /* 32 us a byte: 78 bytes with preamble and delimiter take 2.5 ms behind a turn-round of 0.2. */
    uint8_t tries = 0;
    do {
        hal_delay_us(100);
        if (++tries == 100) {
            strobe(STROBE_SRFOFF);
            return false;
        }
    } while (strobe(STROBE_SNOP) & STATUS_TX_ACTIVE);
    if (!then_listen)
        strobe(STROBE_SRFOFF);
    listening = then_listen; /* the chip listens by itself */
    return true;
}

/* The frame in the FIFO: its payload's bytes, 0 if it is broken, of another kind, or too long. */
static uint8_t take_packet(uint8_t *frame, uint8_t frame_bytes_max) {
    uint8_t bytes = 0;
    bool good = true;
    hal_radio_select();
    hal_spi_byte(FIFO_RX | READ);
    uint8_t length = hal_spi_byte(0) & 0x7F;
    if (length > MAC_BYTES + FCS_BYTES && length - MAC_BYTES - FCS_BYTES <= frame_bytes_max) {
        bytes = (uint8_t)(length - MAC_BYTES - FCS_BYTES);
        for (uint8_t i = 0; i < MAC_BYTES; i++) {
            uint8_t value = hal_spi_byte(0);
            good &= i != 0 || value == FCF_LOW;
            good &= i != 1 || value == FCF_HIGH;
        }
        for (uint8_t i = 0; i < bytes; i++)
            frame[i] = hal_spi_byte(0);
        hal_spi_byte(0); /* RSSI */
        good &= (hal_spi_byte(0) & CRC_OK) != 0;
    }
    hal_radio_deselect();
    strobe(STROBE_SFLUSHRX);
    strobe(STROBE_SFLUSHRX);
    return good ? bytes : 0;
}

uint8_t phy_receive(uint8_t *frame, uint8_t frame_bytes_max, uint16_t timeout_ms) {
    /* A packet that fails starts the window anew; only so many, so that noise cannot hold us. */
    for (uint8_t tries = 0; tries < 4; tries++) {
        if (!listening) {
            hal_radio_arm();
            strobe(STROBE_SRXON);
            listening = true;
        }
        if (!hal_radio_wait(timeout_ms))
            return 0;
        uint8_t bytes = take_packet(frame, frame_bytes_max);
        if (bytes != 0)
            return bytes;
        hal_radio_arm();
    }
    return 0;
}
