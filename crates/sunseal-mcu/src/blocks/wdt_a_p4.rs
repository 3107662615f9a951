// SPDX-License-Identifier: MIT OR Apache-2.0
//! WDT_A of the MSP432: as on the MSP430, with BCLK as a further clock, an NVIC input of its own in
//! interval mode, and resets of the class that SYS_WDTRESET_CTL names (SLAU356I chapter 17).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::Picos;

use super::wide::{Class, Cx, Lines};
use crate::clock::Line;

const CTL: u32 = 0x0C;
const WDTPW: u32 = 0x5A00;
const WDTPW_READ: u32 = 0x6900;
const WDTHOLD: u16 = 0x80;
const WDTSSEL: u16 = 0x60;
const WDTTMSEL: u16 = 0x10;
const WDTCNTCL: u16 = 0x08;
const WDTIS: u16 = 0x07;
const RESET_VALUE: u16 = 0x04;
/// Logarithm of the interval by WDTIS.
const INTERVAL_BITS: [u32; 8] = [31, 27, 23, 19, 15, 13, 9, 6];
/// Sources of RSTCTL: time-out and password violation.
pub(crate) const SOURCE_TIMEOUT: u8 = 1;
pub(crate) const SOURCE_PASSWORD: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wdt {
    ctl: u16,
    /// Ticks counted before `start`.
    count: u64,
    start: u64,
    /// An interval has ended: the input pulses.
    pub pulse: bool,
}

impl Wdt {
    pub fn new() -> Self {
        Self { ctl: RESET_VALUE, count: 0, start: 0, pulse: false }
    }

    pub fn reset(&mut self, clocks: &Lines, now: Picos) {
        *self = Self::new();
        self.start = self.line(clocks).ticks_at(now);
    }

    fn line<'a>(&self, clocks: &'a Lines) -> &'a Line {
        match self.ctl & WDTSSEL {
            0x00 => &clocks.base.smclk,
            0x20 => &clocks.base.aclk,
            0x40 => &clocks.base.vlo,
            _ => &clocks.bclk,
        }
    }

    pub fn held(&self) -> bool {
        self.ctl & WDTHOLD != 0
    }

    /// Whether its clock is one that goes on in LPM3.
    pub fn low_frequency(&self) -> bool {
        self.ctl & WDTSSEL >= 0x40
    }

    fn interval(&self) -> u64 {
        1 << INTERVAL_BITS[(self.ctl & WDTIS) as usize]
    }

    pub fn read(&self, off: u32, cx: &Cx<'_>) -> Result<u32, Fault> {
        if off == CTL { Ok(WDTPW_READ | u32::from(self.ctl)) } else { Err(cx.no_register()) }
    }

    pub fn write(
        &mut self,
        off: u32,
        value: u32,
        mask: u32,
        hard: (bool, bool),
        cx: &mut Cx<'_>,
    ) -> Result<(), Fault> {
        if off != CTL {
            return Err(cx.no_register());
        }
        if mask & 0xFFFF != 0xFFFF || value & 0xFF00 != WDTPW {
            cx.reset(if hard.1 { Class::Hard } else { Class::Soft }, SOURCE_PASSWORD);
            return Ok(());
        }
        let ticks = self.line(cx.clocks).ticks_at(cx.now);
        if !self.held() {
            self.count += ticks - self.start;
        }
        self.ctl = value as u16 & 0x00FF & !WDTCNTCL;
        if value as u16 & WDTCNTCL != 0 {
            self.count = 0;
        }
        self.start = self.line(cx.clocks).ticks_at(cx.now);
        Ok(())
    }

    pub fn next_event(&self, clocks: &Lines) -> Option<Picos> {
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

    /// The interval is over: a reset, or a pulse of its interrupt.
    pub fn event(&mut self, hard: (bool, bool), cx: &mut Cx<'_>) {
        self.count = 0;
        self.start = self.line(cx.clocks).ticks_at(cx.now);
        if self.ctl & WDTTMSEL == 0 {
            cx.reset(if hard.0 { Class::Hard } else { Class::Soft }, SOURCE_TIMEOUT);
        } else {
            self.pulse = true;
        }
    }
}
