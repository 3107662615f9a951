// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CC2500 against short scripts on its SPI bus.

mod bench;

use std::sync::{Arc, Mutex};

use bench::{Bench, CC2500_AS_THE_NODE, US, data, part};
use sunseal_link::InlineBytes;
use sunseal_link::air::Train;
use sunseal_mcu::{Part, Pin};
use sunseal_power::PowerSet;
use sunseal_radio::{
    Air, AirError, Answer, Cc2500Part, LinkLoss, LoopbackAir, Medium, MediumConfig, Position,
    Radio, RadioPins, Sent, Silence,
};
use sunseal_trace::{OperatingPoint, Picos};

sunseal_trace::constants! { u8:
    SRES 0x30, SRX 0x34, STX 0x35, SIDLE 0x36, SWOR 0x38, SPWD 0x39, SFRX 0x3A, SFTX 0x3B,
    SNOP 0x3D, READ 0x80, BURST 0x40,
}

impl Bench {
    /// A chip whose packets this air answers.
    fn on_air(air: impl Air + 'static) -> Self {
        let pins = RadioPins {
            gdo0: Some(Pin::new(1, 7)),
            gdo2: Some(Pin::new(1, 6)),
            somi: Some(Pin::new(3, 2)),
        };
        Self::new(Radio::cc2500(part("cc2500"), pins, Box::new(air)))
    }

    /// A chip that is configured as the node's driver does it.
    fn ready(air: impl Air + 'static) -> Self {
        let mut b = Self::on_air(air);
        b.wait_us(200);
        for (address, value) in CC2500_AS_THE_NODE {
            b.write(address, value);
        }
        b.transaction(&[0x3E, 0xFE]);
        b
    }

    /// A chip among others, without pins, with these registers written and full output power.
    fn on_medium(m: &Medium, registers: &[(u8, u8)]) -> Self {
        let part: Cc2500Part = part("cc2500");
        let port = m.join(Position::default(), part.receiver);
        let pins = RadioPins { gdo0: None, gdo2: None, somi: None };
        let mut b = Self::new(Radio::cc2500_on(part, pins, port));
        b.wait_us(200);
        for (address, value) in registers {
            b.write(*address, *value);
        }
        b.transaction(&[0x3E, 0xFE]);
        b
    }

    fn strobe(&mut self, s: u8) -> u8 {
        self.transaction(&[s])[0]
    }

    fn write(&mut self, address: u8, value: u8) {
        self.transaction(&[address, value]);
    }

    fn read(&mut self, address: u8) -> u8 {
        let burst = if (0x30..=0x3D).contains(&address) { BURST } else { 0 };
        self.transaction(&[address | READ | burst, 0])[1]
    }

    fn marc(&mut self) -> u8 {
        self.read(0x35)
    }

    fn gdo0(&self) -> bool {
        self.chip.pins().iter().find(|(p, _)| *p == Pin::new(1, 7)).unwrap().1
    }

    fn send(&mut self, packet: &[u8]) {
        let mut bytes = vec![0x3F | BURST];
        bytes.extend(packet);
        self.transaction(&bytes);
        self.strobe(STX);
    }
}

fn packet(len: u8) -> Vec<u8> {
    (0..=len).map(|i| if i == 0 { len } else { i }).collect()
}

#[test]
fn it_starts_in_a_hundred_and_fifty_microseconds_and_says_when() {
    let mut b = Bench::on_air(Silence);
    assert_eq!(b.chip.state(), "startup");
    b.chip.select(b.now);
    let somi = |b: &Bench| b.chip.pins()[2];
    assert_eq!(somi(&b), (Pin::new(3, 2), true));
    assert_eq!(b.chip.transfer(b.now, SNOP) & 0x80, 0x80);
    b.wait_us(149);
    assert!(somi(&b).1);
    b.wait_us(1);
    assert!(!somi(&b).1);
    assert_eq!(b.chip.transfer(b.now, SNOP), 0x0F);
    assert_eq!(b.chip.state(), "idle");
}

#[test]
fn registers_hold_and_a_reset_brings_the_printed_values_back() {
    let mut b = Bench::on_air(Silence);
    b.wait_us(200);
    assert_eq!((b.read(0x30), b.read(0x31)), (0x80, 0x03));
    assert_eq!((b.read(0x00), b.read(0x04), b.read(0x2E)), (0x29, 0xD3, 0x0B));
    b.transaction(&[BURST, 0x06, 0x2E, 0x07]);
    assert_eq!(b.transaction(&[READ | BURST, 0, 0, 0])[1..], [0x06, 0x2E, 0x07]);
    b.transaction(&[0x3E | BURST, 1, 2, 3]);
    assert_eq!(b.transaction(&[0x3E | READ | BURST, 0, 0, 0])[1..], [1, 2, 3]);
    b.strobe(SRES);
    assert_eq!(b.strobe(SNOP) & 0x80, 0x80);
    b.wait_us(200);
    assert_eq!(b.read(0x00), 0x29);
    assert_eq!(b.radio.problem(), None);
}

#[test]
fn a_packet_takes_its_time_on_the_air_and_shows_on_gdo0() {
    let log = Arc::new(Mutex::new(Vec::<Sent>::new()));
    let seen = Arc::clone(&log);
    let mut b = Bench::ready(LoopbackAir(move |s: &Sent| {
        seen.lock().unwrap().push(s.clone());
        Vec::new()
    }));
    let p = packet(61);
    let mut bytes = vec![0x3F | BURST];
    bytes.extend(&p);
    b.transaction(&bytes);
    assert_eq!(b.read(0x3A), 62);
    b.strobe(STX);
    let strobed = b.now.0 - US;
    assert_eq!(b.chip.state(), "calibrate");
    b.wait_us(730);
    assert_eq!(b.chip.state(), "settle");
    b.wait_us(90);
    assert_eq!(b.chip.state(), "tx.0dbm");
    assert!(!b.gdo0());
    b.wait_us(290);
    assert!(b.gdo0(), "the sync word is out");
    while b.chip.state() == "tx.0dbm" {
        b.now = b.chip.next_event().unwrap();
        b.chip.event(b.now);
    }
    assert_eq!(b.chip.state(), "idle");
    assert!(!b.gdo0());
    // 809 us to TX, then 4 + 4 + 62 + 2 bytes of 8 bits at 249939 Bd.
    let air_us = 72.0 * 8.0 / 0.249_938_964_843_75;
    let took_us = (b.now.0 - strobed) as f64 / 1e6;
    assert!((took_us - 809.0 - air_us).abs() < 0.1, "{took_us}");
    assert_eq!(log.lock().unwrap()[0].packet, p);
    let counts = b.radio.counts();
    assert_eq!(
        (counts.sent, counts.sent_bytes, counts.calibrations, counts.underflows),
        (1, 62, 1, 0)
    );
    assert_eq!(b.radio.problem(), None);
}

#[test]
fn a_packet_of_64_bytes_costs_what_mane_printed() {
    let set = PowerSet::load(&data().join("power"), "cc2500-datasheet", "cc2500").unwrap();
    let price = |state: &str, vcc_v: f64| {
        set.current_a("radio", state, &OperatingPoint::default(), vcc_v).unwrap().value.typ * vcc_v
    };
    let mut b = Bench::ready(Silence);
    // From STX on, state by state, until it rests in IDLE again.
    b.transaction(&[&[0x3F | BURST][..], &packet(63)].concat());
    b.strobe(STX);
    let mut spent: Vec<(&'static str, u64)> = Vec::new();
    while b.chip.state() != "idle" {
        let state = ["calibrate", "settle", "tx.0dbm"].into_iter().find(|s| *s == b.chip.state());
        let state = state.unwrap_or_else(|| panic!("{}", b.chip.state()));
        b.wait_us(1);
        match spent.last_mut() {
            Some(last) if last.0 == state => last.1 += 1,
            _ => spent.push((state, 1)),
        }
    }
    assert_eq!(spent.iter().map(|s| s.0).collect::<Vec<_>>(), ["calibrate", "settle", "tx.0dbm"]);
    // 4 bytes of preamble, 4 of sync word, 64, 2 of CRC, at 32 us; MDMCFG gives 249.94 kBd.
    assert!(spent[2].1.abs_diff(74 * 32) <= 2, "{spent:?}");
    let energy_mj = |vcc_v: f64, from: usize| -> f64 {
        spent[from..].iter().map(|(s, us)| price(s, vcc_v) * *us as f64 * 1e-3).sum()
    };
    let (whole, without) = (energy_mj(2.7, 0), energy_mj(2.7, 1));
    println!(
        "at 2.7 V {whole:.4} mJ, without calibration {without:.4} mJ; table 4.3 prints 0.137 mJ"
    );
    assert!((without / 0.137 - 1.0).abs() < 0.01, "{without}");
    // What `reproduce` prints is the same packet by formula.
    let part: Cc2500Part = part("cc2500");
    let formula: f64 = part.packet(64).iter().map(|(s, t)| price(s, 2.7) * t * 1e3).sum();
    assert!((formula / without - 1.0).abs() < 2e-3, "{formula} and {without}");
    assert!((whole / 0.137 - 1.0).abs() < 0.15, "{whole}");
}

/// SWRS040A, tables 26 and 27, and the sum of section 17.4.1: a carrier two decibels above the threshold is sensed, one
/// two below it is not. SWRS040C, table 25: the offset of RSSI.
#[test]
fn carrier_sense_follows_agcctrl2_and_rssi_the_printed_offset() {
    const AGCCTRL2: u8 = 0x1B;
    const AGCCTRL1: u8 = 0x1C;
    let senses = |agc2: u8, agc1: u8, mdmcfg: [u8; 2], dbm: f64| -> (bool, f64) {
        let m = Medium::new(MediumConfig {
            loss: LinkLoss::Fixed { loss_db: -dbm },
            ..MediumConfig::default()
        });
        let on = || {
            let modem = [(0x10, mdmcfg[0]), (0x11, mdmcfg[1]), (0x12, 0x73), (0x18, 0x18)];
            Bench::on_medium(&m, &modem)
        };
        let (mut a, mut b) = (on(), on());
        b.write(AGCCTRL2, agc2);
        b.write(AGCCTRL1, agc1);
        b.strobe(SRX);
        a.transaction(&[&[0x3F | BURST][..], &packet(60)].concat());
        a.strobe(STX);
        a.wait_us(1200);
        b.wait_us((a.now.0 - b.now.0) / US);
        let rssi = f64::from(b.read(0x34) as i8) / 2.0;
        let sensed = b.read(0x38) & 0x40 != 0;
        assert_eq!((a.radio.problem(), b.radio.problem()), (None, None));
        (sensed, rssi)
    };
    let fast = [0x2D, 0x3B];
    // 2.4 kBaud: (256 + 131) 2^6 / 2^28 x 26 MHz.
    let slow = [0x86, 0x83];
    for (agc2, agc1, mdmcfg, threshold_dbm) in [
        (0x03, 0x40, fast, -96.0), // after a reset
        (0xC3, 0x40, fast, -78.5),
        (0x3B, 0x40, fast, -78.0),
        (0x07, 0x40, fast, -87.0), // MAGN_TARGET 42 dB instead of 33
        (0x43, 0x47, fast, -83.0), // 7 dB above it
        (0x43, 0x49, fast, -97.0), // 7 dB below it
        (0x93, 0x40, slow, -82.0),
    ] {
        assert!(senses(agc2, agc1, mdmcfg, threshold_dbm + 2.0).0, "{agc2:#04x} {agc1:#04x}");
        assert!(!senses(agc2, agc1, mdmcfg, threshold_dbm - 2.0).0, "{agc2:#04x} {agc1:#04x}");
    }
    assert!(!senses(0x03, 0x48, fast, -20.0).0, "CARRIER_SENSE_ABS_THR of -8 is off");
    for (mdmcfg, offset_db) in [(fast, 72.0), (slow, 71.0)] {
        let (_, rssi) = senses(0x03, 0x40, mdmcfg, -60.0);
        assert!((rssi - (offset_db - 60.0)).abs() <= 0.5, "{rssi}");
    }
}

#[test]
fn what_the_gateway_answers_is_read_from_the_fifo_with_its_status() {
    let answer = |delay_us, crc_ok| Answer { delay_us, frame: vec![0x22, 1, 2, 3, 4], crc_ok };
    let mut b =
        Bench::ready(LoopbackAir(move |_: &Sent| vec![answer(2000, true), answer(6000, false)]));
    // After TX to RX by itself, and stay there.
    b.write(0x17, 0x3F);
    b.write(0x09, 0x22);
    b.write(0x07, 0x06);
    b.send(&packet(5));
    b.wait_us(809 + 15 * 32 + 100);
    assert_eq!(b.chip.state(), "rx.sensitive");
    b.wait_us(2250);
    assert_eq!(b.chip.state(), "rx.sensitive.strong");
    assert!(b.gdo0());
    b.wait_us(600);
    assert!(!b.gdo0());
    assert_eq!(b.read(0x3B), 8);
    let got = b.transaction(&[0x3F | READ | BURST, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(got[1..], [5, 0x22, 1, 2, 3, 4, 24, 0x80 | 10]);
    b.wait_us(5000);
    let got = b.transaction(&[0x3F | READ | BURST, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(got[8], 10, "CRC_OK is clear");
    let counts = b.radio.counts();
    assert_eq!((counts.received, counts.crc_failed, counts.missed), (1, 1, 0));
}

#[test]
fn who_does_not_listen_misses_and_other_addresses_are_filtered() {
    let mut b = Bench::ready(LoopbackAir(|_: &Sent| {
        let frame = |dst| vec![dst, 1, 2, 3, 4];
        vec![
            Answer { delay_us: 500, frame: frame(0x22), crc_ok: true },
            Answer { delay_us: 4000, frame: frame(0x23), crc_ok: true },
            Answer { delay_us: 6000, frame: frame(0x00), crc_ok: true },
        ]
    }));
    b.write(0x09, 0x22);
    b.write(0x07, 0x06);
    b.write(0x17, 0x3C);
    b.send(&packet(5));
    b.wait_us(809 + 15 * 32 + 100);
    assert_eq!(b.marc(), 1, "idle after the packet");
    b.wait_us(2000);
    b.strobe(SRX);
    b.wait_us(6000);
    let counts = b.radio.counts();
    assert_eq!((counts.missed, counts.filtered, counts.received), (1, 1, 1));
    assert_eq!(b.read(0x3B), 8);
}

#[test]
fn the_tx_fifo_underflows_and_is_flushed() {
    let mut b = Bench::ready(Silence);
    b.transaction(&[0x3F | BURST, 20, 1, 2]);
    b.strobe(STX);
    b.wait_us(3000);
    assert_eq!(b.marc(), 0x16);
    assert_eq!(b.strobe(SNOP) >> 4, 7);
    b.strobe(SIDLE);
    assert_eq!(b.marc(), 0x16, "only flushing helps");
    b.strobe(SFTX);
    assert_eq!((b.marc(), b.read(0x3A)), (1, 0));
    assert_eq!(b.radio.counts().underflows, 1);
}

#[test]
fn the_rx_fifo_overflows_and_is_flushed() {
    let mut b = Bench::ready(LoopbackAir(|_: &Sent| {
        (0..2)
            .map(|i| Answer { delay_us: 2000 + 4000 * i, frame: vec![0; 40], crc_ok: true })
            .collect()
    }));
    b.write(0x17, 0x3F);
    b.send(&packet(5));
    b.wait_us(15_000);
    assert_eq!(b.marc(), 0x11);
    assert_eq!(b.read(0x3B), 0x80 | 64);
    assert_eq!(b.strobe(SNOP) >> 4, 6);
    b.strobe(SFRX);
    assert_eq!((b.marc(), b.read(0x3B)), (1, 0));
}

#[test]
fn feeding_the_fifo_while_it_sends_is_in_time() {
    let mut b = Bench::ready(Silence);
    b.transaction(&[0x3F | BURST, 10, 1, 2, 3, 4]);
    b.strobe(STX);
    b.wait_us(809 + 8 * 32 + 64);
    b.transaction(&[0x3F | BURST, 5, 6, 7, 8, 9, 10]);
    b.wait_us(1000);
    assert_eq!((b.radio.counts().sent, b.radio.counts().underflows), (1, 0));
    assert_eq!(b.radio.take_log()[0].packet, packet(10));
}

#[test]
fn asleep_it_keeps_registers_and_loses_fifos() {
    let mut b = Bench::ready(Silence);
    b.transaction(&[0x3F | BURST, 1, 2]);
    b.strobe(SPWD);
    assert_eq!(b.chip.state(), "sleep");
    assert_eq!(b.chip.next_event(), None);
    b.wait_us(1_000_000);
    // Chip select wakes it; what is clocked before it is ready is lost.
    assert_eq!(b.strobe(SNOP) & 0x80, 0x80);
    b.wait_us(200);
    assert_eq!(b.chip.state(), "idle");
    assert_eq!((b.read(0x11), b.read(0x3A)), (0x3B, 0));
}

#[test]
fn without_supply_everything_is_lost() {
    let mut b = Bench::ready(Silence);
    b.chip.power(b.now, false);
    assert_eq!(b.chip.state(), "off");
    assert!(b.chip.pins().iter().all(|(_, level)| !level));
    b.wait_us(1000);
    b.chip.power(b.now, true);
    b.wait_us(200);
    assert_eq!(b.read(0x11), 0x22);
}

#[test]
fn what_the_model_does_not_have_is_a_problem_with_a_name() {
    let mut b = Bench::ready(Silence);
    b.strobe(SWOR);
    assert!(b.radio.problem().unwrap().contains("RC_PD holds the RC oscillator off"));
    let mut b = Bench::ready(Silence);
    b.write(0x08, 0x02);
    b.strobe(SRX);
    b.wait_us(1000);
    assert!(b.radio.problem().unwrap().contains("LENGTH_CONFIG is 2"));
    let mut b = Bench::ready(Silence);
    b.write(0x02, 0x0B);
    assert!(b.radio.problem().unwrap().contains("signal 0x0b"));
}

/// Listens by wake-on-radio as the node's driver has it: look, at most `RX_TIME` long, unless there is no carrier.
fn listening(b: &mut Bench, event0: u16, mcsm2: u8, worctrl: u8) {
    let [high, low] = event0.to_be_bytes();
    for (address, value) in
        [(0x16, mcsm2), (0x18, 0x38), (0x1B, 0xC7), (0x1E, high), (0x1F, low), (0x20, worctrl)]
    {
        b.write(address, value);
    }
    b.strobe(SWOR);
}

/// Every state with its time, over so many microseconds.
fn states(b: &mut Bench, us: u128) -> Vec<(String, f64)> {
    let end = b.now + Picos(us * US);
    let mut out: Vec<(String, f64)> = Vec::new();
    while b.now < end {
        let state = b.chip.state().to_owned();
        let at = b.chip.next_event().map_or(end, |t| t.min(end));
        let span_us = (at.0 - b.now.0) as f64 / 1e6;
        match out.last_mut() {
            Some((last, time_us)) if *last == state => *time_us += span_us,
            _ => out.push((state, span_us)),
        }
        b.now = at;
        b.chip.event(at);
    }
    out
}

#[test]
fn wake_on_radio_looks_at_the_air_as_often_and_as_long_as_the_registers_say() {
    // EVENT0 34666, RX_TIME 6, WOR_RES 0: every second, 1.96 ms (SWRS061I, page 80, which truncates to 7 bits).
    let mut b = Bench::ready(Silence);
    b.write(0x00, 0x24);
    listening(&mut b, 34_666, 0x06, 0x38);
    assert_eq!(b.chip.state(), "sleep.wor");
    let seen = states(&mut b, 5_001_000);
    assert_eq!(b.radio.problem(), None);
    let names: Vec<&str> = seen.iter().map(|(s, _)| s.as_str()).collect();
    assert_eq!(names[..6], ["sleep.wor", "startup", "idle", "settle", "rx.sensitive", "sleep.wor"]);
    let near = |got: f64, want: f64| (got - want).abs() < 0.1;
    let t = |i: usize| seen[i].1;
    // The bench gives back the bus a microsecond after chip select.
    assert!(near(t(0) + 1.0, 34_666.0 * 750.0 / 26.0), "{seen:?}");
    // Event 1 twelve periods behind Event 0.
    assert!(near(t(1) + t(2), 12.0 * 750.0 / 26.0), "{seen:?}");
    assert!(near(t(4), f64::from(34_666 >> 9) * 750.0 / 26.0), "{seen:?}");
    // Every fourth time, and only then, it calibrates on the way back.
    let windows = names.iter().filter(|n| n.starts_with("rx")).count();
    let calibrations = names.iter().filter(|n| **n == "calibrate").count();
    assert_eq!((windows, calibrations, b.radio.counts().calibrations), (5, 1, 1));

    // Of the factors of MCSM2's table: WOR_RES 1, RX_TIME 2: 4.5072 us a count.
    let mut b = Bench::ready(Silence);
    listening(&mut b, 2048, 0x02, 0x39);
    let rx_us = states(&mut b, 3_000_000).into_iter().find(|(s, _)| s.starts_with("rx")).unwrap().1;
    assert!(near(rx_us, 2048.0 * 4.5072), "{rx_us}");
}

#[test]
fn polling_costs_what_the_data_sheet_says() {
    let set = PowerSet::load(&data().join("power"), "cc2500-datasheet", "cc2500").unwrap();
    let point = OperatingPoint::default();
    let average_ua = |mcsm2: u8| {
        let mut b = Bench::ready(Silence);
        // Reduced current, as the table has it.
        b.write(0x12, 0xF3);
        listening(&mut b, 34_666, mcsm2, 0x38);
        let seen = states(&mut b, 40_000_000);
        let charge = |(state, us): &(String, f64)| {
            set.current_a("radio", state, &point, 3.0).unwrap().value.typ * us
        };
        assert_eq!(b.radio.problem(), None);
        1e6 * seen.iter().map(charge).sum::<f64>() / 40e6
    };
    let (quiet_ua, busy_ua) = (average_ua(0x16), average_ua(0x06));
    println!("one look a second: {quiet_ua:.2} uA without a signal, {busy_ua:.2} uA with one");
    assert!((quiet_ua / 8.1 - 1.0).abs() < 0.1, "{quiet_ua}");
    assert!((busy_ua / 35.0 - 1.0).abs() < 0.1, "{busy_ua}");
}

/// A train that begins at a second and a half, and counts who asked for it.
#[derive(Clone)]
struct Calling(Arc<Mutex<Vec<(u64, u32)>>>, Train);

impl Air for Calling {
    fn exchange(&mut self, _: &Sent) -> Result<Vec<Answer>, AirError> {
        Ok(Vec::new())
    }

    fn listen(&mut self, from_us: u64, span_us: u32) -> Result<Option<(Train, bool)>, AirError> {
        self.0.lock().unwrap().push((from_us, span_us));
        let to_us = from_us + u64::from(span_us);
        let heard = self.1.start_us < to_us && from_us < self.1.end_us();
        Ok(heard.then_some((self.1, true)))
    }
}

/// A train of WAKE for address 0x10, every millisecond and a half for a second.
fn train() -> Train {
    let mut frame = vec![0x10, 1, 8, 0, 0];
    frame.extend([7; 28]);
    frame.extend([4, 0x1A]);
    let frame = InlineBytes::copy_of(&frame).unwrap();
    Train { start_us: 1_500_000, period_us: 1536, count: 683, frame }
}

#[test]
fn a_train_is_heard_in_the_first_window_that_it_covers_and_ends_wake_on_radio() {
    for mcsm2 in [0x06, 0x16] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let mut b = Bench::ready(Calling(Arc::clone(&asked), train()));
        b.write(0x07, 0x06);
        b.write(0x09, 0x10);
        listening(&mut b, 34_666, mcsm2, 0x38);
        b.wait_us(1_999_000);
        assert_eq!((b.chip.state(), asked.lock().unwrap().len()), ("sleep.wor", 1));
        b.wait_us(10_000);
        // The program wakes by the falling edge of GDO0, and finds the chip idle and the packet in its FIFO.
        assert!(!b.gdo0());
        assert_eq!((b.chip.state(), b.radio.counts().received), ("idle", 1));
        let got = b.transaction(&[&[0x3F | READ | BURST][..], &[0; 38]].concat());
        assert_eq!(got[1..6], [35, 0x10, 1, 8, 0]);
        let (window_us, _) = asked.lock().unwrap()[1];
        let index = (window_us - 1_500_000) / 1536;
        let left_ms = u64::from(u16::from_be_bytes([got[35], got[36]]));
        assert!(left_ms.abs_diff(1050 - index * 1536 / 1000) <= 3, "{left_ms} in frame {index}");
        // Half a second later it is still idle: nothing sends it back to sleep by itself.
        b.wait_us(500_000);
        assert_eq!(b.chip.state(), "idle");
        assert_eq!(b.radio.problem(), None);
        assert_eq!(b.radio.counts().missed, 0);
    }
}

#[test]
fn a_frame_for_another_address_keeps_the_receiver_on_until_the_program_acts() {
    let mut b = Bench::ready(Calling(Arc::default(), train()));
    b.write(0x07, 0x06);
    b.write(0x09, 0x11);
    listening(&mut b, 34_666, 0x16, 0x38);
    b.wait_us(2_300_000);
    assert!(b.chip.state().starts_with("rx"), "{}", b.chip.state());
    assert!(b.radio.counts().filtered >= 1 && b.radio.counts().received == 0);
    b.strobe(SIDLE);
    assert_eq!(b.chip.state(), "idle");
    assert_eq!(b.read(0x3B), 0);
    // And goes on listening when it is told to.
    b.strobe(SWOR);
    assert_eq!(b.chip.state(), "sleep.wor");
    assert_eq!(b.radio.problem(), None);
}

#[test]
fn wake_on_radio_is_kept_by_a_snapshot_and_ended_by_the_program() {
    let mut b = Bench::ready(Silence);
    b.write(0x00, 0x25);
    listening(&mut b, 34_666, 0x16, 0x78);
    b.wait_us(700_000);
    let saved = b.chip.save();
    let at = b.now;
    let first = states(&mut b, 2_000_000);
    b.chip.restore(&saved);
    b.now = at;
    assert_eq!(states(&mut b, 2_000_000), first);
    // GDO2 shows Event 1: 1.38 ms behind Event 0, until the next sleep.
    let gdo2 = |b: &Bench| b.chip.pins().iter().find(|(p, _)| *p == Pin::new(1, 6)).unwrap().1;
    let event0 = Picos(3 * 34_666 * 750 * 1_000_000 / 26 + at.0 - 700_000 * US);
    let wait_us = (event0.0 - b.now.0) / US + 1_380;
    b.wait_us(wait_us);
    assert!(!gdo2(&b));
    b.wait_us(10);
    assert!(gdo2(&b));
    b.wait_us(2_000);
    assert!(!gdo2(&b));
    b.strobe(SIDLE);
    b.wait_us(3_000_000);
    assert_eq!(b.chip.state(), "idle");
    assert_eq!((b.read(0x36), b.read(0x37)), (0, 0));
    assert_eq!(b.radio.problem(), None);
}

#[test]
fn wake_on_radio_that_cannot_be_is_a_sentence() {
    let said = |event0, mcsm2, worctrl| {
        let mut b = Bench::ready(Silence);
        listening(&mut b, event0, mcsm2, worctrl);
        b.wait_us(3_000_000);
        b.radio.problem().unwrap_or_default()
    };
    assert!(said(34_666, 0x06, 0xB8).contains("RC_PD holds the RC oscillator off"));
    assert!(said(34_666, 0x06, 0x30).contains("WORCTRL.RC_CAL 0"));
    assert!(said(34_666, 0x07, 0x38).contains("never sleeps again"));
    assert!(said(34_666, 0x0E, 0x38).contains("RX_TIME_QUAL"));
    let text = said(380, 0x06, 0x38);
    assert!(text.contains("every 10961 us leaves less than 11105 us of sleep"), "{text}");
}

/// Two chips and no gateway: a sender that calls without pause is heard at the first look, one too weak at none.
#[test]
fn on_a_medium_a_look_hears_who_sends_all_the_time() {
    let heard_at = |dbm: f64, mcsm2: u8| {
        let loss = LinkLoss::Fixed { loss_db: -dbm };
        let m = Medium::new(MediumConfig { loss, ..MediumConfig::default() });
        let on = || Bench::on_medium(&m, &[(0x07, 0x04), (0x10, 0x2D), (0x11, 0x3B), (0x12, 0x73)]);
        let (mut a, mut b) = (on(), on());
        listening(&mut b, 34_666 / 8, mcsm2, 0x38);
        // Without calibration, and in FSTXON between two packets.
        a.write(0x17, 0x01);
        while b.now < Picos(600_000 * US) && b.radio.counts().received == 0 {
            if matches!(a.chip.state(), "idle" | "fstxon") {
                a.send(&packet(33));
            }
            let now = a.now.max(b.now) + Picos(20 * US);
            a.wait_us((now.0 - a.now.0) / US);
            b.wait_us((now.0 - b.now.0) / US);
        }
        assert_eq!((a.radio.problem(), b.radio.problem()), (None, None));
        (b.radio.counts().received, b.now.0 / (1000 * US))
    };
    let (received, at_ms) = heard_at(-60.0, 0x03);
    assert_eq!(received, 1);
    assert!((125..129).contains(&at_ms), "{at_ms}");
    assert_eq!(heard_at(-105.0, 0x03).0, 0);
    // Carrier sense ends a look at once that is not worth it, and not one that is.
    assert_eq!((heard_at(-60.0, 0x13).0, heard_at(-105.0, 0x13).0), (1, 0));
}
