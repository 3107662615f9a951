// SPDX-License-Identifier: MIT OR Apache-2.0
//! Digital I/O in pairs of ports (PA = P1 and P2, and so on), with the interrupts of P1 and P2.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::port::{PADIR, PAIN, PAOUT, PAREN, PASEL1, PASELC};
use sunseal_registers::msp430x5xx::port::{PADS, PASEL};

use super::pins::{Edges, Outside};
use super::{Block, Ctx, Reset, merge};
use crate::blocks::follow::Follow;

/// Two ports side by side: the even one's bits are the low byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PortPair {
    has_select: bool,
    has_select_1: bool,
    has_drive_strength: bool,
    out: u16,
    dir: u16,
    ren: u16,
    ds: u16,
    sel: u16,
    sel1: u16,
    edges: Edges,
    outside: Outside,
    /// Bits that a module drives where the pin is an output, and their levels.
    module: (u16, u16),
    /// PxSEL, PxSEL1 and PxDIR when it was last looked what the pins are given to.
    looked: [u16; 3],
    /// Output, direction, resistor and PxSEL0 as the pins hold them while LOCKLPM5 is set.
    held: Option<[u16; 4]>,
}

impl PortPair {
    pub fn new(interrupts: bool, has_select: bool) -> Self {
        Self {
            edges: Edges::new(interrupts),
            has_select,
            has_drive_strength: true,
            ..Self::default()
        }
    }

    /// As on the FR5xx: PxSEL0, PxSEL1 and PxSELC, no drive strength.
    pub fn fr5xx(interrupts: bool) -> Self {
        Self { has_drive_strength: false, ..Self::p4(interrupts) }
    }

    /// As on the MSP432P4xx (SLAU356I chapter 12): PxSEL0, PxSEL1, PxSELC and PxDS.
    pub fn p4(interrupts: bool) -> Self {
        Self { has_select_1: true, ..Self::new(interrupts, true) }
    }

    /// The pins keep what they do (LOCKLPM5), or are let go of. Before power-up they are inputs.
    pub fn lock(&mut self, locked: bool, power_up: bool) {
        let before = self.levels();
        self.held = match (locked, self.held) {
            (false, _) => None,
            (true, _) if power_up => Some([0; 4]),
            (true, None) => {
                let [out, ..] = self.pins();
                Some([out, self.output_bits(), self.ren, self.sel])
            }
            (true, held) => held,
        };
        self.edges.see(before, self.levels());
    }

    /// Behind LPM3.5 or LPM4.5: the registers are new, the flags and what the pins do stay.
    pub fn wake_reset(&mut self) {
        let (ifg, held) = (self.edges.ifg, self.held);
        self.reset();
        (self.edges.ifg, self.held) = (ifg, held);
    }

    /// Pins handed to their primary module function, as they hold it.
    pub fn primary(&self) -> u16 {
        self.select_0() & !self.sel1
    }

    /// PxSEL0 as the pins have it.
    pub fn select_0(&self) -> u16 {
        self.pins()[3]
    }

    fn pins(&self) -> [u16; 4] {
        let (given, level) = self.module;
        let out = self.out & !given | level & given;
        self.held.unwrap_or([out, self.dir, self.ren, self.sel])
    }

    /// The function that a pin is given to: PxSEL, or PxSEL1 and PxSEL0; 0 is the port's own.
    pub fn function(&self, mask: u16) -> u8 {
        u8::from(self.sel & mask != 0) | u8::from(self.sel1 & mask != 0) << 1
    }

    /// True if a program has made the pin an output.
    pub fn is_output(&self, mask: u16) -> bool {
        self.dir & mask != 0
    }

    /// True if pins are given to something else than at the last call.
    pub fn regiven(&mut self) -> bool {
        let now = [self.sel, self.sel1, self.dir];
        std::mem::replace(&mut self.looked, now) != now
    }

    /// A module drives a pin that is given to it, or (none) nothing does that is modelled.
    pub fn module_drives(&mut self, mask: u16, level: Option<bool>) {
        let before = self.levels();
        let (given, levels) = &mut self.module;
        *given = if level.is_some() { *given | mask } else { *given & !mask };
        *levels = if level == Some(true) { *levels | mask } else { *levels & !mask };
        self.edges.see(before, self.levels());
    }

    /// PxOUT, PxIES and PxIFG keep their values over a PUC in hardware; a defined 0 is used here for OUT and IFG.
    pub fn reset(&mut self) {
        let Self { outside, has_select_1, has_drive_strength, held, .. } = *self;
        let new = Self::new(self.edges.present, self.has_select);
        *self = Self { outside, has_select_1, has_drive_strength, held, ..new };
    }

    /// Levels at the pins.
    pub fn levels(&self) -> u16 {
        let [out, dir, ren, _] = self.pins();
        self.outside.levels(out, dir, ren)
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
            Some([_, dir, ..]) => dir,
            None => self.dir & (!self.selected() | self.module.0),
        }
    }

    /// An outside level, or `None` to let go.
    pub fn drive(&mut self, mask: u16, level: Option<bool>) {
        let before = self.levels();
        self.outside.drive(mask, level);
        self.edges.see(before, self.levels());
    }

    /// Whether any pin interrupt is enabled, so that an outside level may wake the CPU.
    pub fn may_wake(&self) -> bool {
        self.edges.may_wake()
    }
}

impl Block for PortPair {
    const LINES: usize = 2;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            PAIN => self.levels(),
            PAOUT => self.out,
            PADIR => self.dir,
            PAREN => self.ren,
            PADS if self.has_drive_strength => self.ds,
            PASEL if self.has_select => self.sel,
            PASEL1 if self.has_select_1 => self.sel1,
            PASELC if self.has_select_1 => 0,
            _ => return self.edges.read(off).ok_or_else(|| cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let before = self.levels();
        let register = match off {
            PAIN => return Err(cx.refuse("write to an input register (PxIN), which is read-only")),
            PAOUT => &mut self.out,
            PADIR => &mut self.dir,
            PAREN => &mut self.ren,
            PADS if self.has_drive_strength => &mut self.ds,
            PASEL if self.has_select => &mut self.sel,
            PASEL1 if self.has_select_1 => &mut self.sel1,
            PASELC if self.has_select_1 => {
                self.sel ^= value & mask;
                self.sel1 ^= value & mask;
                return Ok(());
            }
            _ if self.edges.write(off, before, |old| merge(old, value, mask)) => return Ok(()),
            _ => return Err(cx.no_register()),
        };
        *register = merge(*register, value, mask);
        self.edges.see(before, self.levels());
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
        self.edges.pending(line)
    }
}
