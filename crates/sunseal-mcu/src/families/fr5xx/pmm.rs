// SPDX-License-Identifier: MIT OR Apache-2.0
//! PMM of the FR5xx (SLAU367P, PMM chapter): one core voltage, SVSH, and the way into LPM3.5 and LPM4.5.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::pmm::*;

use crate::blocks::follow::Follow;
use crate::blocks::{Block, Ctx, Reset, ResetKind, cause, merge};

const PMMPW_READ: u16 = 0x9600;

const FLAGS: u16 = 0xA700;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PmmFr {
    unlocked: bool,
    ctl0: u16,
    ifg: u16,
    pm5ctl0: u16,
}

impl PmmFr {
    pub fn new() -> Self {
        Self { ctl0: SVSHE, pm5ctl0: LOCKLPM5, ..Self::default() }
    }

    /// A BOR locks the pins (LOCKLPM5); a POR and a PUC leave them as they are.
    pub fn reset(&mut self, kind: ResetKind) {
        let lock = if kind == ResetKind::Bor { LOCKLPM5 } else { self.pm5ctl0 };
        *self = Self { ifg: self.ifg, pm5ctl0: lock, ..Self::new() };
    }

    /// Whether SVSH watches the supply.
    pub fn svsh_on(&self) -> bool {
        self.ctl0 & SVSHE != 0
    }

    pub fn note_svsh(&mut self) {
        self.ifg |= SVSHIFG;
    }

    /// The machine woke from LPM3.5 or LPM4.5.
    pub fn note_lpm5(&mut self) {
        self.ifg |= PMMLPM5IFG;
    }

    /// Whether LPM3 or LPM4 switches the regulator off.
    pub fn regulator_off(&self) -> bool {
        self.ctl0 & PMMREGOFF != 0
    }

    /// Whether the pins are held.
    pub fn pins_locked(&self) -> bool {
        self.pm5ctl0 & LOCKLPM5 != 0
    }
}

impl Block for PmmFr {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            PMMCTL0 => PMMPW_READ | self.ctl0,
            PMMIFG => self.ifg,
            PM5CTL0 => self.pm5ctl0,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if off == PM5CTL0 {
            // The one register without a password. Software can only let go.
            self.pm5ctl0 &= merge(self.pm5ctl0, value, mask);
            return Ok(());
        }
        if off == PMMCTL0 && mask & 0xFF00 != 0 {
            self.unlocked = value & 0xFF00 == PMMPW;
            if !self.unlocked && mask == 0xFFFF {
                cx.reset(ResetKind::Puc, cause::PMMKEY);
                return Ok(());
            }
            if mask == 0xFF00 {
                return Ok(());
            }
        }
        if !matches!(off, PMMCTL0 | PMMIFG) {
            return Err(cx.no_register());
        }
        if !self.unlocked {
            cx.reset(ResetKind::Puc, cause::PMMKEY);
            return Ok(());
        }
        if off == PMMIFG {
            self.ifg = merge(self.ifg, value, mask) & FLAGS;
            return Ok(());
        }
        let value = value & 0xFF;
        if value & PMMSWBOR != 0 {
            self.ifg |= PMMBORIFG;
            cx.reset(ResetKind::Bor, cause::DOBOR);
        } else if value & PMMSWPOR != 0 {
            self.ifg |= PMMPORIFG;
            cx.reset(ResetKind::Por, cause::DOPOR);
        }
        self.ctl0 = value & (PMMREGOFF | SVSHE);
        cx.fx.clocks = true;
        Ok(())
    }

    fn restart(&mut self, how: Reset) {
        self.reset(how.kind);
    }

    fn forget(&mut self, _: u64) {
        *self = Self::new();
    }
}
