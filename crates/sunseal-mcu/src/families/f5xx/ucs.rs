// SPDX-License-Identifier: MIT OR Apache-2.0
//! UCS, the unified clock system. The FLL locks at once; no crystal is fitted.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_isa::msp430::sr;
use sunseal_registers::msp430x5xx::ucs::{
    ACLKREQEN, DCOFFG, SMCLKOFF, SMCLKREQEN, XT1LFOFFG, XT1OFF, XT2OFF, XT2OFFG,
};

use crate::blocks::follow::Follow;
use crate::blocks::{Block, Ctx, merge};
use crate::device::F5xx;
use crate::lint::LintKind;

const FAULTS: u16 = 0x000F;
const FLLREFDIV: [u32; 8] = [1, 2, 4, 8, 12, 16, 16, 16];

/// Source that a clock of the UCS can be taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Vlo,
    Refo,
    Dco,
    DcoDiv,
}

/// A source under its divider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tap {
    pub source: Source,
    pub hz: u32,
    pub div: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ucs {
    ctl: [u16; 9],
    dco_hz: u32,
    dco_fault: bool,
}

fn geometric(low: f64, high: f64) -> f64 {
    (low * high).sqrt()
}

impl Ucs {
    pub fn new(dev: &F5xx) -> Self {
        let ctl = [0, 0x0020, 0x101F, 0, 0x0044, 0, 0xC1CD, 0x0703, 0x0707];
        let mut ucs = Self { ctl, dco_hz: 0, dco_fault: false };
        ucs.lock(dev);
        ucs
    }

    /// Frequency of the typical part at DCOx = 0 and 31.
    fn span_hz(&self, dev: &F5xx) -> (f64, f64) {
        let r = usize::from(self.ctl[1] >> 4 & 7);
        let d = &dev.dco;
        (
            geometric(d.tap0_min_mhz[r], d.tap0_max_mhz[r]) * 1e6,
            geometric(d.tap31_min_mhz[r], d.tap31_max_mhz[r]) * 1e6,
        )
    }

    /// The FLL brings the DCO to its target. Answers whether every part could do that.
    fn lock(&mut self, dev: &F5xx) -> bool {
        let n = u32::from(self.ctl[2] & 0x3FF) + 1;
        let d = self.flld();
        let reference = dev.clock.refo_hz;
        let target = u64::from(d * n) * u64::from(reference)
            / u64::from(FLLREFDIV[usize::from(self.ctl[3] & 7)]);
        let (low, high) = self.span_hz(dev);
        let hz = (target as f64).clamp(low, high);
        self.dco_fault = hz != target as f64;
        self.dco_hz = hz.round() as u32;
        let tap = (31.0 * (hz / low).ln() / (high / low).ln()).clamp(0.0, 31.0);
        let whole = tap.floor();
        let modulation = ((tap - whole) * 32.0) as u16 & 31;
        self.ctl[0] = (whole as u16) << 8 | modulation << 3;
        let r = usize::from(self.ctl[1] >> 4 & 7);
        let target_mhz = target as f64 / 1e6;
        target_mhz <= dev.dco.tap31_min_mhz[r] && target_mhz >= dev.dco.tap0_max_mhz[r]
    }

    /// DCO at the tap that software set, the FLL being off.
    fn free_run(&mut self, dev: &F5xx) {
        let (low, high) = self.span_hz(dev);
        let tap = f64::from(self.ctl[0] >> 8 & 31) + f64::from(self.ctl[0] >> 3 & 31) / 32.0;
        self.dco_hz = (low * (high / low).powf(tap.min(31.0) / 31.0)).round() as u32;
        self.dco_fault = false;
    }

    fn flld(&self) -> u32 {
        1 << (self.ctl[2] >> 12 & 7).min(5)
    }

    fn source(&self, select: u16) -> Source {
        match select & 7 {
            1 => Source::Vlo,
            // XT1 is not fitted: the fail-safe logic puts REFO in its place.
            0 | 2 => Source::Refo,
            3 => Source::Dco,
            // XT2 is not fitted either: DCOCLKDIV.
            _ => Source::DcoDiv,
        }
    }

    fn tap(&self, select: u16, divider: u16, dev: &F5xx) -> Tap {
        let source = self.source(select);
        let (hz, before) = match source {
            Source::Vlo => (dev.clock.vlo_hz, 1),
            Source::Refo => (dev.clock.refo_hz, 1),
            Source::Dco => (self.dco_hz, 1),
            Source::DcoDiv => (self.dco_hz, self.flld()),
        };
        Tap { source, hz, div: before << (divider & 7).min(5) }
    }

    pub fn mclk(&self, dev: &F5xx) -> Tap {
        self.tap(self.ctl[4], self.ctl[5], dev)
    }

    pub fn smclk(&self, dev: &F5xx) -> Tap {
        self.tap(self.ctl[4] >> 4, self.ctl[5] >> 4, dev)
    }

    pub fn aclk(&self, dev: &F5xx) -> Tap {
        self.tap(self.ctl[4] >> 8, self.ctl[5] >> 8, dev)
    }

    pub fn smclk_off(&self) -> bool {
        self.ctl[6] & SMCLKOFF != 0
    }

    pub fn smclk_requests(&self) -> bool {
        self.ctl[8] & SMCLKREQEN != 0
    }

    pub fn aclk_requests(&self) -> bool {
        self.ctl[8] & ACLKREQEN != 0
    }

    /// Fault flags whose cause lasts.
    fn lasting_faults(&self) -> u16 {
        let selects = |code: u16| {
            [self.ctl[4], self.ctl[4] >> 4, self.ctl[4] >> 8].iter().any(|s| s & 7 == code)
        };
        let mut faults = 0;
        if selects(0) || self.ctl[3] >> 4 & 7 == 0 || self.ctl[6] & XT1OFF == 0 {
            faults |= XT1LFOFFG;
        }
        if selects(5) || self.ctl[3] >> 4 & 7 == 5 || self.ctl[6] & XT2OFF == 0 {
            faults |= XT2OFFG;
        }
        if self.dco_fault {
            faults |= DCOFFG;
        }
        faults
    }

    /// Whether SFRIFG1.OFIFG is held.
    pub fn has_faults(&self) -> bool {
        self.ctl[7] & FAULTS != 0
    }

    /// The FLL was switched on again, or its target changed.
    pub fn relock(&mut self, cx: &mut Ctx<'_>) {
        if !self.lock(cx.dev.f5xx()) {
            cx.lint(LintKind::DcoRange);
        }
        self.ctl[7] |= self.lasting_faults();
        cx.fx.ofifg |= self.has_faults();
        cx.fx.clocks = true;
    }
}

impl Block for Ucs {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        self.ctl.get(off as usize / 2).copied().ok_or_else(|| cx.no_register())
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        // The FLL runs.
        let fll = cx.beside & sr::SCG0 == 0;
        let i = off as usize / 2;
        let Some(old) = self.ctl.get(i).copied() else { return Err(cx.no_register()) };
        self.ctl[i] = merge(old, value, mask);
        match i {
            0..=3 if fll => self.relock(cx),
            0 | 1 => self.free_run(cx.dev.f5xx()),
            _ => {}
        }
        self.ctl[7] |= self.lasting_faults();
        cx.fx.clocks = true;
        cx.fx.ofifg |= self.has_faults();
        Ok(())
    }
}
