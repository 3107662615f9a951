/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * phy.h on the CC1000 (SWRS048): 433.3 MHz, 38.4 kbit/s in Manchester code. The chip knows bits
 * only: in front of a packet (length byte and frame) go six bytes of preamble and the word 0x33CC,
 * behind it a CRC-16 of it (crc16.h), high byte first. Between messages it is in power-down and
 * keeps its registers.
 */
#include "crc16.h"
#include "hal.h"
#include "link.h"
#include "phy.h"

#define REG_MAIN 0x00
#define REG_CURRENT 0x09
#define REG_PA_POW 0x0B
#define REG_CAL 0x0E

/* MAIN. Reception by frequency register A, transmission by B. */
#define MAIN_RESET 0x3A      /* all off but the crystal, RESET_N low */
#define MAIN_CRYSTAL 0x3B    /* the same, out of reset */
#define MAIN_BIAS 0x39       /* and the bias generator */
#define MAIN_RX 0x11         /* TX_PD */
#define MAIN_TX 0xE1         /* RXTX | F_REG | RX_PD */
#define MAIN_POWER_DOWN 0x3F /* all off */

#define CURRENT_RX 0x44 /* below 500 MHz (SWRS048, register CURRENT) */
#define CURRENT_TX 0x81
#define CAL_WAIT_ITERATE 0x26
#define CAL_START 0xA6
#define CAL_COMPLETE 0x08

/* Initialising sequence (SWRS048): crystal 2 ms, bias 200 us, synthesizer 250 us, amplifier 20 us.
 */
#define CRYSTAL_MS 3
#define BIAS_US 200
#define SETTLE_US 250
#define AMPLIFIER_US 20

#define PREAMBLE 0xAA
#define PREAMBLE_BYTES 6
#define SYNC 0x33CC
/* What a receiver looks for: the last byte of the preamble and the word. */
#define SYNC_24 UINT32_C(0xAA33CC)

/* f_ref = 14.7456 MHz / 12; f = f_ref (FREQ + 8192) / 16384, which is 75 Hz (FREQ + 8192). */
#define PLL_REFDIV_12 0x60
#define SEPARATION 853 /* 64 kHz */
/* The middle of both at 433.3 MHz; the receiver's oscillator lies 150 kHz below it, so that bits
 * come as they were sent (above it they would be inverted). */
#define FREQ_TX UINT32_C(0x58060B) /* check: round((433.3e6 - 31987.5) / 75) - 8192 */
#define FREQ_RX UINT32_C(0x57FFE5) /* check: round((433.3e6 - 150e3) / 75) - 8192 */
#define FREQ_CHANNEL 13333         /* check: round(1e6 / 75) */
#define CHANNELS 2                 /* 433.05 to 434.79 MHz hold no more */

static const uint8_t settings[][2] = {
    {0x07, SEPARATION >> 8},
    {0x08, SEPARATION & 0xFF},
    {0x0A, 0x02}, /* FRONT_END: RSSI at its pin */
    {0x0C, PLL_REFDIV_12},
    {0x0D, 0xE0}, /* LOCK */
    {0x0F, 0x1C}, /* MODEM2 */
    {0x10, 0x6B}, /* MODEM1 */
    {0x11, 0x54}, /* MODEM0: 76.8 kBd, Manchester, 14.7456 MHz */
    {0x12, 0x70}, /* MATCH */
};

static uint8_t power;
static bool listening;

static void write_frequency(uint8_t reg, uint32_t word) {
    hal_radio_write(reg, (uint8_t)(word >> 16));
    hal_radio_write((uint8_t)(reg + 1), (uint8_t)(word >> 8));
    hal_radio_write((uint8_t)(reg + 2), (uint8_t)word);
}

static void receive_on(void) {
    hal_radio_write(REG_PA_POW, 0);
    hal_radio_write(REG_MAIN, MAIN_RX);
    hal_radio_write(REG_CURRENT, CURRENT_RX);
    hal_delay_us(SETTLE_US);
}

/* As MAIN and CURRENT are; 27.7 ms at this reference. */
static bool calibrate(void) {
    hal_radio_write(REG_CAL, CAL_WAIT_ITERATE);
    hal_radio_write(REG_CAL, CAL_START);
    hal_sleep_ms(28);
    for (uint8_t tries = 0; tries < 10; tries++) {
        if (hal_radio_read(REG_CAL) & CAL_COMPLETE) {
            hal_radio_write(REG_CAL, CAL_WAIT_ITERATE);
            return true;
        }
        hal_sleep_ms(1);
    }
    return false;
}

bool phy_wake(void) {
    hal_radio_write(REG_MAIN, MAIN_CRYSTAL);
    hal_sleep_ms(CRYSTAL_MS);
    hal_radio_write(REG_MAIN, MAIN_BIAS);
    hal_delay_us(BIAS_US);
    listening = false;
    return true;
}

void phy_sleep(void) {
    hal_radio_write(REG_PA_POW, 0);
    hal_radio_write(REG_MAIN, MAIN_POWER_DOWN);
}

bool phy_start(uint8_t channel, uint8_t power_value) {
    uint32_t step = (uint32_t)(channel % CHANNELS) * FREQ_CHANNEL;
    power = power_value;
    hal_spi_init();
    hal_radio_write(REG_MAIN, MAIN_RESET);
    phy_wake();
    for (uint8_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        hal_radio_write(settings[i][0], settings[i][1]);
    write_frequency(0x01, FREQ_RX + step);
    write_frequency(0x04, FREQ_TX + step);
    receive_on();
    bool answers = calibrate();
    if (answers) {
        hal_radio_write(REG_MAIN, MAIN_TX);
        hal_radio_write(REG_CURRENT, CURRENT_TX);
        answers = calibrate();
    }
    phy_sleep();
    return answers;
}

/* One byte that goes out behind the one under way. */
static bool stream(uint8_t byte) {
    uint8_t ignored;
    return hal_stream_byte(byte, &ignored);
}

bool phy_send(const uint8_t *packet, uint8_t bytes, bool then_listen) {
    uint16_t check = crc16(packet, bytes);
    hal_radio_write(REG_PA_POW, 0);
    hal_radio_write(REG_MAIN, MAIN_TX);
    hal_radio_write(REG_CURRENT, CURRENT_TX);
    hal_delay_us(SETTLE_US);
    /* 208 us a byte. */
    hal_stream_start(true, PREAMBLE, 40);
    hal_radio_write(REG_PA_POW, power);
    hal_delay_us(AMPLIFIER_US);
    bool sent = true;
    for (uint8_t i = 1; i < PREAMBLE_BYTES; i++)
        sent = sent && stream(PREAMBLE);
    sent = sent && stream(SYNC >> 8) && stream(SYNC & 0xFF);
    for (uint8_t i = 0; i < bytes; i++)
        sent = sent && stream(packet[i]);
    sent = sent && stream((uint8_t)(check >> 8)) && stream((uint8_t)check);
    /* The last one has gone when the byte behind it has: it stands in the shift register until
     * then. */
    sent = sent && stream(0) && stream(0);
    hal_stream_stop();
    hal_radio_write(REG_PA_POW, 0);
    listening = sent && then_listen;
    if (listening)
        receive_on();
    return sent;
}

/* Bits of the air: a shift register that looks for the word, then makes bytes. */
static uint32_t window;
static uint8_t bits_left; /* until the next byte is whole */
static bool synchronised;
static uint8_t expected; /* bytes of the frame; 0: the length byte comes */
static uint8_t came;     /* of frame and check */

static void search(void) {
    synchronised = false;
    expected = 0;
    came = 0;
}

enum step { STEP_MORE, STEP_DONE, STEP_BROKEN };

/* The bytes of a packet one by one. */
static enum step take(uint8_t byte, uint8_t *frame, uint8_t frame_bytes_max, uint8_t *tail) {
    if (expected == 0) {
        if (byte == 0 || byte > frame_bytes_max)
            return STEP_BROKEN;
        expected = byte;
        return STEP_MORE;
    }
    if (came < expected)
        frame[came] = byte;
    else
        tail[came - expected] = byte;
    came++;
    return came == expected + 2 ? STEP_DONE : STEP_MORE;
}

static bool check_holds(const uint8_t *frame, const uint8_t *tail) {
    uint8_t packet[LINK_PACKET_BYTES];
    packet[0] = expected;
    for (uint8_t i = 0; i < expected; i++)
        packet[1 + i] = frame[i];
    return crc16(packet, (size_t)expected + 1) == (uint16_t)(tail[0] << 8 | tail[1]);
}

uint8_t phy_receive(uint8_t *frame, uint8_t frame_bytes_max, uint16_t timeout_ms) {
    uint8_t byte, tail[2];
    if (!listening) {
        receive_on();
        listening = true;
    }
    if (frame_bytes_max > LINK_FRAME_BYTES)
        frame_bytes_max = LINK_FRAME_BYTES;
    window = 0;
    search();
    hal_stream_start(false, 0, timeout_ms);
    while (hal_stream_byte(0, &byte)) {
        for (uint8_t bit = 0x80; bit != 0; bit >>= 1) {
            window = window << 1 | ((byte & bit) != 0);
            if (!synchronised) {
                synchronised = (window & 0xFFFFFF) == SYNC_24;
                bits_left = 8;
                continue;
            }
            if (--bits_left != 0)
                continue;
            bits_left = 8;
            enum step step = take((uint8_t)window, frame, frame_bytes_max, tail);
            if (step == STEP_DONE && check_holds(frame, tail)) {
                hal_stream_stop();
                return expected;
            }
            if (step != STEP_MORE)
                search();
        }
    }
    hal_stream_stop();
    return 0;
}
