// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common parts of every radio chip here: the bus side that goes into a machine, and the handle by which it is watched
//! from outside.

use std::sync::{Arc, Mutex, MutexGuard};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sunseal_part::{Part, Pin};
use sunseal_trace::Picos;

/// Registers after a reset, by address and value; the others hold zero.
pub(crate) const fn preset<const N: usize>(values: &[(u8, u8)]) -> [u8; N] {
    let mut registers = [0; N];
    let mut i = 0;
    while i < values.len() {
        registers[values[i].0 as usize] = values[i].1;
        i += 1;
    }
    registers
}

/// Declares the pins that a chip is wired to, by the keys of table `[radio]`.
macro_rules! pins {
    ($name:ident { $($(#[$doc:meta])* $key:ident,)* }) => {
        /// The pins that the chip is wired to.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name { $($(#[$doc])* pub $key: Option<Pin>,)* }

        impl $name {
            pub(crate) fn by_key(pin: impl Fn(&str) -> Option<Pin>) -> Self {
                Self { $($key: pin(stringify!($key)),)* }
            }
        }
    };
}
pub(crate) use pins;

/// Functions that every chip of [`RadioChip`] has alike.
macro_rules! named {
    ($name:literal, $($journal:ident).+) => {
        fn name(&self) -> &'static str {
            $name
        }
        fn journal(&self) -> &Journal {
            &self.$($journal).+
        }
        fn journal_mut(&mut self) -> &mut Journal {
            &mut self.$($journal).+
        }
    };
}
pub(crate) use named;

/// Counts of what the radio did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RadioCounts {
    /// Number of packets sent.
    pub sent: u64,
    /// Bytes on the air, length bytes and frames.
    pub sent_bytes: u64,
    /// Packets received with a good CRC.
    pub received: u64,
    /// Packets received with a bad CRC.
    pub crc_failed: u64,
    /// Packets for other addresses, or too long.
    pub filtered: u64,
    /// Packets that came while the chip did not listen.
    pub missed: u64,
    /// Number of FIFO overflows.
    pub overflows: u64,
    /// Number of FIFO underflows.
    pub underflows: u64,
    /// Calibrations of the synthesizer.
    pub calibrations: u64,
}

/// A packet that was on the air, either way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AirPacket {
    /// Scenario time at its end.
    pub time_us: u64,
    /// Sent by the node.
    pub sent: bool,
    /// Length byte and frame.
    pub packet: Vec<u8>,
    /// True if the CRC held.
    pub crc_ok: bool,
}

/// Counts and packets that a chip keeps for those who watch it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// Scenario time at the machine's time zero.
    pub epoch_us: u64,
    pub counts: RadioCounts,
    pub log: Vec<AirPacket>,
    pub problem: Option<String>,
}

impl Journal {
    /// Keeps the first thing that went wrong.
    pub fn refuse(&mut self, what: impl FnOnce() -> String) {
        if self.problem.is_none() {
            self.problem = Some(what());
        }
    }

    /// True if anything was sent or heard; calibrations are counted for the books alone.
    pub fn has_traffic(&self) -> bool {
        let heard = RadioCounts { calibrations: 0, ..self.counts.clone() };
        !self.log.is_empty() || heard != RadioCounts::default()
    }

    pub fn packet(&mut self, at: Picos, sent: bool, packet: Vec<u8>, crc_ok: bool) {
        let time_us = self.epoch_us + at.as_micros();
        self.log.push(AirPacket { time_us, sent, packet, crc_ok });
    }
}

pub(crate) fn micros(us: f64) -> Picos {
    Picos((us * 1e6).round() as u128)
}

/// A chip as its bus and its pins see it. Every call brings the present time first.
pub(crate) trait RadioChip: Send {
    /// The chip's name in sentences.
    fn name(&self) -> &'static str;
    fn journal(&self) -> &Journal;
    fn journal_mut(&mut self) -> &mut Journal;
    /// The program asked for what the chip can do and this model cannot.
    fn unknown(&mut self, what: &str) {
        let name = self.name();
        let sentence = || format!("radio: {what}, which this model of the {name} does not have");
        self.journal_mut().refuse(sentence);
    }
    /// The program asked for what the chip cannot do.
    fn misuse(&mut self, what: &str) {
        self.journal_mut().refuse(|| format!("radio: {what}"));
    }
    fn select(&mut self, _now: Picos) {}
    fn transfer(&mut self, _now: Picos, _mosi: u8) -> u8 {
        0xFF
    }
    fn deselect(&mut self, _now: Picos) {}
    /// An output pin of the microcontroller that the chip is wired to.
    fn pin(&mut self, _now: Picos, _pin: Pin, _level: bool) {}
    fn next_event(&self) -> Option<Picos>;
    fn run_to(&mut self, now: Picos);
    fn power(&mut self, now: Picos, on: bool);
    fn levels(&self, out: &mut Vec<(Pin, bool)>);
    fn state(&self) -> &'static str;
    fn shifted_in(&mut self) -> Option<u8> {
        None
    }
    fn shifted_out(&mut self, _now: Picos, _byte: u8) {}
    /// The earliest time at which it could radiate if its program told it to now.
    fn earliest_air(&self, now: Picos) -> Picos;
    /// RSSI as a voltage, where the chip has it as an analogue output. Changes nothing.
    fn rssi_v(&self, _now: Picos) -> f64 {
        0.0
    }
    /// Everything that a snapshot must keep; empty for a chip that there is no going back to.
    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
    /// Goes back to what [`save`](Self::save) gave.
    fn restore(&mut self, _saved: &[u8]) {}
    /// State that survives a loss of power, without the time of one that has done nothing yet ([`Part::remains`]).
    fn remains(&self) -> Vec<u8> {
        self.save()
    }
}

pub(crate) fn lock<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while it was locked ends the run anyway.
    shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A chip as a snapshot keeps it, with its air; empty where other antennas share that.
pub(crate) fn saved<C: Serialize>(chip: &C, air: Option<Vec<u8>>) -> Vec<u8> {
    let written = |air| postcard::to_stdvec(&(chip, air)).expect("registers can always be written");
    air.map(written).unwrap_or_default()
}

/// State that is left of a chip that has lost its supply and neither sent nor heard: itself without what it counted,
/// and without the air.
pub(crate) fn left<C: Serialize + DeserializeOwned>(
    chip: &C,
    journal: impl FnOnce(&mut C) -> &mut Journal,
) -> Vec<u8> {
    let (mut left, air) = restored::<C>(&saved(chip, Some(Vec::new()))).expect("it was just saved");
    journal(&mut left).counts = RadioCounts::default();
    saved(&left, Some(air))
}

/// The chip that [`saved`] wrote, without its part, pins and antenna, and its air.
pub(crate) fn restored<C: DeserializeOwned>(saved: &[u8]) -> Option<(C, Vec<u8>)> {
    postcard::from_bytes(saved).ok()
}

/// Arrays of any length, which serde knows up to 32.
pub(crate) mod array {
    use serde::de::{DeserializeOwned, Error};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer, T: Serialize, const N: usize>(
        values: &[T; N],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        values[..].serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>, T: DeserializeOwned, const N: usize>(
        from: D,
    ) -> Result<[T; N], D::Error> {
        let values = Vec::<T>::deserialize(from)?;
        let bad = |v: Vec<T>| D::Error::custom(format!("{} values instead of {N}", v.len()));
        values.try_into().map_err(bad)
    }
}

/// A chip on its bus: what goes into the machine.
pub struct Radio {
    chip: Arc<Mutex<dyn RadioChip>>,
    listens: Vec<Pin>,
    pins: Vec<(Pin, bool)>,
    state: &'static str,
}

/// The chip seen from outside, while the machine owns the bus side.
#[derive(Clone)]
pub struct RadioHandle(Arc<Mutex<dyn RadioChip>>);

impl Radio {
    pub(crate) fn wrap(chip: impl RadioChip + 'static, listens: Vec<Pin>) -> (Self, RadioHandle) {
        let chip: Arc<Mutex<dyn RadioChip>> = Arc::new(Mutex::new(chip));
        let mut radio = Self { chip: Arc::clone(&chip), listens, pins: Vec::new(), state: "off" };
        radio.with(|_| ());
        (radio, RadioHandle(chip))
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut dyn RadioChip) -> T) -> T {
        let mut chip = lock(&self.chip);
        let out = f(&mut *chip);
        self.state = chip.state();
        self.pins.clear();
        chip.levels(&mut self.pins);
        out
    }
}

impl Part for Radio {
    fn select(&mut self, now: Picos) {
        self.with(|c| c.select(now));
    }

    fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
        self.with(|c| c.transfer(now, mosi))
    }

    fn deselect(&mut self, now: Picos) {
        self.with(|c| c.deselect(now));
    }

    fn next_event(&self) -> Option<Picos> {
        // Asked anew each time: what others put on the air may have brought it nearer.
        lock(&self.chip).next_event()
    }

    fn event(&mut self, now: Picos) {
        self.with(|c| c.run_to(now));
    }

    fn pins(&self) -> &[(Pin, bool)] {
        &self.pins
    }

    fn state(&self) -> &str {
        self.state
    }

    fn power(&mut self, now: Picos, on: bool) {
        self.with(|c| c.power(now, on));
    }

    fn listens(&self) -> &[Pin] {
        &self.listens
    }

    fn pin(&mut self, now: Picos, pin: Pin, level: bool) {
        self.with(|c| c.pin(now, pin, level));
    }

    fn save(&self) -> Vec<u8> {
        lock(&self.chip).save()
    }

    fn restore(&mut self, saved: &[u8]) {
        self.with(|c| c.restore(saved));
    }

    fn remains(&self) -> Vec<u8> {
        lock(&self.chip).remains()
    }

    fn shifted_in(&mut self) -> Option<u8> {
        self.with(|c| c.shifted_in())
    }

    fn shifted_out(&mut self, now: Picos, byte: u8) {
        self.with(|c| c.shifted_out(now, byte));
    }
}

impl RadioHandle {
    /// Sets the scenario time of the machine's time zero.
    pub fn set_epoch_us(&self, epoch_us: u64) {
        lock(&self.0).journal_mut().epoch_us = epoch_us;
    }

    /// Counts of what the radio did so far.
    #[must_use]
    pub fn counts(&self) -> RadioCounts {
        lock(&self.0).journal().counts.clone()
    }

    /// Takes the packets that were on the air since the last call.
    #[must_use]
    pub fn take_log(&self) -> Vec<AirPacket> {
        std::mem::take(&mut lock(&self.0).journal_mut().log)
    }

    /// Request of the firmware that the chip cannot do or the model does not have, or how the gateway failed.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        lock(&self.0).journal().problem.clone()
    }

    /// True if a snapshot of its machine keeps it and this side of its air.
    #[must_use]
    pub fn can_go_back(&self) -> bool {
        !lock(&self.0).save().is_empty()
    }

    /// The earliest time at which it could radiate if its program told it to at `now`.
    #[must_use]
    pub fn earliest_air(&self, now: Picos) -> Picos {
        lock(&self.0).earliest_air(now)
    }

    /// The voltage at the RSSI output of a CC1000, for an ADC input; 0 V for chips without one.
    #[must_use]
    pub fn rssi_v(&self, now: Picos) -> f64 {
        lock(&self.0).rssi_v(now)
    }
}
