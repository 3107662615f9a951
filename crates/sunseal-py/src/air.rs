// SPDX-License-Identifier: MIT OR Apache-2.0
//! One air for several machines, which run in lock-step on it.

use pyo3::prelude::*;
use sunseal_radio::{Captured, LinkLoss, Medium, MediumConfig, Member, Position, step};
use sunseal_trace::{Picos, Silent};

use crate::error::refuse;
use crate::machine::Machine;

/// Between two looks at the keyboard.
const SLICE_STEPS: u32 = 50_000;

/// Antenna, start and end in picoseconds, carrier, bytes.
type Frame = (usize, u128, u128, u64, Vec<u8>);

/// The air between machines.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Air {
    pub medium: Medium,
}

fn captured(medium: &Medium) -> Vec<Frame> {
    let frame = |c: Captured| (c.node, c.start.0, c.end.0, c.carrier_hz, c.bytes);
    medium.take_captured().into_iter().map(frame).collect()
}

#[pymethods]
impl Air {
    /// An air without antennas; the same loss between all if `loss_db` is given, else by distance.
    #[new]
    #[pyo3(signature = (seed, exponent, loss_db, frame_loss, capture_db))]
    fn new(
        seed: u64,
        exponent: f64,
        loss_db: Option<f64>,
        frame_loss: f64,
        capture_db: Option<f64>,
    ) -> Self {
        let loss =
            loss_db.map_or(LinkLoss::Distance { exponent }, |loss_db| LinkLoss::Fixed { loss_db });
        Self { medium: Medium::new(MediumConfig { seed, loss, frame_loss, capture_db }) }
    }

    /// Moves an antenna.
    fn place(&self, antenna: usize, x_m: f64, y_m: f64) {
        self.medium.place(antenna, Position { x_m, y_m });
    }

    /// Path loss between two antennas, both ways.
    fn link(&self, a: usize, b: usize, loss_db: f64) {
        self.medium.set_link(a, b, loss_db);
    }

    /// Transmissions that have ended since the last call.
    fn captured(&self) -> Vec<Frame> {
        captured(&self.medium)
    }

    /// Runs machines of this air, each once in the list, to a time.
    fn run(
        &self,
        py: Python<'_>,
        machines: Vec<(String, Py<Machine>)>,
        time_ps: u128,
    ) -> PyResult<()> {
        py.detach(|| {
            let mut held: Vec<_> =
                machines.iter().map(|(name, m)| (name, m.get().lock(), m.get())).collect();
            let mut members = Vec::new();
            for (name, machine, of) in &mut held {
                let radio = of.radio().ok_or_else(|| refuse(format!("{name} has no radio")))?;
                members.push(Member { name: name.as_str(), machine, radio });
            }
            for turn in 1u32.. {
                if !step(&self.medium, &mut members, Picos(time_ps), Picos::MAX, &mut Silent)
                    .map_err(refuse)?
                {
                    break;
                }
                if turn % SLICE_STEPS == 0 {
                    Python::attach(|py| py.check_signals())?;
                }
            }
            Ok(())
        })
    }
}
