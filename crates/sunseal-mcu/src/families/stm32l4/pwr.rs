// SPDX-License-Identifier: MIT OR Apache-2.0
//! PWR: voltage ranges, low-power modes and wakeup pins (RM0351 chapter 5).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use crate::blocks::st::{Cx, merge, only};
use crate::device::us;

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const CR3: u32 = 0x08;
const CR4: u32 = 0x0C;
const SR1: u32 = 0x10;
const SR2: u32 = 0x14;
const SCR: u32 = 0x18;
const PUCRA: u32 = 0x20;
const PDCRH: u32 = 0x5C;

const LPMS: u32 = 7;
const DBP: u32 = 1 << 8;
const VOS: u32 = 3 << 9;
const RANGE_1: u32 = 1 << 9;
const RANGE_2: u32 = 2 << 9;
const LPR: u32 = 1 << 14;
const RRS: u32 = 1 << 8;
const APC: u32 = 1 << 10;
const EIWUL: u32 = 1 << 15;
const WAKEUPS: u32 = 0x1F;
const SBF: u32 = 1 << 8;
const WUFI: u32 = 1 << 15;
const REGLPS: u32 = 1 << 8;
const REGLPF: u32 = 1 << 9;
const VOSF: u32 = 1 << 10;

/// A deep sleep that LPMS asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Deep {
    Stop0,
    Stop1,
    Stop2,
    Standby,
    Shutdown,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pwr {
    cr1: u32,
    cr2: u32,
    cr3: u32,
    cr4: u32,
    sr1: u32,
    pulls: [u32; 16],
    /// Until when the regulator is on its way to Range 1.
    rises: Option<u128>,
}

impl Pwr {
    pub fn new() -> Self {
        Self { cr1: RANGE_1, cr2: 0, cr3: EIWUL, cr4: 0, sr1: 0, pulls: [0; 16], rises: None }
    }

    /// Behind a system reset that does not end Standby, wakeup pins and pulls stay.
    pub fn reset(&mut self) {
        *self = Self { cr3: self.cr3, cr4: self.cr4, sr1: self.sr1, ..Self::new() };
    }

    pub fn range_1(&self) -> bool {
        self.cr1 & VOS != RANGE_2
    }

    /// The regulator is still on its way to Range 1.
    pub fn is_rising(&self, now: Picos) -> bool {
        self.rises.is_some_and(|t| t > now.0)
    }

    pub fn low_power_run(&self) -> bool {
        self.cr1 & LPR != 0
    }

    pub fn backup_writable(&self) -> bool {
        self.cr1 & DBP != 0
    }

    pub fn deep(&self) -> Deep {
        match self.cr1 & LPMS {
            // From the low-power run mode the low-power regulator stays.
            0 if self.low_power_run() => Deep::Stop1,
            0 => Deep::Stop0,
            1 => Deep::Stop1,
            2 => Deep::Stop2,
            3 => Deep::Standby,
            _ => Deep::Shutdown,
        }
    }

    /// Whether SRAM2 keeps its contents in Standby.
    pub fn keeps_sram2(&self) -> bool {
        self.cr3 & RRS != 0
    }

    /// The RTC may end Standby and Shutdown.
    pub fn internal_wakeup(&self) -> bool {
        self.cr3 & EIWUL != 0
    }

    /// Wakeup pins that are on, and which of them by a low level.
    pub fn wakeup_pins(&self) -> (u32, u32) {
        (self.cr3 & WAKEUPS, self.cr4 & WAKEUPS)
    }

    /// Standby or Shutdown ends: what woke is flagged.
    pub fn woken(&mut self, standby: bool, internal: bool, pins: u32) {
        if standby {
            self.sr1 |= SBF;
        }
        self.sr1 |= pins & WAKEUPS | if internal { WUFI } else { 0 };
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.rises.map(Picos)
    }

    pub fn event(&mut self, now: Picos) -> bool {
        self.rises.take_if(|t| *t <= now.0).is_some()
    }

    pub fn read(&self, off: u32, cx: &Cx<'_>) -> Result<u32, Fault> {
        let flag = |on: bool, bit: u32| if on { bit } else { 0 };
        Ok(match off {
            CR1 => self.cr1,
            CR2 => self.cr2,
            CR3 => self.cr3,
            CR4 => self.cr4,
            SR1 => self.sr1,
            SR2 => REGLPS | flag(self.low_power_run(), REGLPF) | flag(self.is_rising(cx.now), VOSF),
            SCR => 0,
            PUCRA..=PDCRH => self.pulls[((off - PUCRA) / 4) as usize],
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            CR1 => {
                let new = merge(self.cr1, value, mask) & (LPMS | DBP | VOS | LPR);
                if !matches!(new & VOS, RANGE_1 | RANGE_2) {
                    return Err(cx.refuse("PWR_CR1.VOS is 1 for Range 1 or 2 for Range 2"));
                }
                if new & VOS == RANGE_1 && self.cr1 & VOS == RANGE_2 {
                    self.rises = Some((cx.now + us(cx.dev.stm32l4().power.range_up_us)).0);
                } else if new & VOS == RANGE_2 {
                    self.rises = None;
                }
                self.cr1 = new;
                cx.fx.clocks = true;
            }
            CR2 => {
                self.cr2 = merge(self.cr2, value, mask);
                only(self.cr2, 3 << 9, "the voltage detectors of PWR are not modelled", cx)?;
            }
            CR3 => {
                self.cr3 = merge(self.cr3, value, mask) & (WAKEUPS | RRS | APC | EIWUL);
                let what = "pulls in Standby (PWR_CR3.APC) are not modelled";
                only(self.cr3 & APC, 0, what, cx)?;
            }
            CR4 => {
                self.cr4 = merge(self.cr4, value, mask);
                only(self.cr4, WAKEUPS, "charging of VBAT is not modelled", cx)?;
            }
            SCR => self.sr1 &= !(value & mask & (WAKEUPS | SBF)),
            SR1 | SR2 => {}
            PUCRA..=PDCRH => {
                let kept = &mut self.pulls[((off - PUCRA) / 4) as usize];
                *kept = merge(*kept, value, mask) & 0xFFFF;
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}
