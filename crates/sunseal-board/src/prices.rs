// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prices and limits of a board: the power sets that speak for it, and the voltages and clocks of its device.

use sunseal_data::{Library, Room};
use sunseal_mcu::{Device, Machine};
use sunseal_part::{Part, Wiring};
use sunseal_power::{Level, Limits, PowerModel, PowerSet};
use sunseal_radio::RadioPart;
use sunseal_trace::Picos;

use crate::{Board, BoardError};

/// Component of the ledger that stands for what a board draws beside its chip and its radio.
pub const RESIDUAL: &str = "board";

/// Currents of a board's chip, of its radio and of what is left of it.
pub struct Prices {
    /// Their power sets, the chip's first.
    pub model: PowerModel,
    /// True if one speaks for what the board draws beside chip and radio.
    residual: bool,
}

/// Consumers that are in one state whenever the rail is up: a board's residual current, a radio that nothing drives.
#[derive(Debug)]
pub(crate) struct Still {
    state: String,
    on: bool,
}

impl Still {
    pub(crate) fn new(state: &str) -> Self {
        Self { state: state.to_owned(), on: false }
    }
}

impl Part for Still {
    fn state(&self) -> &str {
        if self.on { &self.state } else { "off" }
    }
    fn power(&mut self, _now: Picos, on: bool) {
        self.on = on;
    }
    fn save(&self) -> Vec<u8> {
        vec![u8::from(self.on)]
    }
    fn restore(&mut self, saved: &[u8]) {
        self.on = saved == [1];
    }
}

impl Board {
    /// Its device, from the library.
    ///
    /// # Errors
    /// If the device's file cannot be read, or is not sound.
    pub fn device(&self, library: &Library) -> Result<Device, BoardError> {
        let room = library.room("devices");
        let path = room.find(&self.device).ok_or_else(|| self.bad(room.missing(&self.device)))?;
        Ok(Device::read(&room, &path)?)
    }

    /// Prices of what it draws: by the set `chip`, or the file's own, of its radio, of what is left, and of what hangs
    /// on it.
    ///
    /// # Errors
    /// If a set is not there, is not sound, or speaks for what another does.
    pub fn prices(
        &self,
        power: &Room,
        chip: Option<&str>,
        radio: Option<&RadioPart>,
        more: Option<PowerSet>,
    ) -> Result<Prices, BoardError> {
        let set = chip.unwrap_or(&self.power.set);
        let mut sets = vec![PowerSet::load(power, set, &self.device)?];
        if let Some(r) = radio {
            sets.push(PowerSet::load(power, r.power_set(), r.device())?);
        }
        // A set that was measured on a whole board has the residual current inside.
        let mut residual = sets[0].components().iter().any(|c| c == RESIDUAL);
        if let (Some(own), false) = (&self.power.residual, residual) {
            sets.push(PowerSet::load(power, own, &self.name)?);
            residual = true;
        }
        sets.extend(more);
        Ok(Prices { model: PowerModel::new(sets)?, residual })
    }
}

impl Prices {
    /// Has the machine's ledger tell when the residual current is drawn, where a set speaks for it.
    ///
    /// # Errors
    /// If the machine has a component of that name.
    pub fn fit_residual(&self, machine: &mut Machine) -> Result<(), BoardError> {
        if self.residual {
            machine.attach_part(RESIDUAL, Wiring::default(), Box::new(Still::new("residual")))?;
        }
        Ok(())
    }
}

/// Voltages and clocks that a device allows.
#[must_use]
pub fn limits_of(device: &Device) -> Limits {
    let level = |l: sunseal_mcu::device::Level| Level {
        vcore: l.vcore,
        mclk_max_hz: l.mclk_max_hz,
        vcc_min_v: l.vcc_min_v,
    };
    Limits {
        levels: device.levels().into_iter().map(level).collect(),
        vcc_max_v: device.supply.vcc_max_v,
    }
}
