// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core's registers by name, and the core as a snapshot keeps it.

use serde::{Deserialize, Serialize};
use sunseal_isa::thumb::{self, Scb};

use super::{Around, CortexM};
use crate::stop::Register;

const NAMES: [&str; 16] = [
    "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "SP", "LR",
    "PC",
];

/// What a snapshot keeps of core and system control block.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedCore {
    scb: Scb,
    core: thumb::State,
    returning: Option<u32>,
}

impl<S: Around> CortexM<S> {
    /// All registers, in the order of their numbers.
    pub fn named_registers(&self) -> Vec<Register> {
        let c = &self.cpu;
        let named =
            |name: &'static str, value: u32| Register { name: name.into(), bits: 32, value };
        let mut all: Vec<Register> =
            NAMES.iter().zip(c.r).map(|(name, value)| named(name, value)).collect();
        all.extend([
            named("xPSR", c.psr),
            named("MSP", c.msp()),
            named("PSP", c.psp()),
            named("PRIMASK", c.primask),
            named("BASEPRI", c.basepri),
            named("FAULTMASK", c.faultmask),
            named("CONTROL", c.control),
            named("FPSCR", c.fpscr),
        ]);
        all.extend((0..32).map(|i| Register {
            name: format!("S{i}").into(),
            bits: 32,
            value: c.s[i],
        }));
        all
    }

    /// Whether there is such a register that can be set.
    pub fn set_named_register(&mut self, name: &str, value: u32) -> bool {
        let numbered = |prefix: &str, end: usize| {
            let n: Option<usize> = name.strip_prefix(prefix).and_then(|n| n.parse().ok());
            n.filter(|n| *n < end)
        };
        let c = &mut self.cpu;
        match name {
            "SP" => c.r[thumb::SP] = value & !3,
            "LR" => c.r[thumb::LR] = value,
            "PC" => c.r[thumb::PC] = value & !1,
            "xPSR" => c.psr = value,
            "MSP" => c.set_msp(value),
            "PSP" => c.set_psp(value),
            "PRIMASK" => c.primask = value & 1,
            "BASEPRI" => c.basepri = value & c.basepri_mask,
            "FAULTMASK" => c.faultmask = value & 1,
            "CONTROL" => return false,
            "FPSCR" => c.fpscr = value,
            _ => {
                if let Some(n) = numbered("R", 13) {
                    c.r[n] = value;
                } else if let Some(n) = numbered("S", 32) {
                    c.s[n] = value;
                } else {
                    return false;
                }
            }
        }
        true
    }

    pub fn save_core(&self) -> SavedCore {
        SavedCore { scb: *self.soc.scb(), core: self.cpu.state(), returning: self.returning }
    }

    pub fn restore_core(&mut self, saved: &SavedCore) {
        *self.soc.scb_mut() = saved.scb;
        self.cpu.set_state(&saved.core);
        self.returning = saved.returning;
        let exception = self.cpu.exception();
        self.soc.set_exception(exception);
    }
}
