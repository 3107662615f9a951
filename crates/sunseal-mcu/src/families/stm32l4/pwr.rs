// SPDX-License-Identifier: MIT OR Apache-2.0
//! PWR: voltage ranges, low-power modes and wakeup pins (RM0351 chapter 5).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::pwr::*;
use sunseal_trace::Picos;

use crate::blocks::st::{Cx, merge, only};
use crate::device::us;

const WAKEUPS: u32 = 0x1F;

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
        Self {
            cr1: PWR_CR1_VOS_RANGE1,
            cr2: 0,
            cr3: PWR_CR3_EWF,
            cr4: 0,
            sr1: 0,
            pulls: [0; 16],
            rises: None,
        }
    }

    /// Behind a system reset that does not end Standby, wakeup pins and pulls stay.
    pub fn reset(&mut self) {
        *self = Self { cr3: self.cr3, cr4: self.cr4, sr1: self.sr1, ..Self::new() };
    }

    pub fn range_1(&self) -> bool {
        self.cr1 & PWR_CR1_VOS != PWR_CR1_VOS_RANGE2
    }

    /// The regulator is still on its way to Range 1.
    pub fn is_rising(&self, now: Picos) -> bool {
        self.rises.is_some_and(|t| t > now.0)
    }

    pub fn low_power_run(&self) -> bool {
        self.cr1 & PWR_CR1_LPR != 0
    }

    pub fn backup_writable(&self) -> bool {
        self.cr1 & PWR_CR1_DBP != 0
    }

    pub fn deep(&self) -> Deep {
        match self.cr1 & PWR_CR1_LPMS {
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
        self.cr3 & PWR_CR3_RRS != 0
    }

    /// The RTC may end Standby and Shutdown.
    pub fn internal_wakeup(&self) -> bool {
        self.cr3 & PWR_CR3_EWF != 0
    }

    /// Wakeup pins that are on, and which of them by a low level.
    pub fn wakeup_pins(&self) -> (u32, u32) {
        (self.cr3 & WAKEUPS, self.cr4 & WAKEUPS)
    }

    /// Standby or Shutdown ends: what woke is flagged.
    pub fn woken(&mut self, standby: bool, internal: bool, pins: u32) {
        if standby {
            self.sr1 |= PWR_SR1_CSBF;
        }
        self.sr1 |= pins & WAKEUPS | if internal { PWR_SR1_WUFI } else { 0 };
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
            PWR_CR1 => self.cr1,
            PWR_CR2 => self.cr2,
            PWR_CR3 => self.cr3,
            PWR_CR4 => self.cr4,
            PWR_SR1 => self.sr1,
            PWR_SR2 => {
                PWR_SR2_REGLPS
                    | flag(self.low_power_run(), PWR_SR2_REGLPF)
                    | flag(self.is_rising(cx.now), PWR_SR2_VOSF)
            }
            PWR_SCR => 0,
            PWR_PUCRA..=PWR_PDCRH => self.pulls[((off - PWR_PUCRA) / 4) as usize],
            _ => return Err(cx.no_register()),
        })
    }

    pub fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            PWR_CR1 => {
                let new = merge(self.cr1, value, mask)
                    & (PWR_CR1_LPMS | PWR_CR1_DBP | PWR_CR1_VOS | PWR_CR1_LPR);
                if !matches!(new & PWR_CR1_VOS, PWR_CR1_VOS_RANGE1 | PWR_CR1_VOS_RANGE2) {
                    return Err(cx.refuse("PWR_CR1.VOS is 1 for Range 1 or 2 for Range 2"));
                }
                if new & PWR_CR1_VOS == PWR_CR1_VOS_RANGE1
                    && self.cr1 & PWR_CR1_VOS == PWR_CR1_VOS_RANGE2
                {
                    self.rises = Some((cx.now + us(cx.dev.stm32l4().power.range_up_us)).0);
                } else if new & PWR_CR1_VOS == PWR_CR1_VOS_RANGE2 {
                    self.rises = None;
                }
                self.cr1 = new;
                cx.fx.clocks = true;
            }
            PWR_CR2 => {
                self.cr2 = merge(self.cr2, value, mask);
                only(self.cr2, 3 << 9, "the voltage detectors of PWR are not modelled", cx)?;
            }
            PWR_CR3 => {
                self.cr3 = merge(self.cr3, value, mask)
                    & (WAKEUPS | PWR_CR3_RRS | PWR_CR3_APC | PWR_CR3_EWF);
                let what = "pulls in Standby (PWR_CR3.APC) are not modelled";
                only(self.cr3 & PWR_CR3_APC, 0, what, cx)?;
            }
            PWR_CR4 => {
                self.cr4 = merge(self.cr4, value, mask);
                only(self.cr4, WAKEUPS, "charging of VBAT is not modelled", cx)?;
            }
            PWR_SCR => self.sr1 &= !(value & mask & (WAKEUPS | PWR_SR1_CSBF)),
            PWR_SR1 | PWR_SR2 => {}
            PWR_PUCRA..=PWR_PDCRH => {
                let kept = &mut self.pulls[((off - PWR_PUCRA) / 4) as usize];
                *kept = merge(*kept, value, mask) & 0xFFFF;
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}
