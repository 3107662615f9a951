// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2420 against short scripts on its SPI bus.

mod bench;

use bench::{
    Bench, Strobes, US, data_frame, goes_on_from_any_part_of_a_frame, loses_the_same_whenever,
    near, part, problem, sends, sends_two_unread, survives, together, two,
};
use proptest::prelude::*;
use sunseal_mcu::{Part, Pin};
use sunseal_radio::{Cc2420Pins, Medium, Position, Radio, fcs};
use sunseal_trace::Picos;

const FIFO: Pin = Pin::new(1, 3);
const FIFOP: Pin = Pin::new(1, 0);
const SFD: Pin = Pin::new(4, 1);
const CCA: Pin = Pin::new(1, 4);
const VREG_EN: Pin = Pin::new(4, 5);
const RESETN: Pin = Pin::new(4, 6);

sunseal_trace::constants! { u8:
    SNOP 0x00, SXOSCON 0x01, SRXON 0x03, STXON 0x04, STXONCCA 0x05, SRFOFF 0x06, SXOSCOFF 0x07,
    SFLUSHRX 0x08, SFLUSHTX 0x09, SRXDEC 0x0C, STXENC 0x0D, SAES 0x0E, READ 0x40,
}

/// In front of a frame stands the address of the TXFIFO.
const STROBES: Strobes = Strobes { listen: SRXON, load: 0x3E, send: STXON };

fn pins() -> Cc2420Pins {
    Cc2420Pins {
        fifo: Some(FIFO),
        fifop: Some(FIFOP),
        sfd: Some(SFD),
        cca: Some(CCA),
        vreg_en: Some(VREG_EN),
        resetn: Some(RESETN),
    }
}

fn chip(medium: Option<&Medium>) -> Bench {
    let p: sunseal_radio::Cc2420Part = part("cc2420");
    let port = medium.map(|m| m.join(Position::default(), p.receiver));
    Bench::new(Radio::cc2420(p, pins(), port))
}

/// Regulator and crystal on, as every driver does it; PAN 0x22, this short address.
fn ready(medium: Option<&Medium>, address: u16) -> Bench {
    let mut b = chip(medium);
    b.set(VREG_EN, true);
    b.wait_us(600);
    b.set(RESETN, false);
    b.wait_us(1);
    b.set(RESETN, true);
    b.transaction(&[SXOSCON]);
    b.wait_us(900);
    b.ram(0x168, &[0x22, 0x00]);
    b.ram(0x16A, &address.to_le_bytes());
    // Thresholds as TinyOS and Contiki set them: FIFOP at whole frames.
    b.write(0x1C, 0x007F);
    b
}

impl Bench {
    fn write(&mut self, register: u8, value: u16) {
        let [high, low] = value.to_be_bytes();
        self.transaction(&[register, high, low]);
    }

    fn read(&mut self, register: u8) -> u16 {
        let out = self.transaction(&[register | READ, 0, 0]);
        u16::from_be_bytes([out[1], out[2]])
    }

    fn ram(&mut self, address: u16, bytes: &[u8]) {
        let head = [0x80 | (address & 0x7F) as u8, (address >> 7) as u8 * 0x40];
        self.transaction(&[&head, bytes].concat());
    }

    fn ram_read(&mut self, address: u16, n: usize) -> Vec<u8> {
        let mut bytes = vec![0x80 | (address & 0x7F) as u8, (address >> 7) as u8 * 0x40 + 0x20];
        bytes.extend(vec![0; n]);
        self.transaction(&bytes)[2..].to_vec()
    }

    fn load(&mut self, frame: &[u8]) {
        self.transaction(&[&[0x3E], frame].concat());
    }

    fn status(&mut self) -> u8 {
        self.transaction(&[SNOP])[0]
    }

    fn fifo(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0x3F | READ];
        bytes.extend(vec![0; n]);
        self.transaction(&bytes)[1..].to_vec()
    }
}

#[test]
fn regulator_and_crystal_take_their_time() {
    let mut b = chip(None);
    assert_eq!(b.chip.state(), "vreg_off");
    b.set(VREG_EN, true);
    assert_eq!(b.until("power_down"), 0.0, "the regulator starts at power-down current");
    b.wait_us(600);
    assert_eq!(b.status(), 0);
    b.transaction(&[SXOSCON]);
    let strobed = b.now.0 - US;
    b.until("idle");
    assert_eq!((b.now.0 - strobed) / US, 860);
    assert_eq!(b.status(), 0x40, "XOSC16M_STABLE");
    b.transaction(&[SXOSCOFF]);
    assert_eq!(b.chip.state(), "power_down");
    b.set(VREG_EN, false);
    assert_eq!(b.chip.state(), "vreg_off");
    b.sound();
}

#[test]
fn registers_hold_and_a_reset_brings_the_printed_values_back() {
    let mut b = ready(None, 1);
    for (register, value) in [
        (0x11, 0x0AE2),
        (0x14, 0xA70F),
        (0x15, 0xA0FF),
        (0x18, 0x4165),
        (0x19, 0x03C4),
        (0x1E, 0x233D),
    ] {
        assert_eq!(b.read(register) & !0x3C00, value & !0x3C00, "{register:#x}");
    }
    b.write(0x11, 0x0AF2);
    // Two registers in one transaction, then only the high byte of one.
    b.transaction(&[0x15, 0xA0, 0xE3, 0x18, 0x41, 0x88]);
    assert_eq!((b.read(0x11), b.read(0x15), b.read(0x18) & 0x3FF), (0x0AF2, 0xA0E3, 0x188));
    assert_eq!(b.transaction(&[0x15 | READ, 0])[1], 0xA0);
    assert_eq!(b.read(0x13), 0xE080, "RSSI is not valid");
    b.ram(0x100, &[1, 2, 3]);
    assert_eq!(b.ram_read(0x100, 3), [1, 2, 3]);
    b.write(0x10, 0x0000);
    b.write(0x10, 0xF800);
    assert_eq!(b.read(0x15), 0xA0FF);
    b.sound();
}

#[test]
fn a_frame_is_sent_at_the_printed_times() {
    let m = near();
    let mut b = ready(Some(&m), 1);
    let frame = data_frame(0x22, 2, 1, 7, false, &[1, 2, 3]);
    b.load(&frame);
    let strobed = b.now + Picos(4 * US);
    b.transaction(&[STXON]);
    assert_eq!(b.status() & 0x08, 0x08, "TX_ACTIVE");
    b.until("tx.pa31");
    // TX_TURNAROUND is 1: twelve symbols.
    assert_eq!(b.now.0 - strobed.0, 192 * US);
    while !b.level(SFD) {
        let at = b.chip.next_event().unwrap();
        b.now = at;
        b.chip.event(at);
    }
    assert_eq!(b.now.0 - strobed.0, (192 + 5 * 32) * US, "SFD behind preamble and delimiter");
    b.until("calibrate");
    let bytes = u128::from(frame[0]) + 1;
    assert_eq!(b.now.0 - strobed.0, (192 + (5 + bytes) * 32) * US);
    assert!(!b.level(SFD));
    b.until("rx");
    assert_eq!(b.now.0 - strobed.0, (192 + (5 + bytes) * 32 + 192) * US);
    let sent = m.take_captured();
    assert_eq!((sent[0].start.0 - strobed.0) / US, 192);
    assert_eq!(sent[0].carrier_hz, 2_405_000_000);
    assert_eq!(sent[0].bytes[..frame.len()], frame);
    assert_eq!(fcs(&sent[0].bytes[1..]), 0);
    // The FIFO still holds it: another strobe sends it again.
    b.transaction(&[STXON]);
    b.until("rx");
    assert_eq!(m.take_captured()[0].bytes, sent[0].bytes);
    assert_eq!(b.radio.counts().sent, 2);
    // With TX_TURNAROUND = 0 eight symbols are enough.
    b.write(0x15, 0x80E3);
    let strobed = b.now + Picos(4 * US);
    b.transaction(&[STXON]);
    b.until("tx.pa3");
    assert_eq!(b.now.0 - strobed.0, 128 * US);
    b.sound();
}

#[test]
fn a_frame_is_received_with_rssi_and_correlation_and_acknowledged() {
    let (m, mut a, mut b) = two(ready);
    b.write(0x11, 0x0AF2);
    for x in [&mut a, &mut b] {
        x.transaction(&[SRXON]);
    }
    together(&mut [&mut a, &mut b], 500);
    let frame = data_frame(0x22, 2, 1, 0x5A, true, b"light");
    a.load(&frame);
    a.transaction(&[STXON]);
    b.now = a.now;
    let air_us = 192 + (6 + u128::from(frame[0])) * 32;
    together(&mut [&mut a, &mut b], air_us + 2);
    assert!(b.level(FIFO) && b.level(FIFOP), "a whole frame is there");
    assert_eq!(b.chip.state(), "calibrate", "about to acknowledge");
    together(&mut [&mut a, &mut b], 192 + 11 * 32 + 200);
    let got = b.fifo(usize::from(frame[0]) + 1);
    assert_eq!(got[..frame.len()], frame);
    // -60 dBm are -15 in RSSI_VAL; CRC_OK and the best correlation.
    assert_eq!(got[frame.len()..], [(-15i8) as u8, 0x80 | 110]);
    assert!(!b.level(FIFO) && !b.level(FIFOP));
    // The acknowledgment came back: length, FCF, sequence.
    assert_eq!(a.fifo(4), [5, 0x02, 0x00, 0x5A]);
    let times: Vec<u128> = m.take_captured().iter().flat_map(|c| [c.start.0, c.end.0]).collect();
    assert_eq!(times[2] - times[1], 192 * US, "twelve symbols between frame and acknowledgment");
    assert_eq!((a.radio.counts().received, b.radio.counts().received), (1, 1));
    a.sound();
    b.sound();
}

#[test]
fn frames_for_others_are_dropped_and_broadcasts_are_not_acknowledged() {
    let (_m, mut a, mut b) = two(ready);
    b.write(0x11, 0x0AF2);
    b.transaction(&[SRXON]);
    together(&mut [&mut a, &mut b], 500);
    for (pan, dst, filtered, received) in
        [(0x22, 3, 1, 0), (0x23, 2, 2, 0), (0x22, 0xFFFF, 2, 1), (0xFFFF, 2, 2, 2)]
    {
        sends(&mut a, &mut b, &STROBES, &data_frame(pan, dst, 1, 1, dst == 0xFFFF, &[9; 20]), 3000);
        let c = b.radio.counts();
        assert_eq!((c.filtered, c.received, c.sent), (filtered, received, 0), "{pan:#x} {dst:#x}");
    }
    assert_eq!(b.fifo(1)[0], 9 + 20 + 2);
    // Without ADR_DECODE all come in.
    b.transaction(&[SFLUSHRX]);
    b.write(0x11, 0x02E2);
    sends(&mut a, &mut b, &STROBES, &data_frame(0x77, 3, 1, 1, false, &[]), 3000);
    assert_eq!(b.fifo(1), [11]);
    b.sound();
}

#[test]
fn the_receive_fifo_overflows_and_is_flushed() {
    let (_m, mut a, mut b) = two(ready);
    b.transaction(&[SRXON]);
    sends_two_unread(&mut a, &mut b, &STROBES);
    assert_eq!(b.radio.counts().overflows, 1);
    // FIFO low and FIFOP high say so.
    assert!(!b.level(FIFO) && b.level(FIFOP));
    assert_eq!(b.read(0x2C), 17);
    b.fifo(1);
    b.transaction(&[SFLUSHRX, SFLUSHRX]);
    assert!(!b.level(FIFO) && !b.level(FIFOP));
    assert_eq!(b.read(0x2C), 3);
    b.sound();
}

#[test]
fn the_transmit_fifo_underflows_and_is_flushed() {
    let mut b = ready(None, 1);
    b.load(&[20, 1, 2, 3]);
    b.transaction(&[STXON]);
    b.wait_us(1000);
    assert_eq!(b.status() & 0x28, 0x20, "TX_UNDERFLOW");
    assert_eq!(b.read(0x2C), 56);
    // Bytes are not taken and strobes do nothing until it is flushed.
    b.load(&[5, 1, 2, 3]);
    b.transaction(&[STXON]);
    b.wait_us(1000);
    assert_eq!(b.radio.counts().sent, 0);
    b.transaction(&[SFLUSHTX]);
    assert_eq!(b.status() & 0x20, 0);
    b.load(&[5, 1, 2, 3]);
    b.transaction(&[STXON]);
    b.wait_us(1000);
    assert_eq!((b.radio.counts().sent, b.radio.counts().underflows), (1, 1));
    b.sound();
}

#[test]
fn a_fifo_fed_while_it_sends_is_in_time() {
    let mut b = ready(None, 1);
    b.load(&[12, 1, 2, 3]);
    b.transaction(&[STXON]);
    b.wait_us(192 + 160);
    b.load(&[4, 5, 6, 7, 8, 9, 10]);
    b.wait_us(1000);
    let log = b.radio.take_log();
    assert_eq!(log[0].packet[..11], [12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(b.radio.counts().underflows, 0);
}

#[test]
fn a_busy_channel_is_seen_and_not_sent_into() {
    let (_m, mut a, mut b) = two(ready);
    b.transaction(&[SRXON]);
    together(&mut [&mut a, &mut b], 150);
    assert!(!b.level(CCA), "not before eight symbols in RX");
    together(&mut [&mut a, &mut b], 300);
    assert!(b.level(CCA));
    assert_eq!(b.status() & 2, 2, "RSSI_VALID");
    assert_eq!(b.read(0x13) as u8 as i8, -50, "the noise of a receiver that prints -95 dBm");
    a.load(&data_frame(0x22, 9, 1, 1, false, &[0; 100]));
    a.transaction(&[STXON]);
    b.now = a.now;
    // By energy alone, in the middle of the preamble.
    b.write(0x11, 0x0A62);
    together(&mut [&mut a, &mut b], 192 + 96);
    assert!(!b.level(CCA), "busy by energy");
    b.load(&data_frame(0x22, 1, 2, 1, false, &[1]));
    b.transaction(&[STXONCCA]);
    assert_eq!(b.status() & 8, 0, "the strobe was not followed");
    together(&mut [&mut a, &mut b], 4500);
    b.now = a.now;
    assert!(b.level(CCA));
    b.transaction(&[STXONCCA]);
    assert_eq!(b.status() & 8, 8);
    a.sound();
    b.sound();
}

#[test]
fn stand_alone_encryption_takes_fourteen_microseconds() {
    let mut b = ready(None, 1);
    // FIPS 197, appendix C; keys lie with their last byte first.
    let key: Vec<u8> = (0..16).rev().collect();
    let plain: Vec<u8> = (0..16).map(|i| i * 0x11).collect();
    b.ram(0x130, &key);
    b.ram(0x120, &plain);
    b.transaction(&[SAES]);
    b.chip.select(b.now);
    assert_eq!(b.chip.transfer(b.now + Picos(9 * US), SNOP) & 0x10, 0x10, "ENC_BUSY");
    assert_eq!(b.chip.transfer(b.now + Picos(13 * US), SNOP) & 0x10, 0);
    b.chip.deselect(b.now + Picos(14 * US));
    b.now += Picos(20 * US);
    let cipher = [
        0x69, 0xC4, 0xE0, 0xD8, 0x6A, 0x7B, 0x04, 0x30, 0xD8, 0xCD, 0xB7, 0x80, 0x70, 0xB4, 0xC5,
        0x5A,
    ];
    assert_eq!(b.ram_read(0x120, 16), cipher);
    b.sound();
}

/// RFC 3610, packet vector 1: key, nonce (thirteen bytes), header, plain text, cipher text and tag.
const KEY: [u8; 16] = [
    0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB, 0xCC, 0xCD, 0xCE, 0xCF,
];
const NONCE: [u8; 13] = [0, 0, 0, 3, 2, 1, 0, 0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5];
const SEALED: [u8; 31] = [
    0x58, 0x8C, 0x97, 0x9A, 0x61, 0xC6, 0x63, 0xD2, 0xF0, 0x66, 0xD0, 0xC2, 0xC0, 0xF9, 0x89, 0x80,
    0x6D, 0x5F, 0x6B, 0x61, 0xDA, 0xC3, 0x84, 0x17, 0xE8, 0xD1, 0x2C, 0xFD, 0xF9, 0x26, 0xE0,
];

fn nonce_ram() -> Vec<u8> {
    // Counter, nonce, flags (CBC with header, L = 2), the last byte first.
    let mut n = vec![0x09];
    n.extend(NONCE);
    n.extend([0, 1]);
    n.reverse();
    n
}

#[test]
fn ccm_in_line_is_rfc_3610_both_ways() {
    let (_m, mut a, mut b) = two(ready);
    b.write(0x11, 0x02E2);
    for x in [&mut a, &mut b] {
        let key: Vec<u8> = KEY.iter().rev().copied().collect();
        x.ram(0x100, &key);
        x.ram(0x140, &nonce_ram());
        x.ram(0x110, &nonce_ram());
        // CCM, eight bytes of code, key 0; eight bytes in the clear.
        x.write(0x19, 3 << 2 | 3);
        x.write(0x1A, 0x0808);
        x.transaction(&[SRXON]);
    }
    together(&mut [&mut a, &mut b], 500);
    let mut frame = vec![(31 + 8 + 2) as u8];
    frame.extend(0..31);
    a.load(&frame);
    let before = a.now + Picos(4 * US);
    a.transaction(&[STXENC]);
    assert_eq!(a.status() & 0x10, 0x10);
    // 1 + 1 + 2 blocks for the code, 2 + 1 for the stream.
    let busy_us = 7.0 * 13.875;
    a.wait_us(busy_us as u128 - 8);
    assert_eq!(a.status() & 0x10, 0, "{:?}", a.now.0 - before.0);
    assert_eq!(a.ram_read(0, 9), [&[41][..], &(0..8).collect::<Vec<u8>>()].concat());
    assert_eq!(a.ram_read(9, 31), SEALED);
    // Sent as it is: encrypting again would undo it.
    a.write(0x19, 0);
    a.transaction(&[STXON]);
    b.now = a.now;
    together(&mut [&mut a, &mut b], 3000);
    assert!(b.level(FIFOP));
    b.transaction(&[SRXDEC]);
    assert!(!b.level(FIFOP), "held while it is decrypted");
    b.wait_us(200);
    let got = b.fifo(42);
    assert_eq!(got[1..32], (0..31).collect::<Vec<u8>>());
    assert_eq!(got[39], 0x00, "the code held");
    // A bit of the cipher text turned: the same frame by way of the debugging access.
    let mut bad = frame.clone();
    bad.truncate(9);
    bad.extend(SEALED);
    bad[20] ^= 1;
    bad.extend([0, 0]);
    a.write(0x11, 0x02E2);
    a.sound();
    b.sound();
    let mut body = bad;
    body[0] = 41;
    a.transaction(&[SFLUSHTX]);
    sends(&mut a, &mut b, &STROBES, &body[..40], 3000);
    b.transaction(&[SRXDEC]);
    b.wait_us(200);
    assert_eq!(b.fifo(42)[39], 0xFF, "the code did not hold");
    a.sound();
    b.sound();
}

#[test]
fn ctr_and_cbc_mac_in_line() {
    let mut b = ready(None, 1);
    b.ram(0x100, &KEY.iter().rev().copied().collect::<Vec<u8>>());
    b.ram(0x140, &nonce_ram());
    // CTR: the stream of counter 1 is what CCM used.
    b.write(0x19, 2);
    b.write(0x1A, 0x0800);
    let mut frame = vec![31 + 2];
    frame.extend(0..31);
    b.load(&frame);
    b.transaction(&[STXENC]);
    b.wait_us(100);
    assert_eq!(b.ram_read(9, 23), SEALED[..23]);
    // Again undoes it.
    b.transaction(&[STXENC]);
    b.wait_us(100);
    assert_eq!(b.ram_read(1, 31), (0..31).collect::<Vec<u8>>());
    // CBC-MAC with the length in front, of one block: E(key, 0F || data).
    b.transaction(&[SFLUSHTX]);
    b.write(0x19, 0x0100 | 7 << 2 | 1);
    b.write(0x1A, 0);
    let mut frame = vec![15 + 16 + 2];
    frame.extend(1..16);
    b.load(&frame);
    b.transaction(&[STXENC]);
    b.wait_us(100);
    let tag = b.ram_read(16, 16);
    b.ram(0x120, &[&[15u8][..], &(1..16).collect::<Vec<u8>>()].concat());
    b.transaction(&[SAES]);
    b.wait_us(20);
    assert_eq!(b.ram_read(0x120, 16), tag);
    b.sound();
}

#[test]
fn what_the_chip_or_the_model_cannot_do_has_a_name() {
    let problem = |f: fn(&mut Bench)| problem(ready(None, 1), f);
    assert!(problem(|b| b.write(0x12, 0x0504)).contains("MDMCTRL1 is 0x0504"));
    assert!(problem(|b| b.write(0x1B, 0x0020)).contains("battery monitor"));
    assert!(problem(|b| b.write(0x22, 0x0001)).contains("test register 0x22"));
    assert!(problem(|b| b.write(0x1D, 0x0003)).contains("CCAMUX is 3"));
    assert!(problem(|b| b.write(0x1E, 0)).contains("can only be read"));
    assert!(problem(|b| drop(b.transaction(&[0x35]))).contains("0x35 is no register"));
    assert!(problem(|b| b.load(&[1; 129])).contains("past its 128 bytes"));
    assert!(problem(|b| b.ram(0x170, &[1])).contains("368 bytes"));
    let early = |bytes: &[u8]| {
        let mut b = chip(None);
        b.set(VREG_EN, true);
        b.wait_us(600);
        b.transaction(bytes);
        b.radio.problem().unwrap()
    };
    assert!(early(&[STXON]).contains("SXOSCON"));
    assert!(early(&[0x3E, 1]).contains("without a running crystal"));
    let mut b = chip(None);
    b.transaction(&[SNOP]);
    assert!(b.radio.problem().unwrap().contains("regulator was off"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_bytes_are_survived(seed in any::<u64>(), bytes in proptest::collection::vec(any::<u8>(), 1..400)) {
        let m = near();
        survives(ready(Some(&m), 1), seed, &bytes, 7, |b, x| {
            b.set(RESETN, x >> 59 & 1 != 0);
        });
    }
}

#[test]
fn strobing_off_leaves_reception_and_idle_is_cheap() {
    let m = near();
    let mut b = ready(Some(&m), 1);
    b.transaction(&[SRXON]);
    b.until("rx");
    b.transaction(&[SRFOFF]);
    assert_eq!(b.chip.state(), "idle");
    assert_eq!(b.chip.next_event(), None);
}

#[test]
fn a_snapshot_in_the_middle_of_a_frame_goes_on_as_the_chip_did() {
    goes_on_from_any_part_of_a_frame(ready, chip, &STROBES, |b| {
        format!("{:?} {}", b.ram_read(0x168, 4), b.status())
    });
}

#[test]
fn a_loss_of_power_leaves_the_same_whenever_it_comes() {
    loses_the_same_whenever(ready, &STROBES);
}
