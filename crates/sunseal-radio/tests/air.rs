// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many chips on one air: collisions, hidden nodes, loss, and the same of all that for the same seed;
//! and what the data files say of the chips.

mod bench;

use bench::{Bench, data, data_frame, part, together};
use proptest::prelude::*;
use sunseal_mcu::Part;
use sunseal_power::PowerSet;
use sunseal_radio::{
    Cc2420Part, Cc2420Pins, Cc2500Part, LinkLoss, Medium, MediumConfig, Position, Radio, RadioPart,
    RadioPins,
};
use sunseal_trace::OperatingPoint;

const SRXON: u8 = 0x03;
const STXON: u8 = 0x04;

/// A CC2420 that is always regulated, its crystal running, with an address of PAN 0x22.
fn node(medium: &Medium, address: u16) -> Bench {
    let p: Cc2420Part = part("cc2420");
    let port = Some(medium.join(Position::default(), p.receiver));
    let mut b = Bench::new(Radio::cc2420(p, Cc2420Pins::default(), port));
    b.wait_us(600);
    b.transaction(&[0x01]);
    b.wait_us(1000);
    b.transaction(&[0xE8, 0x80, 0x22, 0, address as u8, (address >> 8) as u8]);
    b.transaction(&[SRXON]);
    b
}

fn load(b: &mut Bench, source: u16, body: &[u8]) {
    b.transaction(&[0x09]);
    b.transaction(&[&[0x3E][..], &data_frame(0x22, 2, source, source as u8, false, body)].concat());
}

/// Two senders that do not hear each other; the receiver between them hears one `loss_db` and the other
/// at 70 dB. Frames that came in whole, and those whose check sequence failed.
fn collide(loss_db: f64, offset_us: u128, capture_db: Option<f64>, seed: u64) -> (u64, u64) {
    let medium = Medium::new(MediumConfig {
        seed,
        loss: LinkLoss::Fixed { loss_db: 150.0 },
        capture_db,
        ..MediumConfig::default()
    });
    let (mut a, mut b, mut c) = (node(&medium, 1), node(&medium, 2), node(&medium, 3));
    medium.set_link(0, 1, loss_db);
    medium.set_link(2, 1, 70.0);
    load(&mut a, 1, &[0x11; 40]);
    load(&mut c, 3, &[0x33; 40]);
    together(&mut [&mut a, &mut b, &mut c], 2000);
    a.transaction(&[STXON]);
    (b.now, c.now) = (a.now, a.now);
    together(&mut [&mut a, &mut b, &mut c], offset_us);
    c.transaction(&[STXON]);
    (a.now, b.now) = (c.now, c.now);
    together(&mut [&mut a, &mut b, &mut c], 6000);
    let counts = b.radio.counts();
    (counts.received, counts.crc_failed)
}

#[test]
fn hidden_nodes_collide_and_the_stronger_one_may_capture() {
    // One after the other: both come in.
    assert_eq!(collide(70.0, 3000, None, 1), (2, 0));
    // Overlapping, the first one 20 dB stronger: it is captured; 20 dB weaker: destroyed.
    assert_eq!(collide(50.0, 600, None, 1), (1, 0));
    assert_eq!(collide(90.0, 600, None, 1), (0, 1));
    // By a threshold instead: 5 dB stronger is enough for 3, not for 10.
    assert_eq!(collide(65.0, 600, Some(3.0), 1), (1, 0));
    assert_eq!(collide(65.0, 600, Some(10.0), 1), (0, 1));
}

#[test]
fn frames_get_lost_at_the_rate_that_is_set() {
    let config = MediumConfig {
        seed: 4,
        loss: LinkLoss::Fixed { loss_db: 60.0 },
        frame_loss: 0.25,
        ..MediumConfig::default()
    };
    let medium = Medium::new(config);
    let (mut a, mut b) = (node(&medium, 1), node(&medium, 2));
    load(&mut a, 1, b"again");
    for _ in 0..200 {
        a.transaction(&[STXON]);
        b.now = a.now;
        together(&mut [&mut a, &mut b], 1500);
        b.transaction(&[&[0x7F][..], &[0; 17]].concat());
        a.now = b.now;
    }
    // Three quarters of 200, three standard deviations wide.
    let received = b.radio.counts().received;
    assert!((131..=168).contains(&received), "{received}");
    assert_eq!(b.radio.problem(), None);
}

#[test]
fn another_channel_is_not_heard() {
    let medium = bench::near();
    let (mut a, mut b) = (node(&medium, 1), node(&medium, 2));
    // FSCTRL: channel 26.
    b.transaction(&[0x06]);
    b.transaction(&[0x18, 0x41, 0xB0]);
    b.transaction(&[SRXON]);
    load(&mut a, 1, b"elsewhere");
    a.now = b.now.max(a.now);
    a.transaction(&[STXON]);
    b.now = a.now;
    together(&mut [&mut a, &mut b], 3000);
    assert_eq!(b.radio.counts().received, 0);
}

#[test]
fn a_cc2500_sees_a_busy_channel() {
    let medium = bench::near();
    let p: Cc2500Part = part("cc2500");
    let make = || {
        let port = medium.join(Position::default(), p.receiver);
        let pins = RadioPins { gdo0: None, gdo2: None, somi: None };
        let mut b = Bench::new(Radio::cc2500_on(p.clone(), pins, port));
        b.wait_us(200);
        for (register, value) in
            [(0x08, 0x05), (0x10, 0x2D), (0x11, 0x3B), (0x12, 0x73), (0x17, 0x3F), (0x18, 0x18)]
        {
            b.transaction(&[register, value]);
        }
        b.transaction(&[0x3E, 0xFE]);
        b
    };
    let (mut a, mut b) = (make(), make());
    b.transaction(&[0x34]);
    together(&mut [&mut a, &mut b], 1000);
    let clear = |b: &mut Bench| b.transaction(&[0xF8, 0])[1] & 0x10 != 0;
    assert!(clear(&mut b));
    a.now = b.now;
    a.transaction(&[&[0x7F, 60][..], &[1; 60]].concat());
    a.transaction(&[0x35]);
    b.now = a.now;
    // Calibration, settling, and into the preamble.
    together(&mut [&mut a, &mut b], 809 + 200);
    assert!(!clear(&mut b));
    // RSSI: -60 dBm.
    assert_eq!(b.transaction(&[0xF4, 0])[1], 24);
    b.transaction(&[0x7F, 1, 1]);
    b.transaction(&[0x35]);
    assert!(b.chip.state().starts_with("rx"), "STX does not interrupt what it hears");
    a.now = b.now;
    together(&mut [&mut a, &mut b], 4000);
    assert!(clear(&mut b));
    assert_eq!(b.radio.counts().received, 1);
}

#[test]
fn every_state_of_every_radio_has_a_current() {
    for name in ["cc2500", "cc2420", "cc2520", "cc1000"] {
        let p: RadioPart = part(name);
        assert_eq!(p.model(), name);
        let set = PowerSet::load(&data().join("power"), p.power_set(), p.model()).unwrap();
        for state in p.states() {
            let a = set.current_a("radio", state, &OperatingPoint::default(), 3.0);
            assert!(a.is_ok(), "{}", a.unwrap_err());
        }
        assert!(set.current_a("radio", "flying", &OperatingPoint::default(), 3.0).is_err());
    }
    let typ = |set: &str, model: &str, state: &str| {
        let set = PowerSet::load(&data().join("power"), set, model).unwrap();
        set.current_a("radio", state, &OperatingPoint::default(), 3.0).unwrap().value.typ
    };
    assert_eq!(typ("cc2420-datasheet", "cc2420", "tx.pa31"), 17.4e-3);
    assert_eq!(typ("cc2520-datasheet", "cc2520", "rx"), 18.5e-3);
    assert_eq!(typ("cc1000-datasheet", "cc1000", "tx.433mhz.paff"), 26.7e-3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Whatever the distances and offsets, a run comes out the same each time.
    #[test]
    fn the_same_seed_gives_the_same_run(seed in any::<u64>(), loss in 60.0f64..100.0, offset in 0u128..3000) {
        prop_assert_eq!(collide(loss, offset, None, seed), collide(loss, offset, None, seed));
    }
}
