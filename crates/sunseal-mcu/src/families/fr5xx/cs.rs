// SPDX-License-Identifier: MIT OR Apache-2.0
//! CS, the clock system of the FR5xx (SLAU367P, CS chapter): DCO with its trimmed frequencies, VLO,
//! MODOSC, crystals as fitted.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::cs::{
    ACLKREQEN, CSKEY, HFXTOFF, HFXTOFFG, LFXTOFF, LFXTOFFG, SMCLKOFF, SMCLKREQEN,
};
use sunseal_trace::Picos;

use crate::blocks::follow::Follow;
use crate::blocks::{Block, Ctx, Reset, ResetKind, cause, merge};
use crate::clock::Clocks;
use crate::lint::LintKind;

const CSCTL0: usize = 0;
const CSCTL4: usize = 4;
const CSCTL5: usize = 5;

const KEY_READ: u16 = 0x9600;

/// Bits that exist, by register.
const BITS: [u16; 7] = [0, 0x004E, 0x0777, 0x0777, 0xDDDB, 0x00C3, 0x000F];
const RESET: [u16; 7] = [0, 0x000C, 0x0033, 0x0033, 0xCDC9, 0x00C0, 0x0007];

/// Source that a clock of the CS can be taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    Lfxt,
    Vlo,
    /// MODOSC divided by 128.
    LfMod,
    Dco,
    Mod,
    Hfxt,
}

/// The crystals on the board, in hertz, and how long they take to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Crystals {
    pub lfxt_hz: Option<u32>,
    pub hfxt_hz: Option<u32>,
    pub lfxt_start_ps: u128,
    pub hfxt_start_ps: u128,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cs {
    unlocked: bool,
    ctl: [u16; 7],
    crystals: Crystals,
    /// PJSEL0 gives the crystal pins to the oscillators.
    pins: [bool; 2],
    /// When each crystal will swing, or has begun to: LFXT, HFXT.
    swings_ps: [Option<u128>; 2],
}

impl Cs {
    pub fn new(crystals: Crystals) -> Self {
        Self { unlocked: false, ctl: RESET, crystals, pins: [false; 2], swings_ps: [None; 2] }
    }

    /// A PUC keeps the settings' effect only where the registers do: all return to their reset values.
    /// Behind LPM3.5 with the RTC (`kept`) LFXT swings on, and its pins are still held for it.
    pub fn reset(&mut self, kept: bool) {
        let lfxt = (self.pins[0], self.swings_ps[0]);
        *self = Self::new(self.crystals);
        if kept {
            (self.pins[0], self.swings_ps[0]) = lfxt;
        }
    }

    /// DCOFSEL and DCORSEL as an index of a table of eight and eight.
    pub fn dco_setting(&self) -> usize {
        usize::from(self.ctl[1] >> 1 & 7) + if self.ctl[1] & 0x40 != 0 { 8 } else { 0 }
    }

    fn is_enabled(&self, crystal: usize) -> bool {
        let off = if crystal == 0 { LFXTOFF } else { HFXTOFF };
        let code = if crystal == 0 { 0 } else { 5 };
        let wanted = self.ctl[2] & 7 == code
            || self.ctl[2] >> 4 & 7 == code
            || (crystal == 0 && self.ctl[2] >> 8 & 7 == 0);
        self.ctl[CSCTL4] & off == 0 || wanted
    }

    fn hz(&self, crystal: usize) -> Option<u32> {
        [self.crystals.lfxt_hz, self.crystals.hfxt_hz][crystal]
    }

    fn swings(&self, crystal: usize, now: Picos) -> bool {
        self.swings_ps[crystal].is_some_and(|t| t <= now.0)
    }

    /// LFXT's frequency, if it swings.
    pub fn lfxt_hz(&self, now: Picos) -> Option<u32> {
        self.hz(0).filter(|_| self.swings(0, now))
    }

    /// Crystals start and stop as registers and pins say.
    fn settle(&mut self, now: Picos) {
        let start = [self.crystals.lfxt_start_ps, self.crystals.hfxt_start_ps];
        for (crystal, start_ps) in start.into_iter().enumerate() {
            let on = self.is_enabled(crystal) && self.hz(crystal).is_some() && self.pins[crystal];
            if !on {
                self.swings_ps[crystal] = None;
            } else if self.swings_ps[crystal].is_none() {
                self.swings_ps[crystal] = Some(now.0.saturating_add(start_ps));
            }
        }
        self.note_faults(now);
    }

    fn note_faults(&mut self, now: Picos) {
        for (crystal, flag) in [(0, LFXTOFFG), (1, HFXTOFFG)] {
            if self.is_enabled(crystal) && !self.swings(crystal, now) {
                self.ctl[CSCTL5] |= flag;
            }
        }
    }

    /// PJSEL0 changed: whether the crystal pins (LFXT: PJ.4, HFXT: PJ.6) are the oscillators'.
    pub fn set_pins(&mut self, lfxt: bool, hfxt: bool, now: Picos) {
        self.pins = [lfxt, hfxt];
        self.settle(now);
    }

    /// When a crystal that starts will swing.
    pub fn next_event(&self, now: Picos) -> Option<Picos> {
        self.swings_ps.into_iter().flatten().filter(|t| *t > now.0).min().map(Picos)
    }

    fn source(&self, select: u16, now: Picos) -> Source {
        match select & 7 {
            0 if self.swings(0, now) => Source::Lfxt,
            1 => Source::Vlo,
            // Without LFXT the fail-safe logic puts LFMODCLK in its place.
            0 | 2 => Source::LfMod,
            3 => Source::Dco,
            5 if self.swings(1, now) => Source::Hfxt,
            _ => Source::Mod,
        }
    }

    fn tap(&self, n: u32, now: Picos) -> (Source, u32) {
        (self.source(self.ctl[2] >> (4 * n), now), 1 << (self.ctl[3] >> (4 * n) & 7).min(5))
    }

    /// Source and divider of MCLK.
    pub fn mclk(&self, now: Picos) -> (Source, u32) {
        self.tap(0, now)
    }

    pub fn smclk(&self, now: Picos) -> (Source, u32) {
        self.tap(1, now)
    }

    /// ACLK knows low frequencies only.
    pub fn aclk(&self, now: Picos) -> (Source, u32) {
        match self.tap(2, now) {
            (Source::Dco | Source::Mod | Source::Hfxt, div) => (Source::LfMod, div),
            tap => tap,
        }
    }

    /// The crystal at LFXT (0) or HFXT (1), 0 for none.
    pub fn crystal_hz(&self, oscillator: usize) -> u32 {
        self.hz(oscillator).unwrap_or(0)
    }

    /// Fits a crystal to "lfxt" or "hfxt"; 0 Hz takes it away.
    pub fn fit(&mut self, oscillator: &str, hz: u32) -> bool {
        let crystal = (hz != 0).then_some(hz);
        match oscillator {
            "lfxt" => self.crystals.lfxt_hz = crystal,
            "hfxt" => self.crystals.hfxt_hz = crystal,
            _ => return false,
        }
        true
    }

    pub fn smclk_off(&self) -> bool {
        self.ctl[CSCTL4] & SMCLKOFF != 0
    }

    pub fn smclk_requests(&self) -> bool {
        self.ctl[6] & SMCLKREQEN != 0
    }

    pub fn aclk_requests(&self) -> bool {
        self.ctl[6] & ACLKREQEN != 0
    }

    /// Whether SFRIFG1.OFIFG is held.
    pub fn has_faults(&self) -> bool {
        self.ctl[CSCTL5] & (LFXTOFFG | HFXTOFFG) != 0
    }
}

impl Block for Cs {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        match off as usize / 2 {
            CSCTL0 => Ok(KEY_READ),
            i => self.ctl.get(i).copied().ok_or_else(|| cx.no_register()),
        }
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let i = off as usize / 2;
        if i == CSCTL0 {
            if mask & 0xFF00 != 0 {
                self.unlocked = value & 0xFF00 == CSKEY;
                if !self.unlocked && mask == 0xFFFF {
                    cx.reset(ResetKind::Puc, cause::CSPW);
                }
            }
            return Ok(());
        }
        let Some(&old) = self.ctl.get(i) else { return Err(cx.no_register()) };
        if !self.unlocked {
            cx.lint(LintKind::LockedBits);
            return Ok(());
        }
        self.ctl[i] = merge(old, value, mask) & BITS[i];
        self.settle(cx.now);
        cx.fx.clocks = true;
        cx.fx.ofifg |= self.has_faults();
        Ok(())
    }

    fn restart(&mut self, how: Reset) {
        self.reset(how.rtc_kept);
    }

    fn due(&self, _: &Clocks, seen: Picos) -> Option<Picos> {
        self.next_event(seen)
    }
}
