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
#define REG_PKTCTRL1 0x07
#define REG_ADDR 0x09
#define REG_CHANNR 0x0A
#define REG_MCSM2 0x16
#define REG_MCSM1 0x17
#define REG_MCSM0 0x18
#define REG_AGCCTRL2 0x1B
#define REG_WOREVT1 0x1E
#define REG_FSTEST 0x29
#define REG_RXBYTES 0x3B /* status registers are read with BURST */
#define REG_PATABLE 0x3E
#define REG_FIFO 0x3F

#define STROBE_SRES 0x30
#define STROBE_SRX 0x34
#define STROBE_STX 0x35
#define STROBE_SIDLE 0x36
#define STROBE_SWOR 0x38
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
    0x87,       /* WOREVT1: wake-on-radio writes its own */
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

static void configure(void) {
    write_burst(REG_IOCFG2, configuration, sizeof configuration);
    write_one(REG_CHANNR, channel);
    write_one(REG_PATABLE, power);
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
    configure();
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

#ifdef NODE_LISTENS
/* Wake-on-radio
 *
 * The chip's RC oscillator runs at 26 MHz / 750, 104 / 3 periods a millisecond. EVENT0 counts
 * single ones (WOR_RES 0, to 1.89 s) or 32 of them (WOR_RES 1, to 60.5 s) from look to look; the
 * upper bits of EVENT0, as many as RX_TIME leaves, count a look, single periods or five
 * (section 19.7; the CC1101's SWRS061I, pages 80 and 88, has the tables). A look ends at once where
 * there is no carrier (RX_TIME_RSSI). */
#define LISTEN_MS_MIN 50
#define LISTEN_MS_MAX 60000
/* A WAKE lasts 1.47 ms, its successor begins 0.06 ms later, and 0.16 ms of that one's beginning
 * must be heard: 59 periods, and two that truncation takes. */
#define LOOK_PERIODS 61

#define PKTCTRL1_ADDRESSED 0x06 /* append status; own address or 0x00, checked by the chip */
#define MCSM2_TIME_RSSI 0x10
#define MCSM0_LISTEN 0x38    /* calibrate every fourth time, on the way back to sleep */
#define AGCCTRL2_LISTEN 0x47 /* the highest gain but one, so that carrier sense is at -81 dBm, */
#define AGCCTRL1_LISTEN 0x09 /* and 7 dB lower (SWRS040A, table 27): just above sensitivity */
#define WORCTRL_LISTEN 0x38  /* RC oscillator on and calibrated; EVENT1: 12 periods, 346 us */

bool phy_can_listen(uint16_t every_ms) {
    return every_ms >= LISTEN_MS_MIN && every_ms <= LISTEN_MS_MAX;
}

static void write_wake_on_radio(uint8_t address, uint16_t every_ms) {
    uint32_t periods = (uint32_t)every_ms * 104 / 3;
    bool coarse = periods > UINT16_MAX;
    uint16_t event0 = (uint16_t)(coarse ? periods / 32 : periods);
    uint8_t look = coarse ? (LOOK_PERIODS + 4) / 5 : LOOK_PERIODS;
    uint8_t rx_time = coarse ? 3 : 6;
    while (rx_time != 0 && event0 >> (3 + rx_time) < look)
        rx_time--;
    const uint8_t wake[] = {(uint8_t)(event0 >> 8), (uint8_t)event0,
                            WORCTRL_LISTEN | (coarse ? 1 : 0)};
    const uint8_t agc[] = {AGCCTRL2_LISTEN, AGCCTRL1_LISTEN};
    const uint8_t mcsm[] = {MCSM2_TIME_RSSI | rx_time, MCSM1_REST, MCSM0_LISTEN};
    write_one(REG_PKTCTRL1, PKTCTRL1_ADDRESSED);
    write_one(REG_ADDR, address);
    write_burst(REG_MCSM2, mcsm, sizeof mcsm);
    write_burst(REG_AGCCTRL2, agc, sizeof agc);
    write_burst(REG_WOREVT1, wake, sizeof wake);
}

bool phy_listen(uint8_t address, uint16_t every_ms, uint16_t timeout_ms, uint8_t *frame,
                uint8_t frame_bytes_max, uint8_t *bytes) {
    write_wake_on_radio(address, every_ms);
    strobe(STROBE_SFRX);
    hal_radio_arm();
    strobe(STROBE_SWOR);
    /* Whatever ends with GDO0 leaves the chip awake: good, broken or foreign (section 19.7). */
    bool woken = hal_radio_wait(timeout_ms);
    strobe(STROBE_SIDLE);
    *bytes = wait_idle() && woken ? take_packet(frame, frame_bytes_max) : 0;
    listening = false;
    configure();
    return woken;
}
#endif
