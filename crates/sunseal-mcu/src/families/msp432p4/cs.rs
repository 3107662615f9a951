// SPDX-License-Identifier: MIT OR Apache-2.0
//! CS, the clock system (SLAU356I chapter 6).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp432p4::cs::*;
use sunseal_trace::Picos;

use crate::blocks::wide::{Block, Cx, P4, merge};
use crate::device::{Msp432, us};
use crate::lint::LintKind;

const CSKEY_READ: u32 = 0xA596;

const FLAGS: u32 = LFXTIFG | HFXTIFG | 1 << 6 | 1 << 8 | 1 << 9;

/// Where a clock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Lfxt,
    Vlo,
    Refo,
    Dco,
    Modosc,
    Hfxt,
    /// Stands in for a high-frequency crystal that fails.
    Sysosc,
}

/// A clock: its source, that source's frequency, and the divider behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tap {
    pub source: Source,
    pub hz: u32,
    pub div: u32,
}

/// A crystal on the board, and since when its oscillator has been on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Crystal {
    /// 0: none is fitted.
    hz: u32,
    /// Its pins are given to it.
    pins: bool,
    ready: Option<u128>,
}

impl Crystal {
    fn is_ready(self, now: Picos) -> bool {
        self.ready.is_some_and(|t| t <= now.0)
    }

    fn enable(&mut self, on: bool, now: Picos, start_ms: f64) {
        if !on || self.hz == 0 || !self.pins {
            self.ready = None;
        } else if self.ready.is_none() {
            self.ready = Some((now + us(start_ms * 1e3)).0);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cs {
    unlocked: bool,
    ctl0: u32,
    ctl1: u32,
    ctl2: u32,
    ctl3: u32,
    clken: u32,
    ie: u32,
    ifg: u32,
    dcoercal: [u32; 2],
    lfxt: Crystal,
    hfxt: Crystal,
}

impl Cs {
    pub fn new(lfxt_hz: u32, hfxt_hz: u32) -> Self {
        Self {
            unlocked: false,
            ctl0: 1 << 16,
            ctl1: 0x33,
            ctl2: 0x0001_0003,
            ctl3: 0xBB,
            clken: 0x0F,
            ie: 0,
            ifg: LFXTIFG,
            dcoercal: [0x0100_0000, 0x100],
            lfxt: Crystal { hz: lfxt_hz, ..Crystal::default() },
            hfxt: Crystal { hz: hfxt_hz, ..Crystal::default() },
        }
    }

    /// As after power-on, with the board's crystals. Behind LPM3.5 LFXT swings on, for the RTC (`kept`).
    pub fn reset(&mut self, kept: bool) {
        let new = Self::new(self.lfxt.hz, self.hfxt.hz);
        let lfxt = if kept { self.lfxt } else { new.lfxt };
        *self = Self { lfxt, ..new };
    }

    /// The board's crystals; 0 where none is fitted.
    pub fn fit(&mut self, oscillator: &str, hz: u32) -> bool {
        match oscillator {
            "lfxt" => self.lfxt.hz = hz,
            "hfxt" => self.hfxt.hz = hz,
            _ => return false,
        }
        true
    }

    /// PJSEL gives the crystals' pins to them, or takes them away.
    pub fn set_pins(&mut self, lfxt: bool, hfxt: bool, now: Picos, dev: &Msp432) {
        (self.lfxt.pins, self.hfxt.pins) = (lfxt, hfxt);
        self.settle(now, dev);
    }

    fn selects(&self, shift: u32) -> u32 {
        self.ctl1 >> shift & 7
    }

    /// Switches the crystal oscillators by need.
    fn settle(&mut self, now: Picos, dev: &Msp432) {
        let uses = |code: u32| self.selects(0) == code || self.selects(4) == code;
        let lf =
            self.ctl2 & LFXT_EN != 0 || uses(0) || self.selects(8) == 0 || self.ctl1 >> 12 & 1 == 0;
        let hf = self.ctl2 & HFXT_EN != 0 || uses(5);
        let bypass = |bit: u32| if self.ctl2 & bit != 0 { 0.0 } else { 1.0 };
        let (lf_ms, hf_ms) = (
            dev.clock.lfxt_start_ms * bypass(LFXTBYPASS),
            dev.clock.hfxt_start_ms * bypass(HFXTBYPASS),
        );
        self.lfxt.enable(lf, now, lf_ms);
        self.hfxt.enable(hf, now, hf_ms);
        if lf && !self.lfxt.is_ready(now) {
            self.ifg |= LFXTIFG;
        }
        if hf && !self.hfxt.is_ready(now) {
            self.ifg |= HFXTIFG;
        }
    }

    /// A crystal becomes ready.
    pub fn next_event(&self, now: Picos) -> Option<Picos> {
        [self.lfxt.ready, self.hfxt.ready]
            .into_iter()
            .flatten()
            .filter(|&t| t > now.0)
            .min()
            .map(Picos)
    }

    /// DCO frequency: the range's centre, moved by DCOTUNE with the device's constants (SLAU356I 6.2.8).
    pub fn dco_hz(&self, dev: &Msp432) -> u32 {
        let range = (self.ctl0 >> 16 & 7) as usize;
        let range = if range > 5 { 0 } else { range };
        let centre = dev.dco.nominal_mhz[range] * 1e6;
        let tune = f64::from(((self.ctl0 & 0x3FF) << 22) as i32 >> 22);
        let (k, fcal) = if range == 5 {
            (dev.tlv.dcoir_constk_rsel5, dev.tlv.dcoir_fcal_rsel5)
        } else {
            (dev.tlv.dcoir_constk_rsel04, dev.tlv.dcoir_fcal_rsel04)
        };
        let slope = k / (1.0 + k * (768.0 - f64::from(fcal)));
        (centre / (1.0 - slope * tune)).round() as u32
    }

    /// Whether DCOTUNE asks for a frequency outside the range that every part reaches.
    fn dco_out_of_range(&self, dev: &Msp432) -> bool {
        let range = ((self.ctl0 >> 16 & 7) as usize).min(5);
        let mhz = f64::from(self.dco_hz(dev)) / 1e6;
        mhz < dev.dco.range_min_mhz[range] * 0.999 || mhz > dev.dco.range_max_mhz[range] * 1.001
    }

    fn source(&self, code: u32, now: Picos, dev: &Msp432) -> (Source, u32) {
        let c = &dev.clock;
        let refo = if self.clken & REFOFSEL != 0 { c.refo_fast_hz } else { c.refo_hz };
        match code {
            0 if self.lfxt.is_ready(now) => (Source::Lfxt, self.lfxt.hz),
            // Fail-safe: REFO for the one crystal, SYSOSC for the other.
            0 => (Source::Refo, c.refo_hz),
            1 => (Source::Vlo, c.vlo_hz),
            2 => (Source::Refo, refo),
            4 => (Source::Modosc, (c.modosc_mhz * 1e6).round() as u32),
            5 if self.hfxt.is_ready(now) => (Source::Hfxt, self.hfxt.hz),
            5 => (Source::Sysosc, (c.sysosc_mhz * 1e6).round() as u32),
            _ => (Source::Dco, self.dco_hz(dev)),
        }
    }

    fn tap(&self, code: u32, div: u32, now: Picos, dev: &Msp432) -> Tap {
        let (source, hz) = self.source(code, now, dev);
        Tap { source, hz, div: 1 << (self.ctl1 >> div & 7) }
    }

    pub fn mclk(&self, now: Picos, dev: &Msp432) -> Tap {
        self.tap(self.selects(0), 16, now, dev)
    }

    pub fn smclk(&self, now: Picos, dev: &Msp432) -> Tap {
        self.tap(self.selects(4), 28, now, dev)
    }

    pub fn hsmclk(&self, now: Picos, dev: &Msp432) -> Tap {
        self.tap(self.selects(4), 20, now, dev)
    }

    pub fn aclk(&self, now: Picos, dev: &Msp432) -> Tap {
        let code = self.selects(8);
        self.tap(if code > 2 { 2 } else { code }, 24, now, dev)
    }

    pub fn bclk(&self, now: Picos, dev: &Msp432) -> Tap {
        let code = if self.ctl1 >> 12 & 1 != 0 { 2 } else { 0 };
        let (source, hz) = self.source(code, now, dev);
        // BCLK is always 32768 Hz: the fast REFO is divided.
        let hz = if source == Source::Refo { dev.clock.refo_hz } else { hz };
        Tap { source, hz, div: 1 }
    }

    pub fn pending(&self) -> bool {
        self.ie & self.ifg & FLAGS != 0
    }

    fn stat(&self, now: Picos, dev: &Msp432) -> u32 {
        let used: Vec<Source> =
            [self.mclk(now, dev), self.smclk(now, dev), self.aclk(now, dev), self.bclk(now, dev)]
                .map(|t| t.source)
                .to_vec();
        let on = |s: Source, enabled: bool| u32::from(enabled || used.contains(&s));
        let dco = on(Source::Dco, self.ctl0 & DCOEN != 0);
        let vlo = on(Source::Vlo, self.clken & 1 << 8 != 0);
        let refo = on(Source::Refo, self.clken & 1 << 9 != 0);
        let modosc = on(Source::Modosc, self.clken & 1 << 10 != 0);
        let lfxt = u32::from(self.lfxt.is_ready(now));
        let hfxt = u32::from(self.hfxt.is_ready(now));
        dco | dco << 1
            | hfxt << 2
            | modosc << 4
            | vlo << 5
            | lfxt << 6
            | refo << 7
            | 0xF << 16
            | modosc << 20
            | vlo << 21
            | lfxt << 22
            | refo << 23
            | 0x1F << 24
    }
}

impl Block<P4> for Cs {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        Ok(match off {
            CSKEY => CSKEY_READ,
            CSCTL0 => self.ctl0,
            CSCTL1 => self.ctl1,
            CSCTL2 => self.ctl2,
            CSCTL3 => self.ctl3,
            CSCLKEN => self.clken,
            CSSTAT => self.stat(cx.now, cx.dev.msp432()),
            CSIE => self.ie,
            CSIFG => self.ifg,
            CSCLRIFG | CSSETIFG => 0,
            CSDCOERCAL0 => self.dcoercal[0],
            CSDCOERCAL1 => self.dcoercal[1],
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        if off == CSKEY {
            self.unlocked = mask & 0xFFFF == 0xFFFF && value & 0xFFFF == CSKEY_VAL;
            return Ok(());
        }
        if off == CSSTAT || off == CSIFG {
            return Ok(());
        }
        if !self.unlocked {
            // Without the key a write has no effect.
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        match off {
            CSCTL0 => {
                let new = merge(self.ctl0, value, mask) & 0x00C7_03FF;
                if new & DCORES != 0 {
                    return Err(cx.refuse(
                        "external resistor mode of the DCO (DCORES) is not modelled; use the internal one",
                    ));
                }
                self.ctl0 = new;
                if self.dco_out_of_range(cx.dev.msp432()) {
                    cx.lint(LintKind::DcoRange);
                }
            }
            CSCTL1 => self.ctl1 = merge(self.ctl1, value, mask) & 0x7777_1777,
            CSCTL2 => self.ctl2 = merge(self.ctl2, value, mask) & 0x0371_0303,
            CSCTL3 => self.ctl3 = merge(self.ctl3, value, mask) & 0xBB,
            CSCLKEN => self.clken = merge(self.clken, value, mask) & 0x870F,
            CSIE => self.ie = merge(self.ie, value, mask) & FLAGS,
            CSCLRIFG => self.ifg &= !(value & mask),
            CSSETIFG => self.ifg |= value & mask & FLAGS,
            CSDCOERCAL0 => self.dcoercal[0] = merge(self.dcoercal[0], value, mask),
            CSDCOERCAL1 => self.dcoercal[1] = merge(self.dcoercal[1], value, mask),
            _ => return Err(cx.no_register()),
        }
        self.settle(cx.now, cx.dev.msp432());
        cx.fx.clocks = true;
        Ok(())
    }

    fn asks(&mut self) -> u32 {
        self.pending().into()
    }
}
