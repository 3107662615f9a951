// SPDX-License-Identifier: MIT OR Apache-2.0
//! WDT, the watchdog timer of the MSP430x1xx (SLAU049, chapter 10).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::Ctx;
use crate::clock::{Clocks, Line};

const WDTPW: u16 = 0x5A00;
const WDTPW_READ: u16 = 0x6900;
const WDTHOLD: u16 = 0x80;
const WDTNMI: u16 = 0x20;
const WDTTMSEL: u16 = 0x10;
const WDTCNTCL: u16 = 0x08;
const WDTSSEL: u16 = 0x04;
const WDTIS: u16 = 0x03;
/// Logarithm of the interval by WDTISx.
const INTERVAL_BITS: [u32; 4] = [15, 13, 9, 6];

/// What the end of an interval, or a write, asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WdtEnd {
    /// WDTIFG, as a flag.
    Interval,
    /// WDTIFG and a power-up clear.
    Reset,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wdt {
    ctl: u16,
    /// Ticks counted before `start`.
    count: u64,
    start: u64,
}

impl Wdt {
    pub fn new() -> Self {
        Self { ctl: 0, count: 0, start: 0 }
    }

    pub fn reset(&mut self, clocks: &Clocks, now: Picos) {
        *self = Self { start: clocks.smclk.ticks_at(now), ..Self::new() };
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> &'a Line {
        if self.ctl & WDTSSEL != 0 { &clocks.aclk } else { &clocks.smclk }
    }

    fn held(&self) -> bool {
        self.ctl & WDTHOLD != 0
    }

    pub fn read(&self) -> u16 {
        WDTPW_READ | self.ctl
    }

    /// A wrong password asks for a reset.
    pub fn write(&mut self, value: u16, cx: &Ctx<'_>) -> Result<Option<WdtEnd>, Fault> {
        if value & 0xFF00 != WDTPW {
            return Ok(Some(WdtEnd::Reset));
        }
        if value & WDTNMI != 0 {
            return Err(cx.refuse("NMI function of the RST/NMI pin (WDTNMI) is not modelled"));
        }
        let ticks = self.line(cx.clocks).ticks_at(cx.now);
        if !self.held() {
            self.count += ticks - self.start;
        }
        self.ctl = value & 0x00FF & !WDTCNTCL;
        if value & WDTCNTCL != 0 {
            self.count = 0;
        }
        self.start = self.line(cx.clocks).ticks_at(cx.now);
        Ok(None)
    }

    pub fn next_event(&self, clocks: &Clocks) -> Option<Picos> {
        if self.held() {
            return None;
        }
        let interval = 1u64 << INTERVAL_BITS[usize::from(self.ctl & WDTIS)];
        let left = interval.saturating_sub(self.count).max(1);
        let t = self.line(clocks).time_of(self.start + left);
        (t != Picos::MAX).then_some(t)
    }

    /// Whether it counts towards a reset, and its clock runs.
    pub fn resets(&self, clocks: &Clocks) -> bool {
        !self.held() && self.ctl & WDTTMSEL == 0 && self.line(clocks).is_running()
    }

    /// The interval is over.
    pub fn event(&mut self, clocks: &Clocks, now: Picos) -> WdtEnd {
        self.count = 0;
        self.start = self.line(clocks).ticks_at(now);
        if self.ctl & WDTTMSEL == 0 { WdtEnd::Reset } else { WdtEnd::Interval }
    }
}
