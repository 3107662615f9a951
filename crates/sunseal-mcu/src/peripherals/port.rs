// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digital I/O in pairs of ports (PA = P1 and P2, and so on), with the interrupts of P1 and P2.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use super::{Ctx, merge};

const IN: u32 = 0x00;
const OUT: u32 = 0x02;
const DIR: u32 = 0x04;
const REN: u32 = 0x06;
const DS: u32 = 0x08;
const SEL: u32 = 0x0A;
const P1IV: u32 = 0x0E;
const IES: u32 = 0x18;
const IE: u32 = 0x1A;
const IFG: u32 = 0x1C;
const P2IV: u32 = 0x1E;

/// Two ports side by side: the even one's bits are the low byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PortPair {
    interrupts: bool,
    has_select: bool,
    out: u16,
    dir: u16,
    ren: u16,
    ds: u16,
    sel: u16,
    ies: u16,
    ie: u16,
    ifg: u16,
    /// Bits driven from outside, and their levels.
    driven: u16,
    level: u16,
}

impl PortPair {
    pub fn new(interrupts: bool, has_select: bool) -> Self {
        Self { interrupts, has_select, ..Self::default() }
    }

    /// PxOUT, PxIES and PxIFG keep their values over a PUC in hardware; a defined 0 is used here for OUT and IFG.
    pub fn reset(&mut self) {
        let (driven, level) = (self.driven, self.level);
        *self = Self { driven, level, ..Self::new(self.interrupts, self.has_select) };
    }

    /// Levels at the pins.
    pub fn levels(&self) -> u16 {
        let own = self.out & (self.dir | self.ren);
        (self.level & self.driven & !self.dir) | (own & !(self.driven & !self.dir))
    }

    /// Levels that the port itself drives: outputs not handed to a peripheral.
    pub fn outputs(&self) -> u16 {
        self.out & self.dir & !self.sel
    }

    /// Bits handed to a peripheral.
    pub fn selected(&self) -> u16 {
        self.sel
    }

    /// Bits that are outputs of the port itself.
    pub fn output_bits(&self) -> u16 {
        self.dir & !self.sel
    }

    /// An outside level, or `None` to let go.
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

    /// Whether the port of that half (0: low byte) asks for an interrupt.
    pub fn pending(&self, half: usize) -> bool {
        self.ie & self.ifg & (0xFF << (8 * half)) != 0
    }

    /// Whether any pin interrupt is enabled, so that an outside level may wake the CPU.
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

    pub fn read(&mut self, off: u32, cx: &Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            IN => self.levels(),
            OUT => self.out,
            DIR => self.dir,
            REN => self.ren,
            DS => self.ds,
            SEL if self.has_select => self.sel,
            P1IV if self.interrupts => self.vector(0),
            P2IV if self.interrupts => self.vector(1),
            IES if self.interrupts => self.ies,
            IE if self.interrupts => self.ie,
            IFG if self.interrupts => self.ifg,
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write(&mut self, off: u32, value: u16, mask: u16, cx: &Ctx<'_>) -> Result<(), Fault> {
        let before = self.levels();
        let register = match off {
            IN => return Err(cx.refuse("write to an input register (PxIN), which is read-only")),
            OUT => &mut self.out,
            DIR => &mut self.dir,
            REN => &mut self.ren,
            DS => &mut self.ds,
            SEL if self.has_select => &mut self.sel,
            IES if self.interrupts => &mut self.ies,
            IE if self.interrupts => &mut self.ie,
            IFG if self.interrupts => &mut self.ifg,
            P1IV if self.interrupts => {
                self.ifg &= 0xFF00;
                return Ok(());
            }
            P2IV if self.interrupts => {
                self.ifg &= 0x00FF;
                return Ok(());
            }
            _ => return Err(cx.no_register()),
        };
        let old = *register;
        let new = merge(old, value, mask);
        *register = new;
        if off == IES {
            // The manual says "may": towards falling while low, towards rising while high. Here it does.
            self.ifg |= (!old & new & !before) | (old & !new & before);
        }
        self.edges(before);
        Ok(())
    }
}
