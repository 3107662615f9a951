// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of a board on its machine, each by what its file in `data/parts` says that it is.

use std::collections::BTreeMap;

use sunseal_data::Room;
use sunseal_hdl::{FpgaHandle, FpgaPart, wire};
use sunseal_mcu::Machine;
use sunseal_part::{Part, Wiring};
use sunseal_power::{load_part, part_kinds};
use sunseal_radio::{Antenna, RadioHandle, RadioPart, attach};

use crate::prices::Still;
use crate::{Board, BoardError};

/// Kinds of parts that can be wired to a chip: tables of the files in `data/parts`.
const KINDS: [&str; 2] = ["radio", "fpga"];

/// Handles of the parts that were fitted.
#[derive(Default)]
pub struct Fitted {
    /// The handle of the board's radio, if one was fitted.
    pub radio: Option<RadioHandle>,
    /// The coprocessors on the board.
    pub fpgas: Fpgas,
}

/// Coprocessors, by their names in the ledger.
pub type Fpgas = Vec<(String, FpgaHandle)>;

/// The first breach of the contract of a coprocessor's bus: what came of it would be no answer.
#[must_use]
pub fn broken_contract(fpgas: &Fpgas) -> Option<String> {
    fpgas.iter().find_map(|(name, fpga)| Some(format!("{name}: {}", fpga.problem()?)))
}

impl Board {
    /// Puts the parts of the room `parts` that the board names on its machine; radios where there is an antenna.
    ///
    /// # Errors
    /// If a part is missing, cannot be wired to a chip, or is wired wrong.
    pub fn fit(
        &self,
        machine: &mut Machine,
        parts: impl Into<Room>,
        mut antenna: Option<Antenna<'_>>,
    ) -> Result<Fitted, BoardError> {
        let (mut fitted, parts) = (Fitted::default(), &parts.into());
        for (name, part, wires) in self.wired() {
            let kinds = part_kinds(parts, part)?;
            match kinds.iter().find_map(|k| KINDS.iter().find(|known| *known == k)) {
                Some(&"radio") => {
                    if let Some(antenna) = antenna.take() {
                        let chip: RadioPart = load_part(parts, part, "radio")?;
                        if let RadioPart::Priced(p) = &chip {
                            let still = Box::new(Still::new(&p.asleep));
                            machine.attach_part(name, Wiring::default(), still)?;
                            continue;
                        }
                        let fit = attach(machine, chip, wires, antenna);
                        fitted.radio = Some(fit.map_err(|reason| self.bad(reason.to_string()))?);
                    } else if fitted.radio.is_some() {
                        return Err(self.bad(format!("{name} is a second radio; one is modelled")));
                    }
                }
                Some(&"fpga") => {
                    let facts = load_part(parts, part, "fpga")?;
                    let handle = self.fit_fpga(machine, name, &facts, wires)?;
                    fitted.fpgas.push((name.to_owned(), handle));
                }
                _ => {
                    return Err(self.bad(format!(
                        "{name} is a {part}, of kind {}, which is wired to no chip; what can be: {}",
                        kinds.join(", "),
                        KINDS.join(", ")
                    )));
                }
            }
        }
        Ok(fitted)
    }

    fn fit_fpga(
        &self,
        machine: &mut Machine,
        name: &str,
        facts: &FpgaPart,
        wires: &BTreeMap<String, String>,
    ) -> Result<FpgaHandle, BoardError> {
        let wired = wire(facts, wires, self.clock_hz().map(f64::from))
            .map_err(|reason| self.bad(reason.to_string()))?;
        let mut part = wired.part;
        if machine.is_powered() {
            part.power(machine.time(), true);
        }
        let serial = wired.serial.as_deref();
        machine.attach_part(name, Wiring { serial, cs: wired.cs }, Box::new(part))?;
        Ok(wired.handle)
    }
}
