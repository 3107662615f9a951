// SPDX-License-Identifier: MIT OR Apache-2.0
//! PMM, the power management module with its supervisors.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430x5xx::pmm::*;
use sunseal_trace::Picos;

use crate::blocks::follow::Follow;
use crate::blocks::{Block, Ctx, Reset, ResetKind, cause, merge};
use crate::clock::Clocks;
use crate::device::us;
use crate::lint::LintKind;

const PMMPW_HIGH: u16 = 0xA5;
const PMMPW_READ: u16 = 0x9600;

const INTERRUPTS: u16 = 0x0077;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pmm {
    unlocked: bool,
    ctl0: u16,
    ctl1: u16,
    svsmhctl: u16,
    svsmlctl: u16,
    svsmio: u16,
    ifg: u16,
    rie: u16,
    pm5ctl0: u16,
    /// The level that VCORE has reached.
    pub level: u8,
    high_settled: Option<u128>,
    low_settled: Option<u128>,
    vcore_settled: Option<u128>,
}

impl Pmm {
    pub fn new() -> Self {
        Self {
            svsmhctl: SVSHE | SVMHE,
            svsmlctl: SVSHE | SVMHE,
            svsmio: 0x0020,
            rie: 0x1100,
            ..Self::default()
        }
    }

    /// A PUC locks the registers; a POR keeps the core voltage; a BOR clears everything.
    pub fn reset(&mut self, kind: ResetKind) {
        let ifg = self.ifg;
        match kind {
            ResetKind::Puc => self.unlocked = false,
            ResetKind::Por => {
                self.unlocked = false;
                self.svsmhctl = SVSHE | SVMHE | (self.svsmhctl & 0x0307);
                self.svsmlctl = SVSHE | SVMHE | (self.svsmlctl & 0x0307);
            }
            ResetKind::Bor => {
                *self = Self::new();
                self.ifg = ifg & 0x1700;
            }
        }
    }

    /// Wake-up from LPM2 to LPM4 is fast: SVSL off, or in full-performance mode.
    pub fn wakes_fast(&self) -> bool {
        (self.svsmlctl & SVSHE == 0 || self.svsmlctl & SVSHFP != 0)
            && (self.svsmlctl & SVMHE == 0 || self.svsmlctl & SVMHFP != 0)
    }

    /// The supply level below which SVSH resets, as an index of the device's table.
    pub fn svsh_level(&self) -> Option<usize> {
        (self.svsmhctl & SVSHE != 0 && self.rie & SVSHPE != 0)
            .then_some(usize::from((self.svsmhctl & SVSHRVL) >> 8))
    }

    pub fn svsh_settles(&self) -> bool {
        self.high_settled.is_some()
    }

    pub fn svsh_full_performance(&self) -> bool {
        self.svsmhctl & SVSHFP != 0
    }

    pub fn note_svsh(&mut self) {
        self.ifg |= SVSHIFG;
    }

    fn supply_flags(&mut self, cx: &Ctx<'_>) {
        if self.svsmhctl & SVMHE != 0 {
            let level = cx.dev.f5xx().svs.svsh_rising_v[usize::from(self.svsmhctl & SVSMHRRL)];
            if cx.vcc_v < level {
                self.ifg |= SVMHIFG;
            }
        }
        if self.svsmlctl & SVMHE != 0 && u16::from(self.level) < (self.svsmlctl & SVSMHRRL).min(3) {
            self.ifg |= SVMLIFG;
        }
    }

    fn delay(fast: bool, cx: &Ctx<'_>) -> Picos {
        let t = &cx.dev.f5xx().pmm.timing;
        us(if fast { t.svs_delay_full_performance_us } else { t.svs_delay_normal_us })
    }

    fn write_ctl0(&mut self, value: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let value = value & 0xFF;
        if value & PMMREGOFF != 0 {
            return Err(cx.refuse("LPM4.5 (PMMREGOFF) is not modelled"));
        }
        if value & PMMSWBOR != 0 {
            self.ifg |= PMMBORIFG;
            cx.reset(ResetKind::Bor, cause::DOBOR);
            return Ok(());
        }
        if value & PMMSWPOR != 0 {
            self.ifg |= PMMPORIFG;
            cx.reset(ResetKind::Por, cause::DOPOR);
            return Ok(());
        }
        let (old, new) = (self.level, (value & PMMCOREV) as u8);
        self.ctl0 = value;
        if new < old {
            // Going down, the lower level's limits hold at once.
            self.level = new;
            self.vcore_settled = None;
            cx.fx.clocks = true;
        } else if new > old {
            if new > old + 1 {
                cx.lint(LintKind::CoreVoltageStep);
            }
            self.vcore_settled = Some(cx.now.0 + us(cx.dev.f5xx().pmm.timing.vcore_settle_us).0);
        }
        Ok(())
    }

    pub fn next_event(&self) -> Option<Picos> {
        [self.high_settled, self.low_settled, self.vcore_settled]
            .into_iter()
            .flatten()
            .min()
            .map(Picos)
    }

    pub fn event(&mut self, cx: &mut Ctx<'_>) {
        let due = |t: &mut Option<u128>| t.take_if(|t| *t <= cx.now.0).is_some();
        if due(&mut self.high_settled) {
            self.ifg |= SVSMHDLYIFG;
            self.supply_flags(cx);
            if self.ifg & SVMHIFG == 0 {
                self.ifg |= SVMHVLRIFG;
            }
        }
        if due(&mut self.low_settled) {
            self.ifg |= SVSMLDLYIFG;
        }
        if due(&mut self.vcore_settled) {
            self.level = (self.ctl0 & PMMCOREV) as u8;
            cx.fx.clocks = true;
            if u16::from(self.level) >= (self.svsmlctl & SVSMHRRL).min(3) {
                self.ifg |= SVMLVLRIFG;
            }
        }
    }

    /// SYSSNIV code of the first enabled flag, and the flag.
    pub fn snmi(&self) -> Option<(u16, u16)> {
        let pending = self.ifg & self.rie & INTERRUPTS;
        [
            (SVMLIFG, 0x02),
            (SVMHIFG, 0x04),
            (SVSMLDLYIFG, 0x06),
            (SVSMHDLYIFG, 0x08),
            (SVMLVLRIFG, 0x10),
            (SVMHVLRIFG, 0x12),
        ]
        .into_iter()
        .find(|(flag, _)| pending & flag != 0)
        .map(|(flag, code)| (code, flag))
    }

    /// Whether a delay that runs may end in an interrupt.
    pub fn snmi_possible(&self) -> bool {
        self.rie & INTERRUPTS != 0 && self.next_event().is_some()
    }

    pub fn clear(&mut self, flag: u16) {
        self.ifg &= !flag;
    }
}

impl Block for Pmm {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(match off {
            PMMCTL0 => PMMPW_READ | self.ctl0,
            PMMCTL1 => self.ctl1,
            SVSMHCTL => self.svsmhctl | if self.high_settled.is_some() { SVSMHDLYST } else { 0 },
            SVSMLCTL => self.svsmlctl | if self.low_settled.is_some() { SVSMHDLYST } else { 0 },
            SVSMIO => self.svsmio,
            PMMIFG => self.ifg,
            PMMRIE => self.rie,
            PM5CTL0 => self.pm5ctl0,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if off == PMMCTL0 {
            if mask & 0xFF00 != 0 {
                self.unlocked = value >> 8 == PMMPW_HIGH;
                if !self.unlocked && mask == 0xFFFF {
                    cx.reset(ResetKind::Puc, cause::PMMKEY);
                    return Ok(());
                }
                if mask == 0xFF00 {
                    return Ok(());
                }
            }
        } else if off > PM5CTL0 || off == 0x0A {
            return Err(cx.no_register());
        }
        if !self.unlocked {
            cx.reset(ResetKind::Puc, cause::PMMKEY);
            return Ok(());
        }
        match off {
            PMMCTL0 => return self.write_ctl0(value, cx),
            PMMCTL1 => self.ctl1 = merge(self.ctl1, value, mask),
            SVSMHCTL => {
                self.svsmhctl = merge(self.svsmhctl, value, mask) & !SVSMHDLYST;
                let fast = self.svsmhctl & SVSHFP != 0;
                self.high_settled = Some(cx.now.0 + Self::delay(fast, cx).0);
            }
            SVSMLCTL => {
                self.svsmlctl = merge(self.svsmlctl, value, mask) & !SVSMHDLYST;
                let fast = self.svsmlctl & SVSHFP != 0;
                self.low_settled = Some(cx.now.0 + Self::delay(fast, cx).0);
                self.supply_flags(cx);
            }
            SVSMIO => self.svsmio = merge(self.svsmio, value, mask),
            PMMIFG => {
                self.ifg = merge(self.ifg, value, mask);
                // A condition that lasts sets its flag again.
                self.supply_flags(cx);
            }
            PMMRIE => self.rie = merge(self.rie, value, mask),
            PM5CTL0 => self.pm5ctl0 = merge(self.pm5ctl0, value, mask),
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn restart(&mut self, how: Reset) {
        self.reset(how.kind);
    }

    fn forget(&mut self, _: u64) {
        *self = Self::new();
    }

    fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event()
    }
}
