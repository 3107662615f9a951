// SPDX-License-Identifier: MIT OR Apache-2.0
//! Basic clock module (SLAU049, chapter 4): DCO, LFXT1, XT2, the dividers of MCLK, SMCLK and ACLK.
//!
//! The DCO runs at the typical part's frequency, which follows supply and temperature; MODx shows as its mean.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430x1xx::clock::{BCSCTL1, DCOCTL, DCOR, SELS, XT2OFF, XTS};

use crate::blocks::follow::Follow;
use crate::blocks::{Block, Ctx, Reset};
use crate::clock::Rate;
use crate::device::F1xx;

const MOD: u8 = 0x1F;
const RSEL: u8 = 0x07;

/// What the DCO follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct At {
    pub vcc_v: f64,
    /// Above 25 degrees Celsius.
    pub over_room_k: f64,
}

/// Where a clock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Dco,
    Lfxt1,
    Xt2,
}

/// A source under its divider; 0 Hz where nothing oscillates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tap {
    pub source: Source,
    pub hz: u32,
    pub div: u32,
}

impl Tap {
    /// Frequency and divider of a clock line.
    pub fn rate(self) -> Rate {
        (self.hz, self.div, None)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BasicClock {
    dcoctl: u8,
    bcsctl1: u8,
    bcsctl2: u8,
    /// Crystals that are fitted; 0: none.
    pub lfxt1_hz: u32,
    pub xt2_hz: u32,
}

impl BasicClock {
    pub fn new(lfxt1_hz: u32, xt2_hz: u32) -> Self {
        Self { dcoctl: 0x60, bcsctl1: 0x84, bcsctl2: 0, lfxt1_hz, xt2_hz }
    }

    /// A PUC brings the registers back.
    pub fn reset(&mut self) {
        *self = Self::new(self.lfxt1_hz, self.xt2_hz);
    }

    /// DCO at a row of the device's table, in hertz.
    fn dco(&self, facts: &F1xx, at: At, fastest: bool) -> f64 {
        let d = &facts.dco;
        let r = usize::from(self.bcsctl1 & RSEL);
        let (low, high) = if fastest {
            (d.tap3_2v2_max_mhz[r], d.tap3_3v_max_mhz[r])
        } else {
            (d.tap3_2v2_mhz[r], d.tap3_3v_mhz[r])
        };
        let between = |low: f64, high: f64| low + (high - low) * (at.vcc_v - 2.2) / 0.8;
        let mut tap3_mhz = between(low, high);
        let mut percent_per_k = between(d.percent_per_k_2v2, d.percent_per_k_3v);
        if self.bcsctl2 & DCOR != 0 {
            tap3_mhz *= between(d.rosc_2v2_mhz, d.rosc_3v_mhz)
                / between(d.tap3_2v2_mhz[4], d.tap3_3v_mhz[4]);
            percent_per_k = d.rosc_percent_per_k;
        }
        tap3_mhz *= 1.0 + percent_per_k * at.over_room_k / 100.0;
        let tap = i32::from(self.dcoctl >> 5);
        let f0 = tap3_mhz * 1e6 * d.step.powi(tap - 3);
        if tap == 7 {
            return f0;
        }
        // In MODx of 32 periods the DCO runs one tap faster: the mean of the periods counts.
        let (f1, m) = (f0 * d.step, f64::from(self.dcoctl & MOD));
        32.0 * f0 * f1 / (m * f0 + (32.0 - m) * f1)
    }

    /// DCOCLK of the typical part, in hertz.
    pub fn dco_hz(&self, facts: &F1xx, at: At) -> u32 {
        self.dco(facts, at, false).round() as u32
    }

    /// MCLK of the fastest part with these settings, in hertz.
    pub fn mclk_fastest_hz(&self, facts: &F1xx, at: At) -> f64 {
        let tap = self.mclk(facts, at);
        match tap.source {
            Source::Dco => self.dco(facts, at, true) / f64::from(tap.div),
            _ => f64::from(tap.hz) / f64::from(tap.div),
        }
    }

    fn of(&self, source: Source, facts: &F1xx, at: At) -> u32 {
        match source {
            Source::Dco => self.dco_hz(facts, at),
            // LFXT1 in the mode for watch crystals does not start a fast one, nor the other way round.
            Source::Lfxt1 if (self.lfxt1_hz > 100_000) == (self.bcsctl1 & XTS != 0) => {
                self.lfxt1_hz
            }
            Source::Lfxt1 => 0,
            Source::Xt2 => self.xt2_hz,
        }
    }

    fn tap(&self, source: Source, divider: u8, facts: &F1xx, at: At) -> Tap {
        Tap { source, hz: self.of(source, facts, at), div: 1 << (divider & 3) }
    }

    fn mclk_selected(&self) -> Source {
        match self.bcsctl2 >> 6 {
            0 | 1 => Source::Dco,
            2 => Source::Xt2,
            _ => Source::Lfxt1,
        }
    }

    /// MCLK. Where its crystal does not oscillate, the fail-safe logic puts the DCO in its place.
    pub fn mclk(&self, facts: &F1xx, at: At) -> Tap {
        let selected = self.mclk_selected();
        let source = if self.of(selected, facts, at) == 0 { Source::Dco } else { selected };
        self.tap(source, self.bcsctl2 >> 4, facts, at)
    }

    pub fn smclk(&self, facts: &F1xx, at: At) -> Tap {
        let source = if self.bcsctl2 & SELS != 0 { Source::Xt2 } else { Source::Dco };
        self.tap(source, self.bcsctl2 >> 1, facts, at)
    }

    pub fn aclk(&self, facts: &F1xx, at: At) -> Tap {
        self.tap(Source::Lfxt1, self.bcsctl1 >> 4, facts, at)
    }

    /// Whether an oscillator that is wanted fails: XT2, or LFXT1 in the mode for fast crystals. The
    /// mode for watch crystals has no detector.
    pub fn has_fault(&self) -> bool {
        let wants_xt2 = self.bcsctl1 & XT2OFF == 0
            || self.mclk_selected() == Source::Xt2
            || self.bcsctl2 & SELS != 0;
        (wants_xt2 && self.xt2_hz == 0) || (self.bcsctl1 & XTS != 0 && self.lfxt1_hz <= 100_000)
    }
}

impl Block for BasicClock {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, _: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(u16::from(match off {
            DCOCTL => self.dcoctl,
            BCSCTL1 => self.bcsctl1,
            _ => self.bcsctl2,
        }))
    }

    fn write(&mut self, off: u32, value: u16, _: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let register = match off {
            DCOCTL => &mut self.dcoctl,
            BCSCTL1 => &mut self.bcsctl1,
            _ => &mut self.bcsctl2,
        };
        *register = value as u8;
        cx.fx.clocks = true;
        Ok(())
    }

    fn restart(&mut self, _: Reset) {
        self.reset();
    }
}
