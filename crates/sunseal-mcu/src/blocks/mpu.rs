// SPDX-License-Identifier: MIT OR Apache-2.0
//! MPU of the FR5xx (SLAU367P, MPU chapter): three segments of main memory and the information memory
//! with rights to read, write and execute; a violation sets a flag and leads to an NMI or a PUC. The
//! encapsulated segment (IPE) is not modelled.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::mpu::*;

use super::{Block, Ctx, Reset, ResetKind, cause, merge};
use crate::blocks::follow::Follow;

const MPUPW_READ: u16 = 0x9600;

/// What an access wants: the bits of a segment in MPUSAM.
pub(crate) const READ: u16 = 1;
pub(crate) const WRITE: u16 = 2;
pub(crate) const EXECUTE: u16 = 4;
const PUC: u16 = 8;

/// What a refused access reads: JMP $.
pub(crate) const REFUSED: u16 = 0x3FFF;

/// Segments of main memory 1 to 3, then information memory: their place in MPUCTL1 and MPUSAM.
const INFO: usize = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mpu {
    unlocked: bool,
    ctl0: u16,
    ctl1: u16,
    border2: u16,
    border1: u16,
    sam: u16,
}

impl Mpu {
    pub fn new() -> Self {
        Self { sam: 0x7777, ..Self::default() }
    }

    /// MPULOCK keeps everything until a BOR; the flags stay over a PUC, they tell what led to it.
    pub fn reset(&mut self, kind: ResetKind) {
        if kind == ResetKind::Bor {
            *self = Self::new();
        } else if self.ctl0 & MPULOCK == 0 {
            *self = Self { ctl1: self.ctl1, ..Self::new() };
        } else {
            self.unlocked = false;
        }
    }

    pub fn enabled(&self) -> bool {
        self.ctl0 & MPUENA != 0
    }

    /// First addresses of segments 2 and 3.
    pub fn borders(&self) -> (u32, u32) {
        (u32::from(self.border1) << 4, u32::from(self.border2) << 4)
    }

    /// The rights at `addr` of FRAM; `info` says that it is information memory.
    pub fn rights(&self, addr: u32, info: bool) -> u16 {
        if !self.enabled() {
            return READ | WRITE | EXECUTE;
        }
        self.sam >> (4 * self.segment(addr, info)) & 7
    }

    fn segment(&self, addr: u32, info: bool) -> usize {
        let (second, third) = self.borders();
        match () {
            () if info => INFO,
            () if addr < second => 0,
            () if addr < third => 1,
            () => 2,
        }
    }

    /// An access without the right to it; the reset that it leads to, if it is not an NMI.
    #[must_use]
    pub fn violate(&mut self, addr: u32, info: bool) -> Option<(ResetKind, u8)> {
        let segment = self.segment(addr, info);
        self.ctl1 |= 1 << segment;
        let causes = [cause::MPUSEG1, cause::MPUSEG2, cause::MPUSEG3, cause::MPUSEGI];
        let puc = self.sam >> (4 * segment) & PUC != 0;
        puc.then_some((ResetKind::Puc, causes[segment]))
    }

    /// SYSSNIV code of the first flag, if MPUSEGIE lets it through.
    pub fn snmi(&self) -> Option<u16> {
        if self.ctl0 & MPUSEGIE == 0 {
            return None;
        }
        [(INFO, 0x0A), (0, 0x0C), (1, 0x0E), (2, 0x10)]
            .into_iter()
            .find(|&(segment, _)| self.ctl1 & 1 << segment != 0)
            .map(|(_, code)| code)
    }

    /// SYSSNIV was read: the flag of that code is served.
    pub fn clear(&mut self, code: u16) {
        let segment = if code == 0x0A { INFO } else { usize::from(code - 0x0C) / 2 };
        self.ctl1 &= !(1 << segment);
    }
}

impl Block for Mpu {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            MPUCTL0 => MPUPW_READ | self.ctl0,
            MPUCTL1 => self.ctl1,
            MPUSEGB2 => self.border2,
            MPUSEGB1 => self.border1,
            MPUSAM => self.sam,
            MPUIPC0 | MPUIPSEGB2 | MPUIPSEGB1 => 0,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if off == MPUCTL0 && mask & 0xFF00 != 0 {
            self.unlocked = value & 0xFF00 == MPUPW;
            if !self.unlocked && mask == 0xFFFF {
                cx.reset(ResetKind::Puc, cause::MPUPW);
                return Ok(());
            }
            if mask == 0xFF00 {
                return Ok(());
            }
        }
        if off > MPUIPSEGB1 {
            return Err(cx.no_register());
        }
        if !self.unlocked {
            cx.reset(ResetKind::Puc, cause::MPUPW);
            return Ok(());
        }
        if self.ctl0 & MPULOCK != 0 && off != MPUCTL1 {
            cx.lint(crate::lint::LintKind::LockedBits);
            return Ok(());
        }
        match off {
            MPUCTL0 => {
                self.ctl0 = merge(self.ctl0, value, mask) & (MPUENA | MPULOCK | MPUSEGIE);
            }
            MPUCTL1 => self.ctl1 &= merge(self.ctl1, value, mask),
            // Borders lie on kilobytes.
            MPUSEGB2 => self.border2 = merge(self.border2, value, mask) & 0xFFC0,
            MPUSEGB1 => self.border1 = merge(self.border1, value, mask) & 0xFFC0,
            MPUSAM => self.sam = merge(self.sam, value, mask),
            MPUIPC0 if value & mask & MPUIPENA != 0 => {
                return Err(cx.refuse("IP encapsulation (MPUIPENA) is not modelled"));
            }
            _ => {}
        }
        cx.fx.protection = true;
        Ok(())
    }

    fn restart(&mut self, how: Reset) {
        self.reset(how.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_follow_the_borders() {
        let mut m = Mpu::new();
        assert_eq!(m.rights(0x4400, false), 7);
        m.ctl0 = MPUENA | MPUSEGIE;
        (m.border1, m.border2) = (0x0600, 0x1000);
        m.sam = 0x1357;
        assert_eq!(m.rights(0x5FFE, false), 7);
        assert_eq!(m.rights(0x6000, false), 5);
        assert_eq!(m.rights(0x10000, false), 3);
        assert_eq!(m.rights(0x1800, true), 1);
        assert_eq!(m.violate(0x6000, false), None);
        assert_eq!(m.snmi(), Some(0x0E));
        m.clear(0x0E);
        assert_eq!(m.snmi(), None);
        m.sam |= 0x8000;
        assert_eq!(m.violate(0x1800, true), Some((ResetKind::Puc, cause::MPUSEGI)));
        assert_eq!(m.snmi(), Some(0x0A));
    }
}
