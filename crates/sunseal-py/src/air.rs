// SPDX-License-Identifier: MIT OR Apache-2.0
//! One air for several machines, which run in lock-step on it.

use std::borrow::Cow;

use pyo3::prelude::*;
use sunseal_link::pcap::{LINKTYPE_IEEE802_15_4_WITHFCS, LINKTYPE_USER0};
use sunseal_radio::{
    Captured, LinkLoss, Medium, MediumConfig, Member, Phy, Position, capture_file, step,
};
use sunseal_trace::{Picos, Silent};

use crate::error::refuse;
use crate::machine::Machine;

/// Between two looks at the keyboard.
const SLICE_STEPS: u32 = 50_000;

/// A transmission that has ended.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Sent(pub Captured);

#[pymethods]
impl Sent {
    /// Antenna of the sender, in the order of joining.
    #[getter]
    fn antenna(&self) -> usize {
        self.0.node
    }

    /// Time at which the carrier came on.
    #[getter]
    fn start_ps(&self) -> u128 {
        self.0.start.0
    }

    /// Time at which it went off.
    #[getter]
    fn end_ps(&self) -> u128 {
        self.0.end.0
    }

    /// Its frequency in hertz.
    #[getter]
    fn carrier_hz(&self) -> u64 {
        self.0.carrier_hz
    }

    /// Length byte and frame, or bare bytes.
    #[getter]
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.0.bytes)
    }
}

/// The bytes of a capture file with these transmissions; its one link type is theirs.
#[pyfunction]
pub fn capture(sent: Vec<PyRef<'_, Sent>>) -> PyResult<Vec<u8>> {
    let frames: Vec<Captured> = sent.iter().map(|s| s.0.clone()).collect();
    let bare = frames.iter().any(|c| matches!(c.phy, Phy::Bits { .. }));
    let packets = frames.iter().filter(|c| matches!(c.phy, Phy::Packet { .. })).count();
    if bare {
        return Err(refuse(
            "a radio sent bits without frames, for which capture files have no link type: name a .csv file",
        ));
    }
    if packets != 0 && packets != frames.len() {
        return Err(refuse(
            "frames of IEEE 802.15.4 and packets of a CC2500 were sent, and a capture file has one link type: name a .csv file",
        ));
    }
    let link_type = if packets > 0 { LINKTYPE_USER0 } else { LINKTYPE_IEEE802_15_4_WITHFCS };
    capture_file(&frames, link_type).ok_or_else(|| refuse("no link type serves these frames"))
}

/// The air between machines.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct Air {
    pub medium: Medium,
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

    /// Moves an antenna to another place.
    fn place(&self, antenna: usize, x_m: f64, y_m: f64) {
        self.medium.place(antenna, Position { x_m, y_m });
    }

    /// Path loss between two antennas, both ways.
    fn link(&self, a: usize, b: usize, loss_db: f64) {
        self.medium.set_link(a, b, loss_db);
    }

    /// Transmissions that have ended since the last call.
    fn captured(&self) -> Vec<Sent> {
        self.medium.take_captured().into_iter().map(Sent).collect()
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
