// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boards and the limits of their devices.

use std::path::Path;

use pyo3::prelude::*;
use sunseal_mcu::{Device, Machine};
use sunseal_node::{Antenna, Fitted, limits_of};

use crate::error::refuse;

/// A board: a device, its parts and its wiring.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Board {
    inner: sunseal_node::Board,
}

impl Board {
    /// The board with switches of its core's timing, over those of its file.
    pub fn timed(mut self, timing: &[(String, String)]) -> Self {
        let timing = timing.iter().map(|(n, v)| (n.clone(), v.clone().into()));
        self.inner.timing.extend(timing);
        self
    }

    /// A machine as it sits on the board: supply, crystals, fuses. The other parts are the closed loop's.
    pub fn machine(&self, device: &Device) -> PyResult<Machine> {
        self.inner.machine(device).map_err(refuse)
    }

    /// Puts the parts that the board names, of a folder, on its machine; radios where there is an antenna.
    pub fn fit(
        &self,
        machine: &mut Machine,
        parts: &Path,
        antenna: Option<Antenna<'_>>,
    ) -> PyResult<Fitted> {
        self.inner.fit(machine, parts, antenna).map_err(refuse)
    }
}

#[pymethods]
impl Board {
    #[new]
    pub fn new(path: &str) -> PyResult<Self> {
        Ok(Self { inner: sunseal_node::Board::read(Path::new(path)).map_err(refuse)? })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn device(&self) -> &str {
        &self.inner.device
    }

    /// Parts of `data/parts` that are on it.
    #[getter]
    fn parts(&self) -> Vec<&str> {
        let supply = self.inner.supply.as_ref();
        let supply = supply.map(|s| [&s.harvester, &s.capacitor, &s.panel].map(String::as_str));
        let wired = self.inner.wired().map(|(_, part, _)| part);
        wired.chain(supply.into_iter().flatten()).chain(self.battery()).collect()
    }

    #[getter]
    fn radio(&self) -> Option<&str> {
        self.inner.radio_part()
    }

    #[getter]
    fn battery(&self) -> Option<&str> {
        self.inner.battery.as_ref().map(|b| b.part.as_str())
    }

    #[getter]
    pub fn trigger(&self) -> &str {
        &self.inner.trigger.pin
    }

    /// Supply that the board gives its device.
    #[getter]
    fn vcc_v(&self) -> f64 {
        self.inner.power.vcc_v
    }

    /// The crystal that clocks the CPU, where that is fixed by the board.
    #[getter]
    fn clock_hz(&self) -> Option<u32> {
        self.inner.clock_hz()
    }
}

/// Core voltage levels of a device: fastest clock, lowest supply, PMMCOREV.
#[pyfunction]
pub fn levels(device: &str) -> PyResult<Vec<(u32, f64, u8)>> {
    let device = Device::load(Path::new(device)).map_err(refuse)?;
    Ok(limits_of(&device).levels.iter().map(|l| (l.mclk_max_hz, l.vcc_min_v, l.vcore)).collect())
}
