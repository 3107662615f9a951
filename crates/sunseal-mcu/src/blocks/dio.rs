// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digital I/O of the MSP432: pairs of ports (PA = P1 and P2, and so on) with two select bits a pin and
//! interrupts on P1 to P6 (SLAU356I chapter 12). The even address is the low port.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use super::wide::{Cx, merge16};

const IN: u32 = 0x00;
const OUT: u32 = 0x02;
const DIR: u32 = 0x04;
const REN: u32 = 0x06;
const DS: u32 = 0x08;
const SEL0: u32 = 0x0A;
const SEL1: u32 = 0x0C;
const IV_LOW: u32 = 0x0E;
const SELC: u32 = 0x16;
const IES: u32 = 0x18;
const IE: u32 = 0x1A;
const IFG: u32 = 0x1C;
const IV_HIGH: u32 = 0x1E;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports {
    interrupts: bool,
    out: u16,
    dir: u16,
    ren: u16,
    ds: u16,
    sel0: u16,
    sel1: u16,
    ies: u16,
    ie: u16,
    ifg: u16,
    /// Bits driven from outside, and their levels.
    driven: u16,
    level: u16,
}

impl Ports {
    pub fn new(interrupts: bool) -> Self {
        Self { interrupts, ..Self::default() }
    }

    /// PxOUT is undefined after a reset in hardware; a defined 0 is used here.
    pub fn reset(&mut self) {
        let (driven, level) = (self.driven, self.level);
        *self = Self { driven, level, ..Self::new(self.interrupts) };
    }

    pub fn levels(&self) -> u16 {
        let own = self.out & (self.dir | self.ren);
        (self.level & self.driven & !self.dir) | (own & !(self.driven & !self.dir))
    }

    /// Bits that are outputs of the port itself, not handed to a module.
    pub fn output_bits(&self) -> u16 {
        self.dir & !self.sel0 & !self.sel1
    }

    pub fn outputs(&self) -> u16 {
        self.out & self.output_bits()
    }

    pub fn sel0(&self) -> u16 {
        self.sel0 & !self.sel1
    }

    pub fn drive(&mut self, mask: u16, level: Option<bool>) {
        let before = self.levels();
        match level {
            Some(high) => {
                self.driven |= mask;
                self.level = if high { self.level | mask } else { self.level & !mask };
            }
            None => self.driven &= !mask,
        }
        self.edges(before);
    }

    fn edges(&mut self, before: u16) {
        if self.interrupts {
            let after = self.levels();
            self.ifg |= (!before & after & !self.ies) | (before & !after & self.ies);
        }
    }

    pub fn pending(&self, half: usize) -> bool {
        self.ie & self.ifg & (0xFF << (8 * half)) != 0
    }

    pub fn may_wake(&self) -> bool {
        self.interrupts && self.ie != 0
    }

    fn vector(&mut self, half: usize) -> u16 {
        let pending = (self.ie & self.ifg) >> (8 * half) & 0xFF;
        if pending == 0 {
            return 0;
        }
        let bit = pending.trailing_zeros() as usize;
        self.ifg &= !(1 << (bit + 8 * half));
        2 * (bit as u16 + 1)
    }

    pub fn read(&mut self, off: u32, cx: &Cx<'_>) -> Result<u32, Fault> {
        let value = match off {
            IN => self.levels(),
            OUT => self.out,
            DIR => self.dir,
            REN => self.ren,
            DS => self.ds,
            SEL0 => self.sel0,
            SEL1 => self.sel1,
            SELC => 0,
            IV_LOW if self.interrupts => self.vector(0),
            IV_HIGH if self.interrupts => self.vector(1),
            IES if self.interrupts => self.ies,
            IE if self.interrupts => self.ie,
            IFG if self.interrupts => self.ifg,
            _ => return Err(cx.no_register()),
        };
        Ok(u32::from(value))
    }

    pub fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let before = self.levels();
        let register = match off {
            IN => return Err(cx.refuse("write to an input register (PxIN), which is read-only")),
            OUT => &mut self.out,
            DIR => &mut self.dir,
            REN => &mut self.ren,
            DS => &mut self.ds,
            SEL0 => &mut self.sel0,
            SEL1 => &mut self.sel1,
            SELC => {
                // Complements both select bits at once.
                let bits = (value & mask) as u16;
                self.sel0 ^= bits;
                self.sel1 ^= bits;
                return Ok(());
            }
            IES if self.interrupts => &mut self.ies,
            IE if self.interrupts => &mut self.ie,
            IFG if self.interrupts => &mut self.ifg,
            IV_LOW if self.interrupts => {
                self.ifg &= 0xFF00;
                return Ok(());
            }
            IV_HIGH if self.interrupts => {
                self.ifg &= 0x00FF;
                return Ok(());
            }
            _ => return Err(cx.no_register()),
        };
        let old = *register;
        let new = merge16(old, value, mask);
        *register = new;
        if off == IES {
            // The manual says "may": towards falling while low, towards rising while high. Here it does.
            self.ifg |= (!old & new & !before) | (old & !new & before);
        }
        self.edges(before);
        Ok(())
    }
}
