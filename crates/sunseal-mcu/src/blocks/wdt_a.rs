// SPDX-License-Identifier: MIT OR Apache-2.0
//! WDT_A, the watchdog timer.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::wdt_a::{WDTCNTCL, WDTHOLD, WDTIS, WDTPW, WDTSSEL, WDTTMSEL};
use sunseal_trace::Picos;

use super::{Block, Ctx, ResetKind, cause};
use crate::blocks::follow::Follow;
use crate::clock::{Clocks, Line};

const WDTPW_READ: u16 = 0x6900;
const RESET_VALUE: u16 = 0x04;
/// Logarithm of the interval by WDTIS.
const INTERVAL_BITS: [u32; 8] = [31, 27, 23, 19, 15, 13, 9, 6];

/// The control register, and the counter, whose clock the chip chooses by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Counter {
    pub ctl: u16,
    /// Ticks counted before `start`.
    count: u64,
    start: u64,
}

impl Counter {
    pub fn new() -> Self {
        Self { ctl: RESET_VALUE, count: 0, start: 0 }
    }

    pub fn held(&self) -> bool {
        self.ctl & WDTHOLD != 0
    }

    /// Whether it counts towards a reset.
    pub fn resets(&self) -> bool {
        !self.held() && self.ctl & WDTTMSEL == 0
    }

    /// It begins anew at tick `now`.
    pub fn restart(&mut self, now: u64) {
        (self.count, self.start) = (0, now);
    }

    /// The register is written while its clock is at tick `ticks`; `now` are the ticks of the clock that it then has.
    pub fn write(&mut self, value: u16, ticks: u64, now: impl FnOnce(&Self) -> u64) {
        if !self.held() {
            self.count += ticks - self.start;
        }
        self.ctl = value & 0x00FF & !WDTCNTCL;
        if value & WDTCNTCL != 0 {
            self.count = 0;
        }
        self.start = now(self);
    }

    /// When the interval is over.
    pub fn next_event(&self, line: &Line) -> Option<Picos> {
        if self.held() {
            return None;
        }
        let interval = 1u64 << INTERVAL_BITS[(self.ctl & WDTIS) as usize];
        let t = line.time_of(self.start + interval.saturating_sub(self.count).max(1));
        (t != Picos::MAX).then_some(t)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WdtA(Counter);

impl WdtA {
    pub fn new() -> Self {
        Self(Counter::new())
    }

    pub fn reset(&mut self, cx: &Ctx<'_>) {
        self.0 = Counter::new();
        self.0.restart(self.ticks(cx));
    }

    fn line<'a>(counter: &Counter, clocks: &'a Clocks) -> &'a Line {
        match counter.ctl & WDTSSEL {
            0x00 => &clocks.smclk,
            0x20 => &clocks.aclk,
            _ => &clocks.vlo,
        }
    }

    fn ticks(&self, cx: &Ctx<'_>) -> u64 {
        Self::line(&self.0, cx.clocks).ticks_at(cx.now)
    }

    pub fn next_event(&self, clocks: &Clocks) -> Option<Picos> {
        self.0.next_event(Self::line(&self.0, clocks))
    }

    /// Whether it counts towards a reset.
    pub fn resets(&self) -> bool {
        self.0.resets()
    }

    /// The interval is over: a reset, unless it is a timer interval.
    pub fn event(&mut self, cx: &mut Ctx<'_>) {
        self.0.restart(self.ticks(cx));
        if self.resets() {
            cx.reset(ResetKind::Puc, cause::WDTTO);
        }
    }
}

impl Block for WdtA {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        if off == 0 { Ok(WDTPW_READ | self.0.ctl) } else { Err(cx.no_register()) }
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if off != 0 {
            return Err(cx.no_register());
        }
        if mask != 0xFFFF || value & 0xFF00 != WDTPW {
            cx.reset(ResetKind::Puc, cause::WDTKEY);
            return Ok(());
        }
        let ticks = self.ticks(cx);
        self.0.write(value, ticks, |counter| Self::line(counter, cx.clocks).ticks_at(cx.now));
        Ok(())
    }

    fn requests_smclk(&self) -> bool {
        !self.0.held() && self.0.ctl & WDTSSEL == 0
    }

    fn requests_aclk(&self) -> bool {
        !self.0.held() && self.0.ctl & WDTSSEL == 0x20
    }

    fn due(&self, clocks: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event(clocks)
    }
}
