// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digital I/O of the MSP432: pairs of ports (PA = P1 and P2, and so on) with two select bits a pin and
//! interrupts on P1 to P6 (SLAU356I chapter 12). The even address is the low port.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;

use super::pins::{Edges, Outside};
use super::wide::{Cx, merge16};

const IN: u32 = 0x00;
const OUT: u32 = 0x02;
const DIR: u32 = 0x04;
const REN: u32 = 0x06;
const DS: u32 = 0x08;
const SEL0: u32 = 0x0A;
const SEL1: u32 = 0x0C;
const SELC: u32 = 0x16;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ports {
    out: u16,
    dir: u16,
    ren: u16,
    ds: u16,
    sel0: u16,
    sel1: u16,
    edges: Edges,
    outside: Outside,
}

impl Ports {
    pub fn new(interrupts: bool) -> Self {
        Self { edges: Edges::new(interrupts), ..Self::default() }
    }

    /// PxOUT is undefined after a reset in hardware; a defined 0 is used here.
    pub fn reset(&mut self) {
        *self = Self { outside: self.outside, ..Self::new(self.edges.present) };
    }

    pub fn levels(&self) -> u16 {
        self.outside.levels(self.out, self.dir, self.ren)
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
        self.outside.drive(mask, level);
        self.edges.see(before, self.levels());
    }

    pub fn pending(&self, half: usize) -> bool {
        self.edges.pending(half)
    }

    pub fn may_wake(&self) -> bool {
        self.edges.may_wake()
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
            _ => self.edges.read(off).ok_or_else(|| cx.no_register())?,
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
            _ if self.edges.write(off, before, |old| merge16(old, value, mask)) => return Ok(()),
            _ => return Err(cx.no_register()),
        };
        *register = merge16(*register, value, mask);
        self.edges.see(before, self.levels());
        Ok(())
    }
}
