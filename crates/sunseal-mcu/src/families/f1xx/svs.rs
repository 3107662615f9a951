// SPDX-License-Identifier: MIT OR Apache-2.0
//! SVS, the supply voltage supervisor of the MSP430x1xx (SLAU049, chapter 6).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430x1xx::svs::{PORON, SVSFG, SVSON, SVSOP};
use sunseal_trace::Picos;

use crate::blocks::follow::Follow;
use crate::blocks::{Block, Ctx};
use crate::clock::Clocks;
use crate::device::{F1xx, us};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Svs {
    ctl: u8,
    flag: bool,
    /// SVSOP: the supply is too low.
    low: bool,
    settled: Option<u128>,
}

impl Svs {
    /// A power-on reset clears the register, except the flag that says it was the SVS.
    pub fn reset(&mut self, by_svs: bool) {
        let ctl = if by_svs { self.ctl } else { 0 };
        *self = Self { ctl, flag: by_svs, ..Self::default() };
    }

    fn vld(&self) -> usize {
        usize::from(self.ctl >> 4)
    }

    pub fn is_on(&self) -> bool {
        self.vld() != 0
    }

    /// The level that releases once the supply was too low.
    fn release_v(&self, facts: &F1xx) -> f64 {
        let level = facts.svs.falling_v[self.vld() - 1];
        let hysteresis = match self.vld() {
            1 => facts.svs.hysteresis_vld1_v,
            _ => level * facts.svs.hysteresis_rel,
        };
        level + hysteresis
    }

    /// Whether the comparator finds the supply too low and has not told so, or is to reset now.
    pub fn below(&self, facts: &F1xx, vcc_v: f64) -> bool {
        if !self.is_on() || self.settled.is_some() {
            return false;
        }
        let limit =
            if self.low { self.release_v(facts) } else { facts.svs.falling_v[self.vld() - 1] };
        vcc_v < limit && (!self.low || self.ctl & PORON != 0)
    }

    /// It was too low for long enough; true if the chip is to be held in reset.
    pub fn trip(&mut self) -> bool {
        (self.low, self.flag) = (true, true);
        self.ctl & PORON != 0
    }

    /// Whether the supply is still too low, once it was.
    pub fn recover(&mut self, facts: &F1xx, vcc_v: f64) -> bool {
        self.low &= self.is_on() && self.settled.is_none() && vcc_v < self.release_v(facts);
        self.low
    }

    pub fn next_event(&self) -> Option<Picos> {
        self.settled.map(Picos)
    }

    /// The comparator has settled.
    pub fn event(&mut self, now: Picos) {
        self.settled.take_if(|t| *t <= now.0);
    }
}

impl Block for Svs {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, _: u32, _: u16, _: &mut Ctx<'_>) -> Result<u16, Fault> {
        let on = if self.is_on() && self.settled.is_none() { SVSON } else { 0 };
        let op = if self.low { SVSOP } else { 0 };
        Ok(u16::from(self.ctl | on | op | if self.flag { SVSFG } else { 0 }))
    }

    fn write(&mut self, _: u32, value: u16, _: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        let value = value as u8;
        if value >> 4 == 15 {
            return Err(cx.refuse("SVS comparison with the SVSIN pin (VLD = 15) is not modelled"));
        }
        if value >> 4 != self.ctl >> 4 {
            let settle = us(cx.dev.f1xx().svs.settle_us);
            self.settled = (value >> 4 != 0).then_some(cx.now.0 + settle.0);
        }
        self.ctl = value & 0xF8;
        self.flag = value & SVSFG != 0;
        Ok(())
    }

    fn due(&self, _: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event()
    }
}
