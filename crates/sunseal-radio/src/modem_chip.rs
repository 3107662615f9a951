// SPDX-License-Identifier: MIT OR Apache-2.0
//! Common parts of the CC2420 and the CC2520: a regulator and a crystal that take their time to start, and behind them
//! the modem of IEEE 802.15.4.

use serde::{Deserialize, Serialize};
use sunseal_mcu::Pin;
use sunseal_trace::Picos;

use crate::chip::{Journal, micros};
use crate::medium::Port;
use crate::modem::{Config, Modem, Note};

/// Step of the chip on its way from no supply to a running crystal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Power {
    Off,
    /// Low-power mode 2 of the CC2520.
    RegulatorOff,
    RegulatorStarts {
        until: Picos,
    },
    /// RESETn holds the chip.
    Reset,
    /// The crystal is off, registers and RAM are kept: power-down of the CC2420, low-power mode 1 of the CC2520.
    Down,
    CrystalStarts {
        until: Picos,
    },
    On,
}

/// Times that regulator and crystal take to start, in microseconds.
pub(crate) struct Starts {
    pub regulator_us: f64,
    pub crystal_us: f64,
}

/// State that both chips keep, beside registers and RAM.
#[derive(Serialize, Deserialize)]
pub(crate) struct Core {
    pub journal: Journal,
    pub power: Power,
    pub modem: Modem,
    /// Acknowledgments tell the sender that there is more for it.
    pub pending: bool,
    pub now: Picos,
    notes: Vec<(Picos, Note)>,
}

impl Core {
    /// A chip without supply. Without a port nobody else is on the air.
    pub fn new(port: Option<Port>) -> Self {
        Self {
            journal: Journal::default(),
            power: Power::Off,
            modem: Modem::new(port),
            pending: false,
            now: Picos(0),
            notes: Vec::new(),
        }
    }

    /// True if the crystal runs.
    pub fn on(&self) -> bool {
        self.power == Power::On
    }

    /// True if registers and RAM have a supply.
    pub fn regulated(&self) -> bool {
        !matches!(self.power, Power::Off | Power::RegulatorOff | Power::RegulatorStarts { .. })
    }

    /// The answer to the frame under way, or by AUTOACK to the next, says whether data is pending.
    pub fn acknowledge(&mut self, pending: bool, autoack: bool) {
        self.pending = pending;
        if !autoack && self.modem.receiving() {
            self.modem.manual_ack = Some(pending);
        }
    }

    /// Time at which the start under way ends, or the modem has the next to do.
    pub fn next_event(&self) -> Option<Picos> {
        match self.power {
            Power::RegulatorStarts { until } | Power::CrystalStarts { until } => Some(until),
            Power::On => self.modem.next_event(),
            _ => None,
        }
    }
}

/// A chip with such a core.
pub(crate) trait ModemChip {
    fn core(&self) -> &Core;
    fn core_mut(&mut self) -> &mut Core;
    fn starts(&self) -> Starts;
    /// The pin that switches the regulator; without it the regulator is always on.
    fn vreg_en(&self) -> Option<Pin>;
    fn resetn(&self) -> Option<Pin>;
    /// Goes on from a reset by RESETn.
    fn released(&mut self, now: Picos);
    /// Settings that the registers ask of the modem.
    fn config(&self) -> Config;
    /// Follows what the modem did.
    fn note(&mut self, note: Note);
    /// Registers as after a reset.
    fn reset(&mut self, now: Picos);
    /// RAM loses what it held.
    fn forget(&mut self);

    fn start_crystal(&mut self, from: Picos) {
        let until = from + micros(self.starts().crystal_us);
        self.core_mut().power = Power::CrystalStarts { until };
    }

    /// The modem does what is due by `now`.
    fn run_modem(&mut self, now: Picos) {
        if self.core().on() {
            let cfg = self.config();
            let mut notes = std::mem::take(&mut self.core_mut().notes);
            self.core_mut().modem.run_to(now, &cfg, &mut notes);
            for (at, note) in notes.drain(..) {
                let core = self.core_mut();
                core.modem.book(&mut core.journal, at, &note);
                self.note(note);
            }
            self.core_mut().notes = notes;
        }
        let core = self.core_mut();
        core.now = core.now.max(now);
    }

    fn switch_regulator(&mut self, now: Picos, on: bool) {
        match (on, self.core().power) {
            (true, Power::RegulatorOff) => {
                let until = now + micros(self.starts().regulator_us);
                self.core_mut().power = Power::RegulatorStarts { until };
            }
            (false, Power::Off | Power::RegulatorOff) => {}
            (false, _) => {
                self.reset(now);
                self.forget();
                self.core_mut().power = Power::RegulatorOff;
            }
            _ => {}
        }
    }

    /// Follows VREG_EN and RESETn.
    fn control(&mut self, now: Picos, pin: Pin, level: bool) {
        if Some(pin) == self.vreg_en() {
            self.switch_regulator(now, level);
        }
        if Some(pin) == self.resetn() && self.core().regulated() {
            self.reset(now);
            self.core_mut().power = Power::Reset;
            if level {
                self.released(now);
            }
        }
    }

    /// The supply comes or goes.
    fn supply(&mut self, now: Picos, on: bool) {
        if on == (self.core().power != Power::Off) {
            return;
        }
        self.reset(now);
        self.forget();
        let core = self.core_mut();
        core.modem.lose_supply();
        core.now = now;
        core.power = if on { Power::RegulatorOff } else { Power::Off };
        if on && self.vreg_en().is_none() {
            self.switch_regulator(now, true);
        }
    }

    /// The earliest time at which it could radiate, so many symbols behind a strobe, if the crystal runs.
    fn earliest(&self, now: Picos, turn: Picos) -> Picos {
        let from = match self.core().power {
            Power::On => now,
            Power::CrystalStarts { until } => until.max(now),
            _ => now + micros(self.starts().crystal_us),
        };
        from + turn
    }
}

/// Those of [`ModemChip`] and of [`RadioChip`](crate::chip::RadioChip) that only reach into what both chips' structs have.
macro_rules! reaches {
    (modem) => {
        fn core(&self) -> &Core {
            &self.core
        }
        fn core_mut(&mut self) -> &mut Core {
            &mut self.core
        }
        fn starts(&self) -> Starts {
            Starts {
                regulator_us: self.part.regulator_start_us,
                crystal_us: self.part.crystal_start_us,
            }
        }
        fn vreg_en(&self) -> Option<Pin> {
            self.pins.vreg_en
        }
        fn resetn(&self) -> Option<Pin> {
            self.pins.resetn
        }
        fn forget(&mut self) {
            self.bank.fill(0);
        }
    };
    (radio $name:literal) => {
        named!($name, core.journal);
        fn run_to(&mut self, now: Picos) {
            self.advance(now);
        }
        fn power(&mut self, now: Picos, on: bool) {
            self.supply(now, on);
        }
        fn transfer(&mut self, now: Picos, mosi: u8) -> u8 {
            self.advance(now);
            if !self.core.regulated() || self.core.power == Power::Reset {
                self.misuse(concat!(
                    "the ",
                    $name,
                    " was spoken to while its regulator was off or RESETn low"
                ));
                return 0;
            }
            self.byte(now, mosi)
        }
        fn save(&self) -> Vec<u8> {
            saved(self, self.core.modem.save_air())
        }
        fn restore(&mut self, saved: &[u8]) {
            let Some((mut was, air)) = restored::<Self>(saved) else { return };
            was.core.modem.rejoin(&mut self.core.modem, &air);
            *self = Self { part: self.part.clone(), pins: self.pins, ..was };
        }
        fn remains(&self) -> Vec<u8> {
            if self.core.journal.has_traffic() {
                return self.save();
            }
            left(self, |chip| &mut chip.core.journal)
        }
    };
}
pub(crate) use reaches;
