// SPDX-License-Identifier: MIT OR Apache-2.0
//! LPTIM (RM0351 chapter 34): a 16-bit counter whose clock may run through the Stop modes. No pin moves.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::stm32l4::lptim::*;
use sunseal_trace::Picos;

use super::{Block, Cx, Stm32, merge, only};
use crate::clock::Line;

const FLAGS: u32 = LPTIM_ISR_CMPM | LPTIM_ISR_ARRM | LPTIM_ISR_CMPOK | LPTIM_ISR_ARROK;
/// WAVE, WAVPOL and PRELOAD besides: they shape an output that no pin shows, and when CMP and ARR are taken over.
const CFGR_KNOWN: u32 = LPTIM_CFGR_PRESC | 7 << 20;
/// Periods of the kernel clock until a value written to CMP or ARR has arrived; assumed.
const ARRIVAL: u64 = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Counts {
    #[default]
    Not,
    Once,
    On,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lptim {
    isr: u32,
    ier: u32,
    cfgr: u32,
    enabled: bool,
    counts: Counts,
    cmp: u32,
    arr: u32,
    cnt: u32,
    origin: u64,
    /// Ticks at which CMPOK and ARROK come.
    cmp_arrives: Option<u64>,
    arr_arrives: Option<u64>,
    clock: Line,
}

impl Lptim {
    pub fn new() -> Self {
        Self { arr: 1, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self { clock: self.clock, ..Self::new() };
    }

    fn prescaler(&self) -> u64 {
        1 << (self.cfgr >> 9 & 7)
    }

    /// Counts from now until the counter is next at `value`.
    fn until(&self, value: u32) -> Option<u64> {
        if self.counts == Counts::Not || value > self.arr {
            return None;
        }
        let (cnt, period) = (u64::from(self.cnt), u64::from(self.arr) + 1);
        Some(if value > self.cnt {
            u64::from(value) - cnt
        } else {
            period - cnt + u64::from(value)
        })
    }

    fn sync(&mut self, t: Picos) {
        let ticks = self.clock.ticks_at(t);
        for (arrives, flag) in
            [(&mut self.cmp_arrives, LPTIM_ISR_CMPOK), (&mut self.arr_arrives, LPTIM_ISR_ARROK)]
        {
            if arrives.take_if(|at| *at <= ticks).is_some() {
                self.isr |= flag;
            }
        }
        if self.counts == Counts::Not {
            self.origin = ticks;
            return;
        }
        let counts = ticks.saturating_sub(self.origin) / self.prescaler();
        self.origin += counts * self.prescaler();
        if self.until(self.cmp).is_some_and(|n| n <= counts) {
            self.isr |= LPTIM_ISR_CMPM;
        }
        if self.until(self.arr).is_some_and(|n| n <= counts) {
            self.isr |= LPTIM_ISR_ARRM;
        }
        let wraps = self.until(0).is_some_and(|n| n <= counts);
        self.cnt = ((u64::from(self.cnt) + counts) % (u64::from(self.arr) + 1)) as u32;
        if wraps && self.counts == Counts::Once {
            (self.counts, self.cnt) = (Counts::Not, 0);
        }
    }

    fn write_cr(&mut self, bits: u32, cx: &Cx<'_>) -> Result<(), Fault> {
        only(
            bits,
            LPTIM_CR_ENABLE | LPTIM_CR_SNGSTRT | LPTIM_CR_CNTSTRT,
            "LPTIM_CR has no other bits on this part",
            cx,
        )?;
        let was = self.enabled;
        self.enabled = bits & LPTIM_CR_ENABLE != 0;
        if !self.enabled {
            (self.counts, self.cnt, self.cmp, self.arr) = (Counts::Not, 0, 0, 1);
            (self.cmp_arrives, self.arr_arrives) = (None, None);
            return Ok(());
        }
        if !self.clock.is_running() {
            return Err(cx.refuse(
                "the LPTIM's kernel clock is off; RCC_CCIPR chooses it, and its oscillator must run",
            ));
        }
        if bits & (LPTIM_CR_SNGSTRT | LPTIM_CR_CNTSTRT) != 0 && !was {
            return Err(cx.refuse("LPTIM_CR: set ENABLE first, then CNTSTRT or SNGSTRT"));
        }
        if bits & LPTIM_CR_CNTSTRT != 0 {
            self.counts = Counts::On;
        } else if bits & LPTIM_CR_SNGSTRT != 0 {
            self.counts = Counts::Once;
        }
        Ok(())
    }
}

impl Block<Stm32> for Lptim {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        self.sync(cx.now);
        Ok(match off {
            LPTIM_ISR => self.isr,
            LPTIM_ICR => 0,
            LPTIM_IER => self.ier,
            LPTIM_CFGR => self.cfgr,
            LPTIM_CR => u32::from(self.enabled),
            LPTIM_CMP => self.cmp,
            LPTIM_ARR => self.arr,
            LPTIM_CNT => self.cnt,
            _ => return Err(cx.no_register()),
        })
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        self.sync(cx.now);
        match off {
            LPTIM_ISR | LPTIM_CNT => {}
            LPTIM_ICR => self.isr &= !(value & mask),
            LPTIM_IER | LPTIM_CFGR if self.enabled => {
                return Err(cx.refuse(
                    "LPTIM_IER and LPTIM_CFGR are written only while LPTIM_CR.ENABLE is clear",
                ));
            }
            LPTIM_IER => {
                self.ier = merge(self.ier, value, mask);
                let what = "external triggers and encoders of the LPTIM are not modelled";
                only(self.ier, FLAGS, what, cx)?;
            }
            LPTIM_CFGR => {
                self.cfgr = merge(self.cfgr, value, mask);
                let what = "external clocks and triggers, encoders and time-outs of the LPTIM are not modelled";
                only(self.cfgr, CFGR_KNOWN, what, cx)?;
            }
            LPTIM_CR => self.write_cr(value & mask, cx)?,
            LPTIM_CMP | LPTIM_ARR if !self.enabled => {
                return Err(cx.refuse(
                    "LPTIM_CMP and LPTIM_ARR are written only while LPTIM_CR.ENABLE is set",
                ));
            }
            LPTIM_CMP => {
                self.cmp = merge(self.cmp, value, mask) & 0xFFFF;
                self.cmp_arrives = Some(self.clock.ticks_at(cx.now) + ARRIVAL);
            }
            LPTIM_ARR => {
                self.arr = merge(self.arr, value, mask) & 0xFFFF;
                self.arr_arrives = Some(self.clock.ticks_at(cx.now) + ARRIVAL);
            }
            _ => return Err(cx.no_register()),
        }
        Ok(())
    }

    fn clocked(&mut self, clock: &Line, now: Picos) {
        self.sync(now);
        let old = self.clock.ticks_at(now);
        self.clock = *clock;
        let new = self.clock.ticks_at(now);
        let ticks = [Some(&mut self.origin), self.cmp_arrives.as_mut(), self.arr_arrives.as_mut()];
        for tick in ticks.into_iter().flatten() {
            *tick = (*tick + new).saturating_sub(old);
        }
    }

    fn due(&self, _: &()) -> Option<Picos> {
        let fresh = self.ier & !self.isr;
        let counted = |flag: u32, value: u32| {
            let counts = (fresh & flag != 0).then(|| self.until(value)).flatten()?;
            Some(self.origin + counts * self.prescaler())
        };
        let arrives = |flag: u32, at: Option<u64>| at.filter(|_| fresh & flag != 0);
        let ticks = [
            counted(LPTIM_ISR_CMPM, self.cmp),
            counted(LPTIM_ISR_ARRM, self.arr),
            arrives(LPTIM_ISR_CMPOK, self.cmp_arrives),
            arrives(LPTIM_ISR_ARROK, self.arr_arrives),
        ];
        let t = self.clock.time_of(ticks.into_iter().flatten().min()?);
        (t != Picos::MAX).then_some(t)
    }

    fn advance(&mut self, _: &(), t: Picos) {
        self.sync(t);
    }

    fn asks(&mut self) -> u32 {
        u32::from(self.ier & self.isr & FLAGS != 0)
    }

    fn may_ask(&self, _: &()) -> bool {
        self.due(&()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_matches_wraps_and_stops_when_asked_to_count_once() {
        let mut line = Line::STOPPED;
        line.retune(Picos(0), 1_000_000, 1, None);
        let us = |n: u128| Picos(n * 1_000_000);
        let mut t = Lptim {
            enabled: true,
            arr: 99,
            cmp: 40,
            ier: LPTIM_ISR_CMPM | LPTIM_ISR_ARRM,
            ..Lptim::new()
        };
        t.clocked(&line, Picos(0));
        t.cfgr = 1 << 9;
        t.counts = Counts::On;
        assert_eq!(t.due(&()), Some(us(80)));
        t.sync(us(81));
        assert_eq!((t.cnt, t.isr, t.due(&())), (40, LPTIM_ISR_CMPM, Some(us(198))));
        t.sync(us(210));
        assert_eq!((t.cnt, t.isr), (5, LPTIM_ISR_CMPM | LPTIM_ISR_ARRM));
        t.counts = Counts::Once;
        t.sync(us(450));
        assert_eq!((t.cnt, t.counts), (0, Counts::Not));
    }
}
