// SPDX-License-Identifier: MIT OR Apache-2.0
//! RNG (RM0351 chapter 27). Its words come from the unit's seed, so that a run can be repeated.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::rng::{
    RNG_CR, RNG_CR_IE, RNG_CR_RNGEN, RNG_DR, RNG_SR, RNG_SR_DRDY,
};
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::clock::{Line, splitmix64};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rng {
    cr: u32,
    /// How many words it has given.
    given: u64,
    /// The next is ready then, or is.
    ready: u128,
    there: bool,
    cycles_per_word: u64,
    clock: Line,
}

impl Rng {
    pub fn new(cycles_per_word: u64) -> Self {
        Self { ready: u128::MAX, cycles_per_word, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self { given: self.given, clock: self.clock, ..Self::new(self.cycles_per_word) };
    }

    pub fn is_on(&self) -> bool {
        self.cr & RNG_CR_RNGEN != 0
    }

    fn begin(&mut self, now: Picos) {
        let end = self.clock.ticks_at(now) + self.cycles_per_word;
        self.ready = self.clock.time_of(end).0;
        self.there = false;
    }
}

impl Block<Stm32> for Rng {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        self.advance(&(), cx.now);
        Ok(match off {
            RNG_CR => self.cr,
            RNG_SR => u32::from(self.there) * RNG_SR_DRDY,
            // Not ready, it reads as zero.
            RNG_DR if !self.there => 0,
            RNG_DR => {
                self.given += 1;
                self.begin(cx.now);
                splitmix64(cx.beside.seed ^ 0x726E_6721 ^ self.given << 32) as u32
            }
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        match off {
            RNG_CR => {
                let new = merge(self.cr, value, mask);
                only(
                    new,
                    RNG_CR_RNGEN | RNG_CR_IE,
                    "the RNG has no other bits than RNGEN and IE here",
                    cx,
                )?;
                if new & RNG_CR_RNGEN != 0 && !self.clock.is_running() {
                    return Err(cx.refuse(
                        "the RNG's 48 MHz clock is off: choose MSI at 48 MHz or the PLL's Q output with RCC_CCIPR.CLK48SEL, and let it run",
                    ));
                }
                let began = new & !self.cr & RNG_CR_RNGEN != 0;
                self.cr = new;
                if began {
                    self.begin(cx.now);
                } else if !self.is_on() {
                    self.there = false;
                }
            }
            RNG_SR | RNG_DR => {}
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, _: Picos) {
        self.clock = *clock;
    }

    fn due(&self, _: &()) -> Option<Picos> {
        let waited_for = self.cr & RNG_CR_IE != 0 && self.is_on() && !self.there;
        (waited_for && self.ready != u128::MAX).then_some(Picos(self.ready))
    }

    fn advance(&mut self, _: &(), t: Picos) {
        self.there |= self.is_on() && self.ready <= t.0;
    }

    fn asks(&mut self) -> u32 {
        u32::from(self.cr & RNG_CR_IE != 0 && self.there)
    }

    fn may_ask(&self, _: &()) -> bool {
        self.due(&()).is_some()
    }
}
