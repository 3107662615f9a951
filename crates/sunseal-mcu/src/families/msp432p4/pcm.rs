// SPDX-License-Identifier: MIT OR Apache-2.0
//! PCM and PSS: power modes, their requests and transitions, and the supply supervisor (SLAU356I
//! chapters 7 and 8).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::pcm::*;
use sunseal_registers::msp432p4::pss::*;
use sunseal_trace::Picos;

use crate::blocks::dio_p4::ALL_PORTS;
use crate::blocks::wide::{Block, Cx, Lines, P4, merge};
use crate::device::{Msp432, us};
use crate::lint::LintKind;

const KEY_READ: u32 = 0xA596_0000;

const FLAGS: u32 = LPM_INVALID_TR_IFG | LPM_INVALID_CLK_IFG | AM_INVALID_TR_IFG | DCDC_ERROR_IFG;

const LPMR_LPM3: u32 = 0x0;
const LPMR_LPM35: u32 = 0xA;
const LPMR_LPM45: u32 = 0xC;

/// Bits of an active mode: regulator and low-frequency in the upper two, core voltage in bit 0.
const DCDC: u32 = 4;
const LF: u32 = 8;

/// A deep sleep that LPMR asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Deep {
    Lpm3,
    Lpm35,
    Lpm45,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pcm {
    /// The active mode, as AMR names it.
    mode: u32,
    amr: u32,
    lpmr: u32,
    ctl1: u32,
    ie: u32,
    ifg: u32,
    /// The transition under way: its end.
    until: Option<u128>,
}

impl Pcm {
    /// From the way into LPM3.5 or LPM4.5 on, the pins, and the RTC, are locked.
    pub fn lock(&mut self, backup: bool) {
        let backup = if backup { LOCKBKUP } else { 0 };
        self.ctl1 = self.ctl1 & !LOCKBKUP | PCMCTL1_LOCKLPM5 | backup;
    }

    /// A reset; behind LPM3.5 and LPM4.5 (`woken`) what is locked stays so.
    pub fn reset(&mut self, woken: bool) {
        let locks = if woken { self.ctl1 & (PCMCTL1_LOCKLPM5 | LOCKBKUP) } else { 0 };
        *self = Self { ctl1: locks, ..Self::default() };
    }

    /// Lock of the pins, which hold what they did before the sleep.
    pub fn holds_pins(&self) -> bool {
        self.ctl1 & PCMCTL1_LOCKLPM5 != 0
    }

    /// Lock of the RTC, by which LPM3.5 is told from LPM4.5.
    pub fn holds_backup(&self) -> bool {
        self.ctl1 & LOCKBKUP != 0
    }

    pub fn vcore(&self) -> u8 {
        (self.mode & 1) as u8
    }

    pub fn dcdc(&self) -> bool {
        self.mode & DCDC != 0
    }

    pub fn low_frequency(&self) -> bool {
        self.mode & LF != 0
    }

    pub fn forces_entry(&self) -> bool {
        self.ctl1 & FORCE_LPM_ENTRY != 0
    }

    pub fn deep(&self) -> Deep {
        match self.lpmr {
            LPMR_LPM35 => Deep::Lpm35,
            LPMR_LPM45 => Deep::Lpm45,
            _ => Deep::Lpm3,
        }
    }

    /// LPM3 and LPM4 do not work from the DC/DC regulator, nor LPM3.5 from core voltage 1.
    pub fn refuses(&self, deep: Deep) -> bool {
        self.dcdc() || deep == Deep::Lpm35 && self.mode & 1 != 0
    }

    pub fn flag(&mut self, flag: u32) {
        self.ifg |= flag;
    }

    pub fn pending(&self) -> bool {
        self.ie & self.ifg != 0
    }

    pub fn event(&mut self, now: Picos) -> bool {
        let done = self.until.take_if(|t| *t <= now.0).is_some();
        if done {
            self.mode = self.amr;
        }
        done
    }

    /// How long the way from one mode to another takes, if it is one of figure 8-2.
    fn transition_us(from: u32, to: u32, dev: &Msp432) -> Option<f64> {
        let p = &dev.pcm;
        match (from ^ to, from & !1, to & !1) {
            (0, ..) => Some(0.0),
            (1, 0, 0) => Some(if to & 1 != 0 { p.vcore_up_us } else { p.vcore_down_us }),
            (DCDC, 0, _) => Some(p.ldo_to_dcdc_us),
            (DCDC, DCDC, 0) => Some(p.dcdc_to_ldo_us),
            (LF, 0, _) => Some(p.to_lf_us),
            (LF, LF, 0) => Some(p.from_lf_us),
            _ => None,
        }
    }

    fn request(&mut self, value: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let (amr, lpmr) = (value & 0xF, value >> 4 & 0xF);
        if !matches!(lpmr, LPMR_LPM3 | LPMR_LPM35 | LPMR_LPM45) {
            return Err(
                cx.refuse(format!("PCMCTL0.LPMR of {lpmr:#x} is reserved; write 0, 0xA or 0xC"))
            );
        }
        self.lpmr = lpmr;
        if amr == self.mode {
            self.amr = amr;
            return Ok(());
        }
        let known = matches!(amr, 0 | 1 | 4 | 5 | 8 | 9);
        let Some(time_us) = Self::transition_us(self.mode, amr, cx.dev.msp432()).filter(|_| known)
        else {
            self.ifg |= AM_INVALID_TR_IFG;
            return Ok(());
        };
        if amr & DCDC != 0 && cx.vcc_v < cx.dev.msp432().pcm.dcdc_vcc_min_v {
            // The regulator does not start and the LDO goes on.
            self.ifg |= DCDC_ERROR_IFG;
            return Ok(());
        }
        self.amr = amr;
        self.until = Some((cx.now + us(time_us)).0);
        Ok(())
    }
}

impl Block<P4> for Pcm {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            PCMCTL0 => KEY_READ | self.mode << 8 | self.lpmr << 4 | self.amr,
            PCMCTL1 => KEY_READ | self.ctl1 | if self.until.is_some() { PMR_BUSY } else { 0 },
            PCMIE => self.ie,
            PCMIFG => self.ifg,
            PCMCLRIFG => 0,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        let keyed = mask == u32::MAX && value & 0xFFFF_0000 == PCMKEY;
        match off {
            PCMCTL0 | PCMCTL1 if !keyed => cx.lint(LintKind::LockedBits),
            // While a transition runs the register is locked.
            PCMCTL0 if self.until.is_some() => cx.lint(LintKind::LockedBits),
            PCMCTL0 => self.request(value, cx)?,
            PCMCTL1 => {
                self.ctl1 = value & (FORCE_LPM_ENTRY | self.ctl1 & (PCMCTL1_LOCKLPM5 | LOCKBKUP));
                cx.fx.clocks = true;
                cx.fx.pins = ALL_PORTS;
            }
            PCMIE => self.ie = merge(self.ie, value, mask) & FLAGS,
            PCMIFG => {}
            PCMCLRIFG => self.ifg &= !(value & mask),
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn due(&self, _: &Lines) -> Option<Picos> {
        self.until.map(Picos)
    }

    fn asks(&mut self) -> u32 {
        self.pending().into()
    }

    fn may_ask(&self, _: &Lines) -> bool {
        self.until.is_some()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pss {
    unlocked: bool,
    ctl0: u32,
    ie: u32,
}

impl Pss {
    pub fn new() -> Self {
        Self { ctl0: 0x2000, ..Self::default() }
    }

    /// The supervisor's level, unless it is off.
    pub fn svsmh_level(&self) -> Option<usize> {
        (self.ctl0 & (SVSMHOFF | SVSMHS) == 0).then_some((self.ctl0 >> 3 & 7) as usize)
    }

    /// Whether it is slow in deep sleep.
    pub fn svsmh_low_power(&self) -> bool {
        self.ctl0 & SVSMHLP != 0
    }
}

impl Block<P4> for Pss {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            PSSKEY => 0xA596,
            PSSCTL0 => self.ctl0,
            PSSIE => self.ie,
            PSSIFG | PSSCLRIFG => 0,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            PSSKEY => self.unlocked = mask & 0xFFFF == 0xFFFF && value & 0xFFFF == 0x695A,
            PSSCTL0 if !self.unlocked => cx.lint(LintKind::LockedBits),
            PSSCTL0 => {
                let new = merge(self.ctl0, value, mask) & 0x34FF;
                if new & (SVSMHS | SVMHOE | DCDC_FORCE) != 0 {
                    return Err(cx.refuse(
                        "SVSMH as a monitor, its output pin and DCDC_FORCE are not modelled",
                    ));
                }
                self.ctl0 = new;
            }
            PSSIE => self.ie = merge(self.ie, value, mask) & 2,
            PSSIFG | PSSCLRIFG => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }
}
