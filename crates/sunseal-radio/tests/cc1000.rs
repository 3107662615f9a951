// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC1000 against short scripts on its pins, with the register settings of a MICA2 at 433 and 868 MHz.

mod bench;

use bench::{Bench, US, goes_on_alike, left_after, near, part};
use proptest::prelude::*;
use sunseal_mcu::{Part, Pin};
use sunseal_radio::{Cc1000Part, Cc1000Pins, LinkLoss, Medium, MediumConfig, Position, Radio};
use sunseal_trace::Picos;

const PALE: Pin = Pin::new(1, 4);
const PCLK: Pin = Pin::new(1, 6);
const PDATA: Pin = Pin::new(1, 7);
const DIO: Pin = Pin::new(2, 0);
const DCLK: Pin = Pin::new(2, 1);

/// Addresses and values behind MAIN: two words of frequency, separation, current, ... as drivers have them.
const AT_433: [(u8, u8); 17] = [
    (0x01, 0x58),
    (0x02, 0x00),
    (0x03, 0x00),
    (0x04, 0x57),
    (0x05, 0xF6),
    (0x06, 0x85),
    (0x07, 0x03),
    (0x08, 0x55),
    (0x09, 0x44),
    (0x0A, 0x02),
    (0x0B, 0x00),
    (0x0C, 0x60),
    (0x0D, 0xE0),
    (0x0F, 0x1C),
    (0x10, 0x6B),
    (0x11, 0x55),
    (0x12, 0x70),
];

fn pins() -> Cc1000Pins {
    Cc1000Pins { pale: Some(PALE), pclk: Some(PCLK), pdata: Some(PDATA), dio: None, dclk: None }
}

fn bench(medium: &Medium, pins: Cc1000Pins) -> Bench {
    let p: Cc1000Part = part("cc1000");
    let port = Some(medium.join(Position::default(), p.receiver));
    let mut b = Bench::new(Radio::cc1000(p, pins, port));
    for pin in [PALE, PCLK] {
        b.set(pin, true);
    }
    b
}

impl Bench {
    fn bit(&mut self, bit: bool) {
        self.set(PDATA, bit);
        self.wait_us(1);
        self.set(PCLK, false);
        self.wait_us(1);
        self.set(PCLK, true);
    }

    fn header(&mut self, address: u8, write: bool) {
        self.set(PALE, false);
        (0..7).rev().for_each(|i| self.bit(address >> i & 1 != 0));
        self.bit(write);
        self.set(PALE, true);
    }

    fn write(&mut self, address: u8, value: u8) {
        self.header(address, true);
        (0..8).rev().for_each(|i| self.bit(value >> i & 1 != 0));
    }

    fn read(&mut self, address: u8) -> u8 {
        self.header(address, false);
        (0..8).fold(0, |byte, _| {
            self.set(PCLK, false);
            self.wait_us(1);
            let bit = self.level(PDATA);
            self.set(PCLK, true);
            self.wait_us(1);
            byte << 1 | u8::from(bit)
        })
    }

    /// Reset, crystal, settings, calibration of both frequencies; then receiving.
    fn start(&mut self, settings: &[(u8, u8)], tx_current: u8) {
        self.write(0x00, 0x3A);
        self.write(0x00, 0x3B);
        self.wait_us(2000);
        for (address, value) in settings {
            self.write(*address, *value);
        }
        let rx_current = settings.iter().find(|s| s.0 == 0x09).unwrap().1;
        for (main, current) in [(0x11, rx_current), (0xE1, tx_current)] {
            self.write(0x09, current);
            self.write(0x00, main);
            self.write(0x0E, 0x26);
            self.write(0x0E, 0xA6);
            self.wait_us(40_000);
            assert_eq!(self.read(0x0E) & 0x08, 0x08, "CAL_COMPLETE");
            self.write(0x0E, 0x26);
        }
        self.write(0x09, rx_current);
        self.write(0x00, 0x11);
        self.wait_us(500);
    }

    /// As drivers switch over: synthesizer at the other frequency, then the amplifier.
    fn send_on(&mut self, tx_current: u8, power: u8) {
        self.write(0x0B, 0x00);
        self.write(0x09, tx_current);
        self.write(0x00, 0xE1);
        self.wait_us(250);
        self.write(0x0B, power);
        self.wait_us(20);
    }
}

/// Runs two chips on SPI slaves: what the first sends byte by byte, and what comes out of the second.
fn pass(tx: &mut Bench, rx: &mut Bench, bytes: &[u8]) -> Vec<u8> {
    let start = tx.now.max(rx.now);
    let (mut out, mut next) = (Vec::new(), 0);
    let end = start + Picos((bytes.len() as u128 + 6) * 420 * US);
    rx.now = start;
    loop {
        let (a, b) = (tx.chip.next_event(), rx.chip.next_event());
        let Some(at) = [a, b].into_iter().flatten().min().filter(|at| *at <= end) else { break };
        if a == Some(at) {
            tx.chip.event(at);
            if tx.chip.shifted_in().is_some() && next < bytes.len() {
                tx.chip.shifted_out(at, bytes[next]);
                next += 1;
                if next == bytes.len() {
                    tx.now = at;
                    tx.write(0x0B, 0);
                }
            }
        } else {
            rx.chip.event(at);
            out.extend(rx.chip.shifted_in());
        }
    }
    tx.now = end;
    rx.now = end;
    out
}

/// True if `bytes` are in `stream`, at any bit, as a receiver hands them over whose oscillator is above the carrier (as
/// with the settings of `AT_433`): inverted.
fn contains(stream: &[u8], bytes: &[u8]) -> bool {
    let bits = |b: &[u8]| -> Vec<bool> {
        b.iter().flat_map(|x| (0..8).rev().map(move |i| x >> i & 1 != 0)).collect()
    };
    let (stream, mut wanted) = (bits(stream), bits(bytes));
    wanted.iter_mut().for_each(|b| *b = !*b);
    stream.windows(wanted.len()).any(|w| w == wanted)
}

#[test]
fn registers_are_written_and_read_over_three_wires() {
    let mut b = bench(&near(), pins());
    b.write(0x00, 0x3A);
    b.write(0x00, 0x3B);
    let reset = [
        (0x01, 0x75),
        (0x02, 0xA0),
        (0x03, 0xCB),
        (0x08, 0x59),
        (0x09, 0xCA),
        (0x0B, 0x0F),
        (0x0C, 0x10),
        (0x0E, 0x05),
        (0x11, 0x24),
        (0x42, 0x25),
    ];
    for (address, value) in reset {
        assert_eq!(b.read(address), value, "{address:#x}");
    }
    b.write(0x09, 0x81);
    b.write(0x08, 0x55);
    assert_eq!((b.read(0x09), b.read(0x08)), (0x81, 0x55));
    // RESET_N low brings the others back.
    b.write(0x00, 0x3A);
    assert_eq!((b.read(0x09), b.read(0x00)), (0xCA, 0x3A));
    b.sound();
}

#[test]
fn states_follow_main_and_calibration_takes_34_ms_at_1_mhz() {
    let mut b = bench(&near(), pins());
    assert_eq!(b.chip.state(), "power_down");
    b.write(0x00, 0x3A);
    assert_eq!(b.chip.state(), "xosc", "CORE_PD is clear");
    b.write(0x00, 0x39);
    assert_eq!(b.chip.state(), "xosc.bias");
    b.wait_us(2200);
    AT_433.iter().for_each(|(a, v)| b.write(*a, *v));
    b.write(0x00, 0x31);
    assert_eq!(b.chip.state(), "synth.433mhz");
    b.write(0x0E, 0xA6);
    let began = b.now;
    while b.read(0x0E) & 0x08 == 0 {
        b.wait_us(10);
    }
    // The reference is 14.7456 MHz / 12.
    let us = (b.now.0 - began.0) as f64 / US as f64;
    assert!((us - 34_000.0 / 1.2288).abs() < 120.0, "{us}");
    b.write(0x00, 0x11);
    assert_eq!(b.chip.state(), "rx.433mhz");
    b.wait_us(300);
    assert_eq!(b.read(0x0D) & 1, 1, "LOCK_CONTINUOUS");
    // More for the oscillator and the LNA is seen: 2250 - 950 + 600 uA.
    b.write(0x09, 0xC4);
    b.write(0x0A, 0x0A);
    assert_eq!(b.chip.state(), "rx.433mhz.plus2000ua");
    b.write(0x00, 0x3F);
    assert_eq!(b.chip.state(), "power_down");
    b.sound();
}

#[test]
fn bytes_go_from_one_spi_slave_to_the_other() {
    let m = near();
    let (mut a, mut b) = (bench(&m, pins()), bench(&m, pins()));
    for x in [&mut a, &mut b] {
        x.start(&AT_433, 0x81);
        assert_eq!(x.chip.state(), "rx.433mhz");
    }
    a.send_on(0x81, 0x0F);
    assert_eq!(a.chip.state(), "tx.433mhz.pa0f");
    let message: Vec<u8> = [&[0xAA; 8][..], &[0x33, 0xCC], b"four bits late, or five"].concat();
    let got = pass(&mut a, &mut b, &message);
    assert!(contains(&got, &message[6..]), "{got:02x?}");
    assert_eq!(a.chip.state(), "synth.433mhz", "the amplifier is off");
    // 19200 bits a second: Manchester at 38.4 kBaud.
    let c = m.take_captured();
    let us = (c[0].end.0 - c[0].start.0) as f64 / US as f64;
    assert!((us - message.len() as f64 * 8e6 / 19_200.0).abs() < 120.0, "{us}");
    assert!(c[0].carrier_hz.abs_diff(433_002_000) < 5_000, "{}", c[0].carrier_hz);
    assert_eq!(c[0].bytes, message);
    a.sound();
    b.sound();
}

#[test]
fn rssi_is_a_falling_voltage() {
    let m = Medium::new(MediumConfig {
        loss: LinkLoss::Fixed { loss_db: 70.0 },
        ..MediumConfig::default()
    });
    let (mut a, mut b, mut c) = (bench(&m, pins()), bench(&m, pins()), bench(&m, pins()));
    for x in [&mut a, &mut b, &mut c] {
        x.start(&AT_433, 0x81);
    }
    // P = -51.3 V - 49.2 dBm.
    let volts = |dbm: f64| (-49.2 - dbm) / 51.3;
    let hears = |b: &Bench, v: f64| {
        let heard = b.radio.rssi_v(b.now);
        assert!((heard - v).abs() < 0.001, "{heard} for {v}");
    };
    // Its own noise is below the output's range.
    hears(&b, 1.2);
    a.send_on(0x81, 0x0F);
    b.wait_us(2000);
    hears(&b, volts(-70.0));
    // A second carrier of the same power.
    c.now = b.now;
    c.send_on(0x81, 0x0F);
    b.wait_us(2000);
    hears(&b, volts(-66.99));
    // IF_RSSI other than 1, and anything but reception: nothing flows.
    b.write(0x0A, 0x00);
    hears(&b, 0.0);
    b.write(0x0A, 0x02);
    hears(&b, volts(-66.99));
    b.write(0x00, 0x3F);
    hears(&b, 0.0);
    hears(&a, 0.0);
}

#[test]
fn output_power_and_current_follow_pa_pow_in_both_bands() {
    let m = near();
    let mut b = bench(&m, pins());
    b.start(&AT_433, 0x81);
    b.send_on(0x81, 0xFF);
    assert_eq!(b.chip.state(), "tx.433mhz.paff");
    b.write(0x0B, 0x00);
    // 868.3 MHz: reference 14.7456 / 6 = 2.4576 MHz.
    let f = |hz: f64| ((hz / 2.4576e6) * 16384.0 - 8192.0).round() as u32;
    let (rx, tx) = (f(868.3e6 + 150e3), f(868.3e6 - 32e3));
    let word = |w: u32, first: u8| (0..3).map(move |i| (first + i, (w >> (16 - 8 * i)) as u8));
    let rest = [
        (0x07, 0x01),
        (0x08, 0xAB),
        (0x09, 0x8C),
        (0x0A, 0x32),
        (0x0B, 0x00),
        (0x0C, 0x30),
        (0x11, 0x55),
        (0x12, 0x10),
    ];
    let settings: Vec<(u8, u8)> = word(rx, 1).chain(word(tx, 4)).chain(rest).collect();
    b.write(0x00, 0x3B);
    b.start(&settings, 0xF3);
    assert_eq!(b.chip.state(), "rx.868mhz");
    b.send_on(0xF3, 0x80);
    assert_eq!(b.chip.state(), "tx.868mhz.pa80");
    b.write(0x0B, 0x00);
    let c = m.take_captured();
    assert!(
        c.last().unwrap().carrier_hz.abs_diff(868_300_000) < 20_000,
        "{}",
        c.last().unwrap().carrier_hz
    );
    b.sound();
}

#[test]
fn bits_can_be_clocked_by_pins_too() {
    let m = near();
    let wired = Cc1000Pins { dio: Some(DIO), dclk: Some(DCLK), ..pins() };
    let (mut a, mut b) = (bench(&m, wired), bench(&m, wired));
    a.start(&AT_433, 0x81);
    b.start(&AT_433, 0x81);
    a.send_on(0x81, 0x0F);
    let message = [0xAA, 0xAA, 0xAA, 0x33, 0xCC, 0x5A, 0x0F, 0, 0, 0];
    let bits: Vec<bool> =
        message.iter().flat_map(|x: &u8| (0..8).rev().map(move |i| x >> i & 1 != 0)).collect();
    let (mut sent, mut heard, mut clock) = (0, Vec::new(), [false; 2]);
    let end = a.now + Picos(120 * 53 * US);
    b.now = a.now;
    while let Some(at) =
        [a.chip.next_event(), b.chip.next_event()].into_iter().flatten().min().filter(|t| *t < end)
    {
        for (i, x) in [&mut a, &mut b].into_iter().enumerate() {
            if x.chip.next_event() == Some(at) {
                x.now = at;
                x.chip.event(at);
            }
            let level = x.level(DCLK);
            match (i, clock[i], level) {
                // Data change when DCLK falls and are taken when it rises.
                (0, true, false) => {
                    sent += 1;
                    x.set(DIO, bits.get(sent).copied().unwrap_or(false));
                }
                (1, false, true) => heard.push(x.level(DIO)),
                _ => {}
            }
            clock[i] = level;
        }
    }
    let inverted: Vec<bool> = bits[24..48].iter().map(|b| !b).collect();
    assert!(heard.windows(24).any(|w| *w == inverted), "{heard:?}");
    a.sound();
    b.sound();
}

#[test]
fn what_is_wrong_or_not_modelled_has_a_name() {
    let problem = |f: fn(&mut Bench)| {
        let mut b = bench(&near(), pins());
        b.start(&AT_433, 0x81);
        f(&mut b);
        b.radio.problem().unwrap()
    };
    assert!(problem(|b| b.send_on(0x44, 0x0F)).contains("CURRENT is 0x44 in TX"));
    assert!(
        problem(|b| {
            b.send_on(0x81, 0x0F);
            b.write(0x04, 0x56);
        })
        .contains("was changed while it sent")
    );
    assert!(
        problem(|b| {
            b.send_on(0x81, 0x0F);
            b.write(0x09, 0x44);
        })
        .contains("CURRENT is 0x44 in TX")
    );
    assert!(problem(|b| b.write(0x13, 0x03)).contains("SHAPE"));
    assert!(problem(|b| b.write(0x30, 1)).contains("0x30 is no register"));
    assert!(problem(|b| b.write(0x40, 0x3F)).contains("CHP_OVERRIDE"));
    assert!(
        problem(|b| {
            b.write(0x00, 0x3F);
            b.write(0x0E, 0x26);
            b.write(0x0E, 0xA6)
        })
        .contains("CAL_START")
    );
    // Sending without calibration; and receiving, where there was something to receive.
    let uncalibrated = |m: &Medium| {
        let mut b = bench(m, pins());
        b.write(0x00, 0x3A);
        b.write(0x00, 0x3B);
        b.wait_us(2000);
        AT_433.iter().for_each(|(a, v)| b.write(*a, *v));
        b.write(0x00, 0x11);
        b.wait_us(2000);
        assert_eq!(b.read(0x0D) & 1, 0, "LOCK_CONTINUOUS");
        b.sound();
        b
    };
    let mut b = uncalibrated(&near());
    b.send_on(0x81, 0x0F);
    assert!(b.radio.problem().unwrap().contains("without calibration"));
    let m = near();
    let (mut a, mut b) = (bench(&m, pins()), uncalibrated(&m));
    a.start(&AT_433, 0x81);
    a.now = a.now.max(b.now);
    a.send_on(0x81, 0x0F);
    pass(&mut a, &mut b, &[0xAA; 8]);
    assert!(b.radio.problem().unwrap().contains("without calibration"));
}

/// In the order of TinyOS's CC1000ControlP: MAIN before CURRENT, PA_POW at 0 until the synthesizer has settled; no
/// calibration by hand beside its own.
#[test]
fn the_order_in_which_tinyos_writes_is_taken() {
    const RX: u8 = 0x11;
    const TX: u8 = 0xE1;
    let calibrate = |b: &mut Bench| {
        b.write(0x0E, 0xA6);
        while b.read(0x0E) & 0x08 == 0 {}
        b.write(0x0E, 0x26);
    };
    let rx_mode = |b: &mut Bench| {
        b.write(0x09, 0x44);
        b.write(0x0B, 0x00);
        b.write(0x00, RX);
        b.wait_us(125);
    };
    let tx_mode = |b: &mut Bench| {
        b.write(0x00, TX);
        b.write(0x09, 0x81);
        b.wait_us(250);
        b.write(0x0B, 0x0F);
        b.wait_us(20);
    };
    let m = near();
    let (mut a, mut b) = (bench(&m, pins()), bench(&m, pins()));
    for x in [&mut a, &mut b] {
        x.write(0x00, 0x3A);
        x.write(0x00, 0x3B);
        x.wait_us(2000);
        x.write(0x0B, 0x80);
        for (register, value) in AT_433 {
            x.write(register, if register == 0x0B { 0x0F } else { value });
        }
        x.write(0x0B, 0x00);
        x.write(0x42, 0x3F);
        x.write(0x00, RX);
        calibrate(x);
        x.write(0x00, TX);
        x.write(0x09, 0x81);
        x.write(0x0B, 0x00);
        calibrate(x);
        rx_mode(x);
    }
    let message: Vec<u8> = [&[0xAA; 8][..], &[0x33, 0xCC], b"forth"].concat();
    b.now = b.now.max(a.now);
    a.now = b.now;
    tx_mode(&mut a);
    assert_eq!(a.chip.state(), "tx.433mhz.pa0f");
    assert!(contains(&pass(&mut a, &mut b, &message), &message[6..]));
    rx_mode(&mut a);
    tx_mode(&mut b);
    assert!(contains(&pass(&mut b, &mut a, &message), &message[6..]), "and back");
    a.sound();
    b.sound();
}

/// In the order of AN009 (revision 2.1): a divider of its own for each direction, written behind MAIN; calibrated after
/// the lock was asked for; PA_POW restored by the calibration.
#[test]
fn the_order_in_which_an009_writes_is_taken_with_two_dividers() {
    const POWER: u8 = 0xF0;
    let word =
        |hz: f64, divider: f64| (hz / (14.7456e6 / divider) * 16384.0 - 8192.0).round() as u32;
    // Above the carrier in RX with REFDIV 14, in the middle between both frequencies in TX with REFDIV 9.
    let (rx, tx) = (word(433.152e6, 14.0), word(433.002e6 - 32e3, 9.0));
    let (rx_pll, tx_pll) = (0x70, 0x48);
    let separation = (64e3 / (14.7456e6 / 9.0) * 16384.0_f64).round() as u16;
    let calibrate = |b: &mut Bench| {
        b.write(0x0B, 0x00);
        b.write(0x0E, 0xA6);
        while b.read(0x0E) & 0x08 == 0 {}
        while b.read(0x0D) & 1 == 0 {}
        b.write(0x0E, 0x26);
        b.write(0x0B, POWER);
    };
    let to_rx = |b: &mut Bench| {
        b.write(0x00, 0x11);
        b.write(0x0C, rx_pll);
        b.write(0x09, 0x44);
        b.wait_us(250);
    };
    let to_tx = |b: &mut Bench| {
        b.write(0x0B, 0x00);
        b.write(0x00, 0xE1);
        b.write(0x0C, tx_pll);
        b.write(0x09, 0x81);
        b.wait_us(250);
    };
    let m = near();
    let (mut a, mut b) = (bench(&m, pins()), bench(&m, pins()));
    for x in [&mut a, &mut b] {
        x.write(0x00, 0x3E);
        x.write(0x00, 0x3F);
        let words = [rx, tx].into_iter().flat_map(u32::to_be_bytes).enumerate();
        for (register, (_, byte)) in words.filter(|(i, _)| i % 4 != 0).enumerate() {
            x.write(1 + register as u8, byte);
        }
        let [high, low] = separation.to_be_bytes();
        for (register, value) in
            [(0x07, high), (0x08, low), (0x0A, 0x02), (0x0B, 0x00), (0x11, 0x55)]
        {
            x.write(register, value);
        }
        x.write(0x00, 0x3B);
        x.write(0x09, 0x44);
        x.write(0x0C, rx_pll);
        x.wait_us(2000);
        x.write(0x00, 0x39);
        x.wait_us(250);
        x.write(0x00, 0x31);
        to_rx(x);
        assert_eq!(x.read(0x0D) & 1, 0, "not yet calibrated");
        calibrate(x);
        to_tx(x);
        calibrate(x);
        x.write(0x0B, 0x00);
        to_rx(x);
        assert_eq!(x.read(0x0D) & 1, 1, "the calibration of RX outlasts that of TX");
        x.sound();
    }
    // Without another calibration.
    let message: Vec<u8> = [&[0xAA; 8][..], &[0x33, 0xCC], b"two dividers"].concat();
    b.now = b.now.max(a.now);
    a.now = b.now;
    to_tx(&mut a);
    assert_eq!(a.read(0x0D) & 1, 1);
    a.write(0x0B, 0x0F);
    assert_eq!(a.chip.state(), "tx.433mhz.pa0f");
    assert!(contains(&pass(&mut a, &mut b, &message), &message[6..]));
    a.sound();
    b.sound();
}

/// The intermediate frequency of an oscillator above the carrier has the two tones changed over.
#[test]
fn bits_are_inverted_where_the_oscillator_is_above_the_carrier() {
    let mut low = AT_433;
    // 433.002 MHz - 150 kHz, times 16384 / 1.2288 MHz, less 8192.
    let word = ((432.852e6_f64 / 1.2288e6) * 16384.0 - 8192.0).round() as u32;
    for (i, byte) in word.to_be_bytes()[1..].iter().enumerate() {
        low[i].1 = *byte;
    }
    let message: Vec<u8> = [&[0xAA; 8][..], &[0x33, 0xCC], b"upright"].concat();
    let upside_down: Vec<u8> = message.iter().map(|b| !b).collect();
    for (settings, wanted, other) in
        [(&AT_433, &message, &upside_down), (&low, &upside_down, &message)]
    {
        let m = near();
        let (mut a, mut b) = (bench(&m, pins()), bench(&m, pins()));
        a.start(&AT_433, 0x81);
        b.start(settings, 0x81);
        a.send_on(0x81, 0x0F);
        let got = pass(&mut a, &mut b, &message);
        assert!(contains(&got, &wanted[6..]), "{got:02x?}");
        assert!(!contains(&got, &other[6..]));
        b.sound();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_levels_are_survived(steps in proptest::collection::vec((0u8..5, any::<bool>(), 0u128..2000), 1..600)) {
        let m = near();
        let mut b = bench(&m, Cc1000Pins { dio: Some(DIO), dclk: Some(DCLK), ..pins() });
        for (pin, level, us) in steps {
            b.set([PALE, PCLK, PDATA, DIO, PCLK][usize::from(pin)], level);
            b.wait_us(us);
        }
        b.chip.power(b.now, false);
        prop_assert_eq!(b.chip.state(), "off");
    }
}

#[test]
fn a_snapshot_in_the_middle_of_a_byte_goes_on_as_the_chip_did() {
    for sends in [false, true] {
        let mut b = bench(&near(), pins());
        b.start(&AT_433, 0x81);
        if sends {
            b.send_on(0x81, 0xFF);
        }
        b.wait_us(1234);
        goes_on_alike(&mut b, bench(&near(), pins()), 3000, |b| {
            format!("{} {}", b.read(0x00), b.read(0x0E))
        });
        b.sound();
    }
}

#[test]
fn a_loss_of_power_leaves_the_same_whenever_it_comes() {
    let started = |us| {
        let mut b = bench(&near(), pins());
        b.start(&AT_433, 0x81);
        left_after(b, us)
    };
    assert_eq!(started(300), left_after(bench(&near(), pins()), 0));
    assert_eq!(started(300), started(77_777));
    let mut sent = bench(&near(), pins());
    sent.start(&AT_433, 0x81);
    sent.send_on(0x81, 0xFF);
    assert_ne!(left_after(sent, 20_000), started(300), "what was on the air is told from silence");
}
