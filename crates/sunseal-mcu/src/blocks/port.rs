// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digital I/O in pairs of ports (PA = P1 and P2, and so on), with the interrupts of P1 and P2.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use super::{Block, Ctx, Reset, merge};
use crate::instruments::taint::Follow;

const IN: u32 = 0x00;
const OUT: u32 = 0x02;
const DIR: u32 = 0x04;
const REN: u32 = 0x06;
const DS: u32 = 0x08;
const SEL: u32 = 0x0A;
/// FR5xx: a second select register, and the one that complements both at once.
const SEL1: u32 = 0x0C;
const SELC: u32 = 0x16;
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
    has_select_1: bool,
    out: u16,
    dir: u16,
    ren: u16,
    ds: u16,
    sel: u16,
    sel1: u16,
    ies: u16,
    ie: u16,
    ifg: u16,
    /// Bits driven from outside, and their levels.
    driven: u16,
    level: u16,
    /// Output, direction and resistor as the pins hold them while LOCKLPM5 is set.
    held: Option<[u16; 3]>,
}

impl PortPair {
    pub fn new(interrupts: bool, has_select: bool) -> Self {
        Self { interrupts, has_select, ..Self::default() }
    }

    /// As on the FR5xx: PxSEL0, PxSEL1 and PxSELC, no drive strength.
    pub fn fr5xx(interrupts: bool) -> Self {
        Self { has_select_1: true, ..Self::new(interrupts, true) }
    }

    /// The pins keep what they do (LOCKLPM5), or are let go of. Before power-up they are inputs.
    pub fn lock(&mut self, locked: bool, power_up: bool) {
        let before = self.levels();
        self.held = match (locked, self.held) {
            (false, _) => None,
            (true, _) if power_up => Some([0; 3]),
            (true, None) => Some([self.out, self.dir & !self.selected(), self.ren]),
            (true, held) => held,
        };
        self.edges(before);
    }

    /// Behind LPM3.5 or LPM4.5: the registers are new, the flags and what the pins do stay.
    pub fn wake_reset(&mut self) {
        let (ifg, held) = (self.ifg, self.held);
        self.reset();
        (self.ifg, self.held) = (ifg, held);
    }

    /// PxSEL0.
    pub fn select_0(&self) -> u16 {
        self.sel
    }

    fn pins(&self) -> [u16; 3] {
        self.held.unwrap_or([self.out, self.dir, self.ren])
    }

    /// PxOUT, PxIES and PxIFG keep their values over a PUC in hardware; a defined 0 is used here for OUT and IFG.
    pub fn reset(&mut self) {
        let (driven, level) = (self.driven, self.level);
        let new = Self::new(self.interrupts, self.has_select);
        *self = Self { driven, level, has_select_1: self.has_select_1, held: self.held, ..new };
    }

    /// Levels at the pins.
    pub fn levels(&self) -> u16 {
        let [out, dir, ren] = self.pins();
        let own = out & (dir | ren);
        (self.level & self.driven & !dir) | (own & !(self.driven & !dir))
    }

    /// Levels that the port itself drives: outputs not handed to a peripheral.
    pub fn outputs(&self) -> u16 {
        let [out, ..] = self.pins();
        out & self.output_bits()
    }

    /// Bits handed to a peripheral.
    pub fn selected(&self) -> u16 {
        self.sel | self.sel1
    }

    /// Bits that are outputs of the port itself.
    pub fn output_bits(&self) -> u16 {
        match self.held {
            Some([_, dir, _]) => dir,
            None => self.dir & !self.selected(),
        }
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
}

impl Block for PortPair {
    const LINES: usize = 2;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            IN => self.levels(),
            OUT => self.out,
            DIR => self.dir,
            REN => self.ren,
            DS if !self.has_select_1 => self.ds,
            SEL if self.has_select => self.sel,
            SEL1 if self.has_select_1 => self.sel1,
            SELC if self.has_select_1 => 0,
            P1IV if self.interrupts => self.vector(0),
            P2IV if self.interrupts => self.vector(1),
            IES if self.interrupts => self.ies,
            IE if self.interrupts => self.ie,
            IFG if self.interrupts => self.ifg,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let before = self.levels();
        let register = match off {
            IN => return Err(cx.refuse("write to an input register (PxIN), which is read-only")),
            OUT => &mut self.out,
            DIR => &mut self.dir,
            REN => &mut self.ren,
            DS if !self.has_select_1 => &mut self.ds,
            SEL if self.has_select => &mut self.sel,
            SEL1 if self.has_select_1 => &mut self.sel1,
            SELC if self.has_select_1 => {
                self.sel ^= value & mask;
                self.sel1 ^= value & mask;
                return Ok(());
            }
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

    fn restart(&mut self, how: Reset) {
        if how.woke {
            self.wake_reset();
        } else {
            self.reset();
        }
    }

    fn asks(&self, line: usize) -> bool {
        self.pending(line)
    }
}
