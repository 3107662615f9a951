// SPDX-License-Identifier: MIT OR Apache-2.0
//! Special function registers: SFRIE1, SFRIFG1, SFRRPCR.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::sfr::{NMIIFG, OFIFG, SFRIE1, SFRIFG1, SFRRPCR, WDTIFG};

use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sfr {
    pub ie1: u16,
    pub ifg1: u16,
    rpcr: u16,
}

impl Sfr {
    pub fn new() -> Self {
        Self { ifg1: OFIFG, ..Self::default() }
    }

    pub fn reset(&mut self) {
        // WDTIFG survives the reset that the watchdog made.
        self.ie1 = 0;
        self.ifg1 = (self.ifg1 & WDTIFG) | OFIFG;
    }

    /// SYSUNIV was read as `code`: the flag of that user NMI is cleared.
    pub fn user_nmi_taken(&mut self, code: u16) {
        match code {
            2 => self.ifg1 &= !NMIIFG,
            4 => self.ifg1 &= !OFIFG,
            _ => {}
        }
    }
}

impl Block for Sfr {
    /// That of the watchdog in interval mode.
    const LINES: usize = 1;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        match off {
            SFRIE1 => Ok(self.ie1),
            SFRIFG1 => Ok(self.ifg1),
            SFRRPCR => Ok(self.rpcr),
            _ => Err(cx.no_register()),
        }
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        match off {
            SFRIE1 => self.ie1 = merge(self.ie1, value, mask) & 0x00FB,
            SFRIFG1 => self.ifg1 = merge(self.ifg1, value, mask) & 0x00DB,
            SFRRPCR => self.rpcr = merge(self.rpcr, value, mask) & 0x000F,
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }

    fn forget(&mut self, _: u64) {
        *self = Self::new();
    }

    fn asks(&self, _: usize) -> bool {
        self.ie1 & self.ifg1 & WDTIFG != 0
    }

    fn taken(&mut self, _: usize) {
        self.ifg1 &= !WDTIFG;
    }
}
