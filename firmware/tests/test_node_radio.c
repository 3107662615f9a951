/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The node's driver and link layer before a CC2500 that keeps to its data sheet as far as they use
 * it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "phy.h"
#include "config.h"
#include "host.h"
#include "link.h"
#include "radio.h"
#include "test_node.h"

enum chip_state { CHIP_SLEEP, CHIP_IDLE, CHIP_RX, CHIP_TX, CHIP_WOR };
static struct chip {
    bool dead, stuck, glitch;
    enum chip_state state;
    uint8_t reg[0x40], at_swor[0x40];
    uint8_t patable;
    uint8_t header;
    bool selected, first, wor_asked;
    uint8_t at;
    uint8_t tx[64], rx[80];
    uint8_t tx_bytes, rx_bytes, rx_taken;
    bool overflow;
    unsigned selects, bytes, resets;
} chip;

uint8_t (*air_next)(uint8_t packet[80]);
void (*air_sent)(const uint8_t *packet, uint8_t bytes);
uint8_t (*air_calls)(uint8_t packet[80], uint16_t timeout_ms, bool *wakes);

static bool chip_select(void) {
    chip.selects++;
    if (chip.dead)
        return false;
    chip.selected = chip.first = true;
    if (chip.state == CHIP_SLEEP || chip.state == CHIP_WOR)
        chip.state = CHIP_IDLE;
    return true;
}

static void chip_deselect(void) {
    chip.selected = false;
    if (chip.wor_asked)
        chip.state = CHIP_WOR;
    chip.wor_asked = false;
}

static void chip_strobe(uint8_t command) {
    switch (command) {
    case 0x30:
        memset(chip.reg, 0, sizeof chip.reg);
        chip.resets++;
        chip.state = CHIP_IDLE;
        break;
    case 0x34:
        check(chip.rx_bytes == chip.rx_taken, "cc2500: RX with bytes in the FIFO");
        chip.state = CHIP_RX;
        break;
    case 0x35:
        chip.state = CHIP_TX;
        break;
    case 0x36:
        chip.state = CHIP_IDLE;
        break;
    case 0x38:
        check(chip.state == CHIP_IDLE && (chip.reg[0x20] & 0x80) == 0, "cc2500: SWOR");
        check(chip.rx_bytes == chip.rx_taken, "cc2500: SWOR with bytes in the FIFO");
        memcpy(chip.at_swor, chip.reg, sizeof chip.reg);
        chip.wor_asked = true;
        break;
    case 0x39:
        check(chip.state == CHIP_IDLE, "cc2500: SPWD outside IDLE");
        chip.state = CHIP_SLEEP;
        break;
    case 0x3A:
        check(chip.state == CHIP_IDLE, "cc2500: SFRX outside IDLE");
        chip.rx_bytes = chip.rx_taken = 0;
        chip.overflow = false;
        break;
    case 0x3B:
        check(chip.state == CHIP_IDLE, "cc2500: SFTX outside IDLE");
        chip.tx_bytes = 0;
        break;
    default:
        check(command == 0x3D, "cc2500: a strobe that the driver should not know");
    }
}

static uint8_t chip_byte(uint8_t out) {
    check(chip.selected, "cc2500: a byte without chip select");
    chip.bytes++;
    static const uint8_t states[] = {0x00, 0x00, 0x10, 0x20, 0x00};
    uint8_t status = states[chip.state];
    uint8_t address = chip.header & 0x3F;
    if (chip.first) {
        chip.first = false;
        chip.header = out;
        address = out & 0x3F;
        chip.at = address;
        if (address >= 0x30 && address <= 0x3D && (out & 0x40) == 0)
            chip_strobe(address);
        return status;
    }
    if (address == 0x3F) {
        if (chip.header & 0x80)
            return chip.rx_taken < chip.rx_bytes ? chip.rx[chip.rx_taken++] : 0;
        check(chip.tx_bytes < 64, "cc2500: the TX FIFO overflows");
        if (chip.tx_bytes < 64)
            chip.tx[chip.tx_bytes++] = out;
        return status;
    }
    if (address == 0x3E) {
        chip.patable = out;
        return status;
    }
    if (address >= 0x30) { /* status register */
        check(chip.header == (0xC0 | 0x3B), "cc2500: an unknown status register");
        uint8_t waiting = (uint8_t)((chip.rx_bytes - chip.rx_taken) | (chip.overflow ? 0x80 : 0));
        if (chip.glitch) {
            chip.glitch = false;
            return waiting ^ 0x05;
        }
        return waiting;
    }
    check((chip.header & 0x80) == 0 && chip.at < 0x2F, "cc2500: an unknown register");
    if (chip.at < 0x2F)
        chip.reg[chip.at++] = out;
    return status;
}

static bool chip_wait(uint16_t timeout_ms) {
    if (chip.stuck)
        return false;
    if (chip.state == CHIP_TX) {
        check(chip.tx_bytes == chip.tx[0] + 1, "cc2500: length byte and FIFO disagree");
        if (air_sent != NULL)
            air_sent(chip.tx, chip.tx_bytes);
        chip.tx_bytes = 0;
        chip.state = (chip.reg[0x17] & 3) == 3 ? CHIP_RX : CHIP_IDLE;
        return true;
    }
    bool listens = chip.state == CHIP_WOR, wakes = false;
    check(listens || chip.state == CHIP_RX, "cc2500: waits for a packet without listening");
    uint8_t bytes = 0;
    if (listens)
        bytes = air_calls == NULL ? 0 : air_calls(chip.rx, timeout_ms, &wakes);
    else if (air_next != NULL)
        bytes = air_next(chip.rx);
    if (bytes == 0 && !wakes)
        return false;
    chip.rx_bytes = bytes;
    chip.rx_taken = 0;
    chip.state = CHIP_IDLE;
    return true;
}

void chip_new(void) {
    memset(&chip, 0, sizeof chip);
    chip.state = CHIP_IDLE;
    host_chip = (struct host_chip){chip_select, chip_byte, chip_deselect, chip_wait};
    air_next = NULL;
    air_calls = NULL;
    air_sent = NULL;
    host_power_on();
}

/* Packets for the driver, one after the other: what is wrong with each. */
enum packet { GOOD, BAD_CRC, TOO_LONG, TWO_AT_ONCE, OVERFLOWN, GLITCHED, NONE };
static enum packet script[8];
static int script_at;
static uint8_t script_body;

static uint8_t scripted(uint8_t packet[80]) {
    enum packet what = script[script_at++];
    uint8_t length = what == TOO_LONG ? 62 : 13;
    packet[0] = length;
    memset(packet + 1, ++script_body, length);
    packet[1 + length] = 0x20;
    packet[2 + length] = what == BAD_CRC ? 0x30 : 0xB0;
    chip.overflow = what == OVERFLOWN;
    chip.glitch = what == GLITCHED;
    if (what == NONE)
        return 0;
    return (uint8_t)(length + 3 + (what == TWO_AT_ONCE ? 4 : 0));
}

static uint8_t sent[8][64];
static int sent_count;
static void note_sent(const uint8_t *packet, uint8_t bytes) {
    memcpy(sent[sent_count++ % 8], packet, bytes);
}

static uint8_t receive_from(const enum packet *packets, int count, uint8_t *frame) {
    static const uint8_t hello[] = {6, 1, 0x10, 1, 0, 0, 9};
    for (int i = 0; i < 8; i++)
        script[i] = i < count ? packets[i] : NONE;
    script_at = 0;
    script_body = 0;
    air_next = scripted;
    check(phy_wake() && phy_send(hello, sizeof hello, true), "cc2500: it does not send");
    return phy_receive(frame, LINK_FRAME_BYTES, 10);
}

void radio_driver_keeps_to_the_datasheet(void) {
    uint8_t frame[LINK_FRAME_BYTES], packet[LINK_PACKET_BYTES];
    chip_new();
    check(phy_start(7, 0xFE) && chip.state == CHIP_SLEEP && chip.resets == 1, "cc2500: start");
    /* SWRS040: PKTLEN, CRC and variable length, CHANNR, and what GDO0 tells. */
    check(chip.reg[0x06] == LINK_FRAME_BYTES && (chip.reg[0x08] & 0x07) == 0x05 &&
              chip.reg[0x0A] == 7 && chip.reg[0x02] == 0x06 && chip.patable == 0xFE,
          "cc2500: configuration");
    /* Data rate (256 + DRATE_M) 2^DRATE_E / 2^28 x 26 MHz within 0.1 % of 250 kBd. */
    double rate = (256 + chip.reg[0x11]) * pow(2, chip.reg[0x10] & 15) / pow(2, 28) * 26e6;
    check(fabs(rate / 250e3 - 1) < 1e-3, "cc2500: data rate");
    double carrier = (chip.reg[0x0D] << 16 | chip.reg[0x0E] << 8 | chip.reg[0x0F]) * 26e6 / 65536;
    check(carrier > 2400e6 && carrier < 2483.5e6, "cc2500: carrier outside the band");

    air_sent = note_sent;
    sent_count = 0;
    for (uint8_t i = 0; i < sizeof packet; i++)
        packet[i] = (uint8_t)(LINK_FRAME_BYTES + i);
    check(phy_wake() && phy_send(packet, sizeof packet, false), "cc2500: send");
    check(chip.state == CHIP_IDLE && sent_count == 1 && memcmp(sent[0], packet, 62) == 0,
          "cc2500: the packet changed on its way");
    check(phy_send(packet, sizeof packet, true) && chip.state == CHIP_RX, "cc2500: then listen");

    const enum packet good[] = {GOOD}, late[] = {BAD_CRC, TOO_LONG, GOOD}, two[] = {TWO_AT_ONCE};
    const enum packet bad[] = {BAD_CRC, BAD_CRC, BAD_CRC, BAD_CRC, GOOD};
    const enum packet over[] = {OVERFLOWN, GOOD}, glitch[] = {GLITCHED};
    check(receive_from(good, 1, frame) == 13 && frame[0] == 1 && frame[12] == 1, "cc2500: good");
    check(receive_from(late, 3, frame) == 13 && frame[0] == 3, "cc2500: good after two bad");
    check(receive_from(bad, 5, frame) == 0, "cc2500: noise holds it");
    check(receive_from(over, 2, frame) == 13 && frame[0] == 2, "cc2500: good after an overflow");
    check(receive_from(two, 1, frame) == 0, "cc2500: leftovers are taken for a packet");
    check(receive_from(glitch, 1, frame) == 13, "cc2500: RXBYTES read while it changed");
    check(receive_from(NULL, 0, frame) == 0, "cc2500: something out of nothing");
    phy_sleep();
    check(chip.state == CHIP_SLEEP, "cc2500: sleep");

    chip.stuck = true;
    check(phy_wake() && !phy_send(packet, sizeof packet, true) && chip.state == CHIP_IDLE,
          "cc2500: a packet that does not leave");
    chip_new();
    chip.dead = true;
    check(!phy_start(0, 0) && !phy_wake() && chip.selects < 300, "cc2500: a dead chip");
    /* One that dies in the middle: 10 ms of waiting for each try to select it. */
    chip.selects = 0;
    check(!phy_send(packet, sizeof packet, true), "cc2500: a dead chip sends");
    phy_sleep();
    check(chip.selects <= 8, "cc2500: a dead chip is asked for long");
}

/* Frames that wake, one after the other, until the script ends. */
static uint8_t scripted_call(uint8_t packet[80], uint16_t timeout_ms, bool *wakes) {
    (void)timeout_ms;
    *wakes = script[script_at] != NONE;
    return *wakes ? scripted(packet) : 0;
}

/* From look to look, and of each look the length, as the registers have it (SWRS061I, pages 80,
 * 88). */
static void looks(double *every_ms, double *look_ms) {
    double event0 = chip.reg[0x1E] << 8 | chip.reg[0x1F];
    unsigned res = chip.reg[0x20] & 3, rx_time = chip.reg[0x16] & 7;
    static const double factor_us[] = {3.6058, 18.0288};
    check(res < 2 && rx_time < (res == 0 ? 7 : 4), "cc2500: a setting without duty cycle");
    *every_ms = event0 * pow(2, 5 * res) * 750 / 26e3;
    *look_ms = event0 * factor_us[res] / (1 << rx_time) / 1e3;
}

void the_driver_listens_as_often_as_it_is_told(void) {
    uint8_t frame[LINK_FRAME_BYTES], bytes;
    for (uint32_t every_ms = 50; every_ms <= 60000; every_ms += every_ms / 7) {
        double often_ms, look_ms;
        chip_new();
        air_calls = scripted_call;
        script[0] = NONE;
        script_at = 0;
        check(phy_start(7, 0xFE) && phy_wake(), "cc2500: start");
        chip.stuck = true; /* so that the registers stand as the look has them */
        check(!phy_listen(0x2A, (uint16_t)every_ms, 1000, frame, sizeof frame, &bytes) &&
                  bytes == 0,
              "cc2500: woken by nothing");
        check(chip.reg[0x16] == 0x07 && chip.reg[0x07] == 0x04 && chip.reg[0x20] == 0xF8 &&
                  chip.reg[0x0A] == 7 && chip.patable == 0xFE,
              "cc2500: wake-on-radio leaves something behind");
        chip.dead = false;
        phy_listen(0x2A, (uint16_t)every_ms, 1000, frame, sizeof frame, &bytes);
        memcpy(chip.reg, chip.at_swor, sizeof chip.reg);
        looks(&often_ms, &look_ms);
        check(fabs(often_ms / every_ms - 1) < 1e-3, "cc2500: listens at another interval");
        /* A WAKE and its preamble, and what must be heard of the next one. */
        check(look_ms > 1.536 + 0.160, "cc2500: a look may miss a train");
        check(look_ms < 3.8 || look_ms < 0.005 * every_ms, "cc2500: a look lasts too long");
        check(often_ms - look_ms > 11.2, "cc2500: too little sleep for the RC oscillator");
        check((chip.reg[0x07] & 3) == 2 && chip.reg[0x09] == 0x2A, "cc2500: address check");
    }
    chip_new();
    air_calls = scripted_call;
    const enum packet calls[] = {GOOD, BAD_CRC, TWO_AT_ONCE, OVERFLOWN};
    memcpy(script, calls, sizeof calls);
    script[4] = NONE;
    script_at = script_body = 0;
    check(phy_start(0, 0xFF), "cc2500: start");
    for (int i = 0; i < 5; i++) {
        check(phy_wake(), "cc2500: wake");
        bool woken = phy_listen(0x10, 1000, 1000, frame, sizeof frame, &bytes);
        check(woken == (i < 4) && bytes == (i == 0 ? 13 : 0), "cc2500: what wakes, and brings");
        phy_sleep();
    }
}

static struct node_config test_config(void) {
    struct node_config config;
    check(config_load(&config) == NULL, "config: the built-in block is not sound");
    return config;
}

static uint8_t stranger_then_verdict(uint8_t packet[80]) {
    static const uint8_t id[] = {'S', 'u', 'n', 's', 'e', 'a', 'l', 1};
    uint8_t frame[18] = {0x10, 1, LINK_VERDICT, 5, 0};
    memcpy(frame + 5, id, 8);
    link_put32(frame + 13, 77);
    if (script_at++ == 0)
        frame[12] ^= 1; /* another node */
    packet[0] = sizeof frame;
    memcpy(packet + 1, frame, sizeof frame);
    packet[19] = 0;
    packet[20] = 0x80;
    return 21;
}

void messages_go_out_in_frames_and_one_answer_is_ours(void) {
    struct node_config config = test_config();
    struct link_message answer;
    uint8_t body[LINK_BODY_BYTES_MAX];
    for (uint8_t i = 0; i < sizeof body; i++)
        body[i] = i;
    chip_new();
    air_sent = note_sent;
    air_next = stranger_then_verdict;
    script_at = sent_count = 0;
    radio_start(&config);
    radio_first_sequence(255);
    check(radio_exchange(LINK_ENROL, body, sizeof body, 1U << LINK_VERDICT, &answer) &&
              answer.reference == 77 && answer.verdict == 0,
          "radio: the verdict");
    check(sent_count == 3 && chip.state == CHIP_SLEEP, "radio: three frames, then sleep");
    for (uint8_t i = 0; i < 3; i++) {
        const uint8_t *p = sent[i];
        check(p[1] == 1 && p[2] == 0x10 && p[3] == LINK_ENROL && p[4] == 0 &&
                  p[5] == (i << 4 | 2) && memcmp(p + 6, body + 56 * i, p[0] - 5U) == 0,
              "radio: a frame");
    }
    script_at = 1;
    check(!radio_exchange(LINK_HELLO, body, 15, 1U << LINK_IDLE, &answer), "radio: wrong kind");
    chip.dead = true;
    check(!radio_exchange(LINK_HELLO, body, 15, 1U << LINK_IDLE, &answer), "radio: dead chip");
    chip.dead = false;
    script_at = 1;
    check(radio_exchange(LINK_HELLO, body, 15, 1U << LINK_VERDICT, &answer) && chip.resets == 2,
          "radio: not configured anew after it came back");
}
