// SPDX-License-Identifier: MIT OR Apache-2.0
//! WDT, the watchdog timer of the MSP430x1xx (SLAU049, chapter 10).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430x1xx::wdt::{WDTCNTCL, WDTHOLD, WDTNMI, WDTPW, WDTSSEL, WDTTMSEL};
use sunseal_trace::Picos;

use super::{Block, Ctx, ResetKind, cause};
use crate::blocks::follow::Follow;
use crate::clock::{Clocks, Line};

const WDTPW_READ: u16 = 0x6900;
const WDTIS: u16 = 0x03;
/// Logarithm of the interval by WDTISx.
const INTERVAL_BITS: [u32; 4] = [15, 13, 9, 6];

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wdt {
    ctl: u16,
    /// Ticks counted before `start`.
    count: u64,
    start: u64,
    /// WDTIE and WDTIFG, which show in IE1 and IFG1.
    pub ie: bool,
    pub ifg: bool,
}

impl Wdt {
    /// A power-up clear keeps WDTIFG.
    pub fn reset(&mut self, clocks: &Clocks, now: Picos) {
        *self = Self { start: clocks.smclk.ticks_at(now), ifg: self.ifg, ..Self::default() };
    }

    fn line<'a>(&self, clocks: &'a Clocks) -> &'a Line {
        if self.ctl & WDTSSEL != 0 { &clocks.aclk } else { &clocks.smclk }
    }

    fn held(&self) -> bool {
        self.ctl & WDTHOLD != 0
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

    /// The interval is over; true if it is a reset.
    pub fn event(&mut self, clocks: &Clocks, now: Picos) -> bool {
        self.count = 0;
        self.start = self.line(clocks).ticks_at(now);
        self.ifg = true;
        self.ctl & WDTTMSEL == 0
    }
}

impl Block for Wdt {
    const LINES: usize = 1;
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, _: u32, _: u16, _: &mut Ctx<'_>) -> Result<u16, Fault> {
        Ok(WDTPW_READ | self.ctl)
    }

    fn write(&mut self, _: u32, value: u16, _: u16, cx: &mut Ctx<'_>) -> Result<(), Fault> {
        if value & 0xFF00 != WDTPW {
            self.ifg = true;
            cx.reset(ResetKind::Puc, cause::WDTKEY);
            return Ok(());
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
        Ok(())
    }

    fn due(&self, clocks: &Clocks, _: Picos) -> Option<Picos> {
        self.next_event(clocks)
    }

    fn asks(&self, _: usize) -> bool {
        self.ie && self.ifg
    }

    fn taken(&mut self, _: usize) {
        self.ifg = false;
    }

    fn may_ask(&self, clocks: &Clocks, _: Picos, _: bool) -> bool {
        self.ie && self.next_event(clocks).is_some()
    }
}
