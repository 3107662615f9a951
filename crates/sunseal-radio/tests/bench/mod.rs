// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bench that the chips' tests share: a program's view of a chip, at one byte in four microseconds.
#![allow(dead_code, reason = "each test file uses its share")]

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use sunseal_mcu::{Part, Pin};
use sunseal_radio::{LinkLoss, Medium, MediumConfig, Radio, RadioHandle};
use sunseal_trace::Picos;

pub const US: u128 = 1_000_000;

pub fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

pub fn part<T: DeserializeOwned>(name: &str) -> T {
    sunseal_power::load_part(&data().join("parts"), name, "radio").unwrap()
}

/// An air on which everybody hears everybody at -60 dBm.
pub fn near() -> Medium {
    Medium::new(MediumConfig { loss: LinkLoss::Fixed { loss_db: 60.0 }, ..MediumConfig::default() })
}

/// Two chips in each other's range, at addresses 1 and 2.
pub fn two(ready: impl Fn(Option<&Medium>, u16) -> Bench) -> (Medium, Bench, Bench) {
    let m = near();
    let (a, b) = (ready(Some(&m), 1), ready(Some(&m), 2));
    (m, a, b)
}

/// Registers of a CC2500 as the node's driver sets them: 250 kBd, 4 byte preamble, 30/32 sync, variable length, CRC,
/// status appended, calibration on leaving IDLE, back to IDLE after a packet.
pub const CC2500_AS_THE_NODE: [(u8, u8); 7] = [
    (0x02, 0x06),
    (0x07, 0x04),
    (0x08, 0x05),
    (0x10, 0x2D),
    (0x11, 0x3B),
    (0x12, 0x73),
    (0x18, 0x18),
];

pub struct Bench {
    pub chip: Radio,
    pub radio: RadioHandle,
    pub now: Picos,
}

impl Bench {
    pub fn new((mut chip, radio): (Radio, RadioHandle)) -> Self {
        chip.power(Picos(0), true);
        Self { chip, radio, now: Picos(0) }
    }

    /// Lets time go by, calling the chip when it wants to be called.
    pub fn wait_us(&mut self, us: u128) {
        let end = self.now + Picos(us * US);
        while let Some(at) = self.chip.next_event().filter(|at| *at <= end) {
            assert!(at >= self.now, "an event in the past: {at:?} at {:?}", self.now);
            self.now = at;
            self.chip.event(at);
        }
        self.now = end;
    }

    pub fn transaction(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.chip.select(self.now);
        let mut out = Vec::new();
        for b in bytes {
            self.wait_us(4);
            out.push(self.chip.transfer(self.now, *b));
        }
        self.chip.deselect(self.now);
        self.wait_us(1);
        out
    }

    pub fn level(&self, pin: Pin) -> bool {
        self.chip
            .pins()
            .iter()
            .find(|p| p.0 == pin)
            .unwrap_or_else(|| panic!("{pin} is not driven"))
            .1
    }

    pub fn set(&mut self, pin: Pin, level: bool) {
        self.chip.pin(self.now, pin, level);
    }

    /// Microseconds until it is in a state.
    pub fn until(&mut self, state: &str) -> f64 {
        let begin = self.now;
        for _ in 0..100_000 {
            if self.chip.state() == state {
                return (self.now.0 - begin.0) as f64 / US as f64;
            }
            let at =
                self.chip.next_event().unwrap_or_else(|| panic!("stays in {}", self.chip.state()));
            self.now = at;
            self.chip.event(at);
        }
        panic!("never {state}");
    }

    #[track_caller]
    pub fn sound(&self) {
        assert_eq!(self.radio.problem(), None);
    }
}

/// Chips side by side, called in order of time as a lock-step would.
pub fn together(benches: &mut [&mut Bench], us: u128) {
    let end = benches[0].now + Picos(us * US);
    while let Some((at, i)) = benches
        .iter()
        .enumerate()
        .filter_map(|(i, b)| Some((b.chip.next_event()?, i)))
        .min()
        .filter(|(at, _)| *at <= end)
    {
        benches[i].now = at;
        benches[i].chip.event(at);
    }
    benches.iter_mut().for_each(|b| b.now = end);
}

/// A data frame with short addresses, length byte first, without its check sequence.
pub fn data_frame(pan: u16, dst: u16, src: u16, sequence: u8, ack: bool, body: &[u8]) -> Vec<u8> {
    let mut f = vec![0, 0x41 | u8::from(ack) << 5, 0x88, sequence];
    for word in [pan, dst, src] {
        f.extend(word.to_le_bytes());
    }
    f.extend(body);
    f[0] = (f.len() - 1 + 2) as u8;
    f
}

/// Takes a new chip to where another stands by its snapshot; from there both do the same, microsecond by
/// microsecond, and in the end as `reads` tells.
#[track_caller]
pub fn goes_on_alike(
    was: &mut Bench,
    mut new: Bench,
    us: u128,
    reads: impl Fn(&mut Bench) -> String,
) {
    assert!(was.radio.can_go_back());
    new.chip.restore(&was.chip.save());
    new.now = was.now;
    for at_us in 0..us {
        let seen =
            |b: &Bench| format!("{} {:?} {:?}", b.chip.state(), b.chip.pins(), b.chip.next_event());
        assert_eq!(seen(&new), seen(was), "{at_us} us behind the snapshot");
        was.wait_us(1);
        new.wait_us(1);
    }
    assert_eq!(reads(&mut new), reads(was));
    assert_eq!(
        (new.radio.counts(), new.radio.take_log()),
        (was.radio.counts(), was.radio.take_log())
    );
}

/// State that is left of a chip whose supply goes after so long and comes back at another time.
pub fn left_after(mut b: Bench, us: u128) -> Vec<u8> {
    b.wait_us(us);
    b.sound();
    b.chip.power(b.now, false);
    b.chip.power(Picos(7), true);
    b.chip.remains()
}

/// Holds a CC2420 or CC2520 to it that a loss of supply leaves the same whenever it comes, unless something was on the air.
pub fn loses_the_same_whenever(ready: impl Fn(Option<&Medium>, u16) -> Bench, strobes: &Strobes) {
    let listening = |us| {
        let mut b = ready(None, 5);
        b.transaction(&[strobes.listen]);
        left_after(b, us)
    };
    assert_eq!(listening(400), left_after(ready(None, 9), 0));
    assert_eq!(listening(400), listening(77_777));
    let mut heard = ready(Some(&near()), 5);
    heard.transaction(&[strobes.send]);
    let told = left_after(heard, 20_000);
    assert_ne!(told, listening(400), "what was on the air is told from silence");
}

/// Strobes of a CC2420's or CC2520's driver, and the first byte in front of a frame.
pub struct Strobes {
    pub listen: u8,
    pub load: u8,
    pub send: u8,
}

/// One sends a frame, and both go on for so long.
pub fn sends(from: &mut Bench, to: &mut Bench, strobes: &Strobes, frame: &[u8], us: u128) {
    from.transaction(&[&[strobes.load], frame].concat());
    from.transaction(&[strobes.send]);
    to.now = from.now;
    together(&mut [from, to], us);
}

/// Two long frames are sent to one that does not read its FIFO.
pub fn sends_two_unread(from: &mut Bench, to: &mut Bench, strobes: &Strobes) {
    together(&mut [from, to], 500);
    for _ in 0..2 {
        sends(from, to, strobes, &data_frame(0x22, 2, 1, 1, false, &[1; 80]), 5000);
    }
}

/// Holds a chip to it that a snapshot anywhere in a frame goes on as the chip did, unless others share its air.
pub fn goes_on_from_any_part_of_a_frame(
    ready: impl Fn(Option<&Medium>, u16) -> Bench,
    chip: impl Fn(Option<&Medium>) -> Bench,
    strobes: &Strobes,
    reads: impl Fn(&mut Bench) -> String,
) {
    let frame = data_frame(0x22, 2, 1, 7, true, b"kept with its air");
    for after_us in [0, 100, 400, 900, 3000] {
        let mut b = ready(Some(&near()), 1);
        b.transaction(&[strobes.listen]);
        b.wait_us(500);
        b.transaction(&[&[strobes.load], &frame[..]].concat());
        b.transaction(&[strobes.send]);
        b.wait_us(after_us);
        goes_on_alike(&mut b, chip(Some(&near())), 2500, &reads);
        assert_eq!(b.radio.counts().sent, 1);
        b.sound();
    }
    // Another's antenna on the same air cannot be taken back with it.
    let shared = near();
    let (a, _b) = (chip(Some(&shared)), chip(Some(&shared)));
    assert!(!a.radio.can_go_back());
}

/// Any bytes in transactions of so many, now and then with a pin that moves, leave a chip that can be switched off.
pub fn survives(
    mut b: Bench,
    seed: u64,
    bytes: &[u8],
    at_once: usize,
    moves: impl Fn(&mut Bench, u64),
) {
    let mut x = seed;
    for chunk in bytes.chunks(at_once) {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b.transaction(chunk);
        if x >> 60 == 0 {
            moves(&mut b, x);
        }
        b.wait_us((x >> 52).into());
    }
    b.chip.power(b.now, false);
    assert_eq!(b.chip.state(), "off");
}

/// Sentence about a chip behind `does`, which it or its model cannot.
pub fn problem(mut b: Bench, does: impl FnOnce(&mut Bench)) -> String {
    does(&mut b);
    b.radio.problem().expect("it should have been refused")
}
