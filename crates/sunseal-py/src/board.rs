// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boards and the limits of their devices.

use std::path::Path;

use pyo3::prelude::*;
use serde::Deserialize;
use sunseal_mcu::Device;
use sunseal_node::limits_of;

use crate::error::{EngineError, refuse, refuse_at};

/// What measuring needs of a file of `data/boards`; the closed loop reads the rest.
#[derive(Deserialize)]
struct BoardFile {
    name: String,
    device: String,
    trigger: Trigger,
    #[serde(flatten)]
    rest: toml::Table,
}

#[derive(Deserialize)]
struct Trigger {
    pin: String,
}

/// A board: a device, its parts and its wiring.
#[pyclass(frozen, get_all, module = "sunseal._engine")]
pub struct Board {
    name: String,
    device: String,
    parts: Vec<String>,
    pub trigger: String,
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
        })
    }
}

/// Core voltage levels of a device: fastest clock, lowest supply, PMMCOREV.
#[pyfunction]
pub fn levels(device: &str) -> PyResult<Vec<(u32, f64, u8)>> {
    let device = Device::load(Path::new(device)).map_err(refuse)?;
    Ok(limits_of(&device).levels.iter().map(|l| (l.mclk_max_hz, l.vcc_min_v, l.vcore)).collect())
}
