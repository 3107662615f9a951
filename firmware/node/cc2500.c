/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * phy.h on the CC2500 at 250 kBd, MSK, 2.4 GHz, variable packet length, hardware CRC.
 * Section and register names: SWRS040 (CC2500 data sheet). Where no equation
 * stands, the value is the one that TI's SmartRF Studio recommends for 250 kBd.
 */
#include "phy.h"

#include "hal.h"
#include "link.h"

/* Header byte: read, burst, address. */
#define READ 0x80
#define BURST 0x40

#define REG_IOCFG2 0x00
#define REG_MCSM1 0x17
#define REG_FSTEST 0x29
#define REG_RXBYTES 0x3B /* status registers are read with BURST */
#define REG_PATABLE 0x3E
#define REG_FIFO 0x3F

#define STROBE_SRES 0x30
#define STROBE_SRX 0x34
#define STROBE_STX 0x35
#define STROBE_SIDLE 0x36
#define STROBE_SPWD 0x39
#define STROBE_SFRX 0x3A
#define STROBE_SFTX 0x3B
#define STROBE_SNOP 0x3D

#define STATE_MASK 0x70 /* status byte */
#define STATE_IDLE 0x00
#define SILENT 0xFF /* instead of a status byte: the chip did not answer */
#define CRC_OK 0x80 /* second appended status byte, with the LQI */
#define RX_OVERFLOW 0x80

#define MCSM1_REST 0x00         /* CCA_MODE 0: always clear; RXOFF and TXOFF to IDLE */
#define MCSM1_LISTEN_AFTER 0x03 /* TXOFF to RX */

/* Registers 0x00 to 0x2E. f_xosc = 26 MHz. */
static const uint8_t configuration[] = {
    0x2F,             /* IOCFG2: low, unused */
    0x2E,             /* IOCFG1: high impedance, SO */
    0x06,             /* IOCFG0: high from sync word to end of packet */
    0x07,             /* FIFOTHR */
    0xD3,             /* SYNC1 */
    0x91,             /* SYNC0 */
    LINK_FRAME_BYTES, /* PKTLEN: longest packet accepted */
    0x04,       /* PKTCTRL1: append RSSI, LQI and CRC state; no address check (a node also hears
                   broadcasts, and the link layer checks) */
    0x45,       /* PKTCTRL0: whitening, CRC, length byte first */
    0x00,       /* ADDR */
    0x00,       /* CHANNR: set at start */
    0x0A,       /* FSCTRL1: f_IF = f_xosc / 2^10 x 10 = 253.9 kHz */
    0x00,       /* FSCTRL0 */
    0x5D,       /* FREQ2..0 = 2433 MHz x 2^16 / f_xosc = 0x5D93B1 */
    0x93,       /* FREQ1 */
    0xB1,       /* FREQ0 */
    0x2D,       /* MDMCFG4: bandwidth f_xosc / (8 (4 + 2) 2^0) = 541.7 kHz; DRATE_E = 13 */
    0x3B,       /* MDMCFG3: (256 + 59) 2^13 / 2^28 x f_xosc = 249.94 kBd */
    0x73,       /* MDMCFG2: MSK, 30 of 32 sync bits */
    0x22,       /* MDMCFG1: 4 bytes of preamble, CHANSPC_E = 2 */
    0xF8,       /* MDMCFG0: f_xosc / 2^18 (256 + 248) 2^2 = 199.95 kHz a channel */
    0x00,       /* DEVIATN: MSK phase change over a whole symbol */
    0x07,       /* MCSM2: no receive time-out, ours is the HAL's */
    MCSM1_REST, /* MCSM1 */
    0x18,       /* MCSM0: calibrate from IDLE to RX or TX, 64 counts after the crystal */
    0x1D,       /* FOCCFG */
    0x1C,       /* BSCFG */
    0xC7,       /* AGCCTRL2 */
    0x00,       /* AGCCTRL1 */
    0xB0,       /* AGCCTRL0 */
    0x87,       /* WOREVT1: wake on radio is not used */
    0x6B,       /* WOREVT0 */
    0xF8,       /* WORCTRL */
    0xB6,       /* FREND1 */
    0x10,       /* FREND0: power from PATABLE[0] */
    0xEA,       /* FSCAL3 */
    0x0A,       /* FSCAL2 */
    0x00,       /* FSCAL1 */
    0x11,       /* FSCAL0 */
    0x41,       /* RCCTRL1 */
    0x00,       /* RCCTRL0 */
    0x59,       /* FSTEST */
    0x7F,       /* PTEST */
    0x3F,       /* AGCTEST */
    0x88,       /* TEST2 */
    0x31,       /* TEST1 */
    0x0B,       /* TEST0 */
};

static uint8_t channel, power;
static bool listening; /* in RX, or on the way there */

static void write_burst(uint8_t reg, const uint8_t *from, uint8_t bytes) {
    if (!hal_radio_select())
        return;
    hal_spi_byte(reg | BURST);
    while (bytes-- != 0)
        hal_spi_byte(*from++);
    hal_radio_deselect();
}

static void write_one(uint8_t reg, uint8_t value) {
    if (!hal_radio_select())
        return;
    hal_spi_byte(reg);
    hal_spi_byte(value);
    hal_radio_deselect();
}

static uint8_t strobe(uint8_t command) {
    if (!hal_radio_select())
        return SILENT;
    uint8_t status = hal_spi_byte(command);
    hal_radio_deselect();
    return status;
}

/* Status registers change while they are read; two equal readings count (errata
 * SWRZ002, "SPI read synchronization"). */
static uint8_t read_status(uint8_t reg) {
    uint8_t value, before;
    if (!hal_radio_select())
        return 0;
    hal_spi_byte(reg | READ | BURST);
    value = hal_spi_byte(0);
    for (uint8_t i = 0; i < 8; i++) {
        before = value;
        hal_radio_deselect();
        if (!hal_radio_select())
            return 0;
        hal_spi_byte(reg | READ | BURST);
        value = hal_spi_byte(0);
        if (value == before)
            break;
    }
    hal_radio_deselect();
    return value;
}

static bool wait_idle(void) {
    for (uint8_t i = 0; i < 100; i++) {
        uint8_t status = strobe(STROBE_SNOP);
        if ((status & STATE_MASK) == STATE_IDLE)
            return true;
        if (status == SILENT)
            return false; /* each try would take 10 ms of full power */
        hal_delay_us(20);
    }
    return false;
}

bool phy_start(uint8_t channel_number, uint8_t power_value) {
    channel = channel_number;
    power = power_value;
    hal_spi_init();
    /* Manual power-on reset (section 19.1.2): select, deselect, 40 us, select, SRES. */
    if (!hal_radio_select())
        return false;
    hal_radio_deselect();
    hal_delay_us(40);
    if (!hal_radio_select())
        return false;
    hal_spi_byte(STROBE_SRES);
    hal_radio_deselect();
    hal_delay_us(200);
    write_burst(REG_IOCFG2, configuration, sizeof configuration);
    write_one(0x0A, channel);
    write_one(REG_PATABLE, power);
    if (!wait_idle())
        return false;
    phy_sleep();
    return true;
}

bool phy_wake(void) {
    if (strobe(STROBE_SIDLE) == SILENT || !wait_idle())
        return false;
    /* Sleep loses FSTEST to TEST0 and all but the first entry of PATABLE (section 10.6). */
    write_burst(REG_FSTEST, configuration + REG_FSTEST, sizeof configuration - REG_FSTEST);
    write_one(REG_PATABLE, power);
    return true;
}

void phy_sleep(void) {
    strobe(STROBE_SIDLE);
    wait_idle();
    strobe(STROBE_SPWD);
}

bool phy_send(const uint8_t *packet, uint8_t bytes, bool then_listen) {
    listening = false;
    strobe(STROBE_SIDLE);
    if (!wait_idle())
        return false;
    strobe(STROBE_SFTX);
    strobe(STROBE_SFRX);
    write_one(REG_MCSM1, then_listen ? MCSM1_LISTEN_AFTER : MCSM1_REST);
    write_burst(REG_FIFO, packet, bytes);
    hal_radio_arm();
    strobe(STROBE_STX);
    /* Calibration 0.8 ms and 32 us a byte; 62 bytes with preamble and CRC take 2.4 ms. */
    if (!hal_radio_wait(10)) {
        strobe(STROBE_SIDLE);
        strobe(STROBE_SFTX);
        return false;
    }
    listening = then_listen;
    return true;
}

/* To RX from any state, what the FIFO holds thrown away. */
static void listen(void) {
    strobe(STROBE_SIDLE);
    wait_idle();
    strobe(STROBE_SFRX);
    strobe(STROBE_SRX);
    listening = true;
}

/* The packet in the FIFO: its frame's bytes, 0 if it is broken, not alone, or too long. */
static uint8_t take_packet(uint8_t *frame, uint8_t frame_bytes_max) {
    uint8_t waiting = read_status(REG_RXBYTES);
    if ((waiting & RX_OVERFLOW) != 0 || waiting < 4 || !hal_radio_select())
        return 0;
    bool good = false;
    hal_spi_byte(REG_FIFO | READ | BURST);
    uint8_t bytes = hal_spi_byte(0);
    if (bytes + 3 == waiting && bytes <= frame_bytes_max) {
        for (uint8_t i = 0; i < bytes; i++)
            frame[i] = hal_spi_byte(0);
        hal_spi_byte(0); /* RSSI */
        good = (hal_spi_byte(0) & CRC_OK) != 0;
    }
    hal_radio_deselect();
    return good ? bytes : 0;
}

uint8_t phy_receive(uint8_t *frame, uint8_t frame_bytes_max, uint16_t timeout_ms) {
    /* A packet that fails starts the window anew; only so many, so that noise cannot hold us. */
    for (uint8_t tries = 0; tries < 4; tries++) {
        hal_radio_arm();
        if (!listening)
            listen();
        if (!hal_radio_wait(timeout_ms))
            return 0;
        listening = false; /* RXOFF leads to IDLE */
        uint8_t bytes = take_packet(frame, frame_bytes_max);
        if (bytes != 0)
            return bytes;
    }
    return 0;
}
