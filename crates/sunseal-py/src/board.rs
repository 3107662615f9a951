// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boards and the limits of their devices.

use std::collections::BTreeMap;
use std::path::Path;

use pyo3::prelude::*;
use serde::Deserialize;
use sunseal_mcu::{Device, Machine};
use sunseal_node::limits_of;

use crate::error::{EngineError, refuse, refuse_at};

/// What measuring needs of a file of `data/boards`; the closed loop reads the rest.
#[derive(Deserialize)]
struct BoardFile {
    name: String,
    device: String,
    trigger: Trigger,
    power: Power,
    #[serde(default)]
    crystal: BTreeMap<String, u32>,
    fuses: Option<Fuses>,
    #[serde(flatten)]
    rest: toml::Table,
}

#[derive(Deserialize)]
struct Power {
    vcc_v: f64,
}

/// Of an AVR.
#[derive(Clone, Copy, Deserialize)]
struct Fuses {
    low: u8,
    high: u8,
    extended: u8,
}

/// Where programmers put an AVR's fuses.
const FUSES: u32 = 0x82_0000;

#[derive(Deserialize)]
struct Trigger {
    pin: String,
}

/// A board: a device, its parts and its wiring.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Board {
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    device: String,
    #[pyo3(get)]
    parts: Vec<String>,
    #[pyo3(get)]
    pub trigger: String,
    /// Supply that the board gives its device.
    #[pyo3(get)]
    vcc_v: f64,
    /// The crystal that clocks the CPU, where that is fixed by the board.
    #[pyo3(get)]
    clock_hz: Option<u32>,
    crystals: Vec<(String, u32)>,
    fuses: Option<Fuses>,
}

impl Board {
    /// A machine as it sits on the board: supply, crystals, fuses. Parts are the closed loop's.
    pub fn machine(&self, device: &Device) -> PyResult<Machine> {
        let mut machine = Machine::new(device);
        if let Some(f) = self.fuses {
            machine.write_mem(FUSES, &[f.low, f.high, f.extended]).map_err(refuse)?;
        }
        for (oscillator, hz) in &self.crystals {
            machine.fit_crystal(oscillator, *hz).map_err(refuse_at(&self.name))?;
        }
        machine.set_vcc(self.vcc_v);
        machine.reset();
        Ok(machine)
    }
}

#[pymethods]
impl Board {
    #[new]
    pub fn new(path: &str) -> PyResult<Self> {
        let text = std::fs::read_to_string(path).map_err(refuse_at(path))?;
        let file: BoardFile = toml::from_str(&text).map_err(refuse_at(path))?;
        if Path::new(path).file_stem().is_none_or(|stem| stem != file.name.as_str()) {
            return Err(EngineError::new_err(format!(
                "{path}: the board is named `{}`; it must be the file's name",
                file.name
            )));
        }
        let part =
            |table: &str, key: &str| Some(file.rest.get(table)?.get(key)?.as_str()?.to_owned());
        let parts = [
            ("radio", "part"),
            ("supply", "harvester"),
            ("supply", "capacitor"),
            ("supply", "panel"),
        ];
        Ok(Self {
            parts: parts.iter().filter_map(|(table, key)| part(table, key)).collect(),
            name: file.name,
            device: file.device,
            trigger: file.trigger.pin,
            vcc_v: file.power.vcc_v,
            clock_hz: file.crystal.get("xtal_Hz").copied(),
            crystals: file
                .crystal
                .into_iter()
                .map(|(k, hz)| (k.strip_suffix("_Hz").unwrap_or(&k).to_owned(), hz))
                .collect(),
            fuses: file.fuses,
        })
    }
}

/// Core voltage levels of a device: fastest clock, lowest supply, PMMCOREV.
#[pyfunction]
pub fn levels(device: &str) -> PyResult<Vec<(u32, f64, u8)>> {
    let device = Device::load(Path::new(device)).map_err(refuse)?;
    Ok(limits_of(&device).levels.iter().map(|l| (l.mclk_max_hz, l.vcc_min_v, l.vcore)).collect())
}
