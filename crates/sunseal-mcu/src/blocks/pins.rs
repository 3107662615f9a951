// SPDX-License-Identifier: MIT OR Apache-2.0
//! What digital I/O of the MSP430 and the MSP432 has alike: levels from outside, and interrupts of a pair of ports.

use serde::{Deserialize, Serialize};
use sunseal_registers::msp430fr5xx::port::{P1IE, P1IES, P1IFG, P1IV, P2IV};

/// Bits driven from outside, and their levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outside {
    driven: u16,
    level: u16,
}

impl Outside {
    /// An outside level, or `None` to let go.
    pub fn drive(&mut self, mask: u16, level: Option<bool>) {
        match level {
            Some(high) => {
                self.driven |= mask;
                self.level = if high { self.level | mask } else { self.level & !mask };
            }
            None => self.driven &= !mask,
        }
    }

    /// Levels at the pins, which the ports' registers drive or pull so.
    pub fn levels(&self, out: u16, dir: u16, ren: u16) -> u16 {
        let own = out & (dir | ren);
        (self.level & self.driven & !dir) | (own & !(self.driven & !dir))
    }
}

/// PxIES, PxIE, PxIFG and PxIV of two ports side by side, where they have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Edges {
    pub present: bool,
    ies: u16,
    ie: u16,
    pub ifg: u16,
}

impl Edges {
    pub fn new(present: bool) -> Self {
        Self { present, ..Self::default() }
    }

    /// The levels at the pins were `before` and are `after`.
    pub fn see(&mut self, before: u16, after: u16) {
        if self.present {
            self.ifg |= (!before & after & !self.ies) | (before & !after & self.ies);
        }
    }

    /// Whether the port of that half (0: low byte) asks for an interrupt.
    pub fn pending(&self, half: usize) -> bool {
        self.ie & self.ifg & (0xFF << (8 * half)) != 0
    }

    /// Whether any interrupt is enabled, so that an outside level may wake the CPU.
    pub fn may_wake(&self) -> bool {
        self.present && self.ie != 0
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

    /// One of its registers is read; none where there is no such register.
    pub fn read(&mut self, off: u32) -> Option<u16> {
        Some(match off {
            _ if !self.present => return None,
            P1IV => self.vector(0),
            P2IV => self.vector(1),
            P1IES => self.ies,
            P1IE => self.ie,
            P1IFG => self.ifg,
            _ => return None,
        })
    }

    /// One of its registers is written, with `levels` at the pins; whether there is such a register. `merge` makes its value
    /// of the old one.
    pub fn write(&mut self, off: u32, levels: u16, merge: impl Fn(u16) -> u16) -> bool {
        match off {
            _ if !self.present => return false,
            P1IV => self.ifg &= 0xFF00,
            P2IV => self.ifg &= 0x00FF,
            P1IES => {
                let old = self.ies;
                self.ies = merge(old);
                // The manual says "may": towards falling while low, towards rising while high. Here it does.
                self.ifg |= (!old & self.ies & !levels) | (old & !self.ies & levels);
            }
            P1IE => self.ie = merge(self.ie),
            P1IFG => self.ifg = merge(self.ifg),
            _ => return false,
        }
        true
    }
}
