// SPDX-License-Identifier: MIT OR Apache-2.0
//! WDT_A, the watchdog timer.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::{Block, Ctx, ResetKind, cause};
use crate::clock::{Clocks, Line};
use crate::instruments::taint::Follow;

const WDTPW: u16 = 0x5A00;
const WDTPW_READ: u16 = 0x6900;
const WDTHOLD: u16 = 0x80;
const WDTSSEL: u16 = 0x60;
const WDTTMSEL: u16 = 0x10;
const WDTCNTCL: u16 = 0x08;
const WDTIS: u16 = 0x07;
const RESET_VALUE: u16 = 0x04;
/// Logarithm of the interval by WDTIS.
const INTERVAL_BITS: [u32; 8] = [31, 27, 23, 19, 15, 13, 9, 6];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WdtA {
    ctl: u16,
    /// Ticks counted before `start`.
    count: u64,
    start: u64,
}

impl WdtA {
    pub fn new() -> Self {
        Self { ctl: RESET_VALUE, count: 0, start: 0 }
    }

    pub fn reset(&mut self, cx: &Ctx<'_>) {
        self.ctl = RESET_VALUE;
        self.count = 0;
        self.start = self.line(cx.clocks).ticks_at(cx.now);
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> &'a Line {
        match self.ctl & WDTSSEL {
            0x00 => &clocks.smclk,
            0x20 => &clocks.aclk,
            _ => &clocks.vlo,
        }
    }

    fn held(&self) -> bool {
        self.ctl & WDTHOLD != 0
    }

    fn interval(&self) -> u64 {
        1 << INTERVAL_BITS[(self.ctl & WDTIS) as usize]
    }

    pub fn next_event(&self, clocks: &Clocks) -> Option<Picos> {
        if self.held() {
            return None;
        }
        let left = self.interval().saturating_sub(self.count).max(1);
        let t = self.line(clocks).time_of(self.start + left);
        (t != Picos::MAX).then_some(t)
    }

    /// Whether it counts towards a reset.
    pub fn resets(&self) -> bool {
        !self.held() && self.ctl & WDTTMSEL == 0
    }

    /// The interval is over: a reset, unless it is a timer interval.
    pub fn event(&mut self, cx: &mut Ctx<'_>) {
        self.count = 0;
        self.start = self.line(cx.clocks).ticks_at(cx.now);
        if self.ctl & WDTTMSEL == 0 {
            cx.reset(ResetKind::Puc, cause::WDTTO);
        }
    }
}

impl Block for WdtA {
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, _: u16, cx: &mut Ctx<'_>) -> Result<u16, Fault> {
        if off == 0 { Ok(WDTPW_READ | self.ctl) } else { Err(cx.no_register()) }
    }

    fn write(&mut self, off: u32, value: u16, mask: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if off != 0 {
            return Err(cx.no_register());
        }
        if mask != 0xFFFF || value & 0xFF00 != WDTPW {
            cx.reset(ResetKind::Puc, cause::WDTKEY);
            return Ok(());
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
        Ok(())
    }

    fn requests_smclk(&self) -> bool {
        !self.held() && self.ctl & WDTSSEL == 0
    }

    fn requests_aclk(&self) -> bool {
        !self.held() && self.ctl & WDTSSEL == 0x20
    }

    fn due(&self, clocks: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event(clocks)
    }
}
