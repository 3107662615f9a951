// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boards and the limits of their devices.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use sunseal_board::{Antenna, Fitted, limits_of};
use sunseal_data::Room;
use sunseal_mcu::{Device, Machine};

use crate::error::refuse;
use crate::library::Library;

/// A board: a device, its parts and its wiring.
#[pyclass(frozen, module = "sunseal._engine")]
#[derive(Clone)]
pub struct Board {
    pub inner: sunseal_board::Board,
    /// Rooms in which the parts are that it names.
    pub parts: Room,
}

/// A board, or its file, with its parts in a folder beside that of boards.
#[derive(FromPyObject)]
pub enum BoardOrFile<'py> {
    Board(PyRef<'py, Board>),
    File(PathBuf),
}

impl BoardOrFile<'_> {
    pub fn board(&self) -> PyResult<Board> {
        match self {
            Self::Board(board) => Ok((**board).clone()),
            Self::File(path) => Board::new(path.clone(), None),
        }
    }
}

impl Board {
    /// The board with switches of its core's timing, over those of its file; `part.key` is a wire of a part.
    pub fn timed(mut self, switches: &[(String, String)]) -> PyResult<Self> {
        for (name, value) in switches {
            let Some((part, key)) = name.split_once('.') else {
                self.inner.timing.insert(name.clone(), value.clone().into());
                continue;
            };
            if !self.inner.rewire(part, key, value) {
                return Err(refuse(format!("board {} has no part {part}", self.inner.name)));
            }
        }
        Ok(self)
    }

    /// A machine as it sits on the board: supply, crystals, fuses. The other parts are the closed loop's.
    pub fn machine(&self, device: &Device) -> PyResult<Machine> {
        self.inner.machine(device).map_err(refuse)
    }

    /// Puts the parts that the board names on its machine; radios where there is an antenna.
    pub fn fit(&self, machine: &mut Machine, antenna: Option<Antenna<'_>>) -> PyResult<Fitted> {
        self.inner.fit(machine, &self.parts, antenna).map_err(refuse)
    }
}

#[pymethods]
impl Board {
    /// Reads a file; what it extends and the parts that it names are the library's, or of the folder that its own lies in.
    #[new]
    #[pyo3(signature = (path, library=None))]
    pub fn new(path: PathBuf, library: Option<PyRef<'_, Library>>) -> PyResult<Self> {
        let folder = path.parent().unwrap_or(&path);
        let library = match library {
            Some(library) => library.inner.clone(),
            None => (&folder.join("..")).into(),
        };
        let inner = sunseal_board::Board::read(&path, library.room("boards")).map_err(refuse)?;
        Ok(Self { inner, parts: library.room("parts") })
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
