// SPDX-License-Identifier: MIT OR Apache-2.0
//! WDT_A of the MSP432: as on the MSP430, with BCLK as a further clock, an NVIC input of its own in
//! interval mode, and resets of the class that SYS_WDTRESET_CTL names (SLAU356I chapter 17).

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_registers::msp430fr5xx::wdt_a::WDTSSEL;
use sunseal_registers::msp432p4::wdt_a::{WDTCTL, WDTPW};
use sunseal_trace::Picos;

use super::wdt_a::Counter;
use super::wide::{Block, Class, Cx, Lines, P4};
use crate::clock::Line;

const WDTPW_READ: u32 = 0x6900;
/// Sources of RSTCTL: time-out and password violation.
pub(crate) const SOURCE_TIMEOUT: u8 = 1;
pub(crate) const SOURCE_PASSWORD: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wdt {
    counter: Counter,
    /// An interval has ended: the input pulses.
    pulse: bool,
}

impl Wdt {
    pub fn new() -> Self {
        Self { counter: Counter::new(), pulse: false }
    }

    pub fn reset(&mut self, clocks: &Lines, now: Picos) {
        *self = Self::new();
        self.counter.restart(Self::line(&self.counter, clocks).ticks_at(now));
    }

    fn line<'a>(counter: &Counter, clocks: &'a Lines) -> &'a Line {
        match counter.ctl & WDTSSEL {
            0x00 => &clocks.base.smclk,
            0x20 => &clocks.base.aclk,
            0x40 => &clocks.base.vlo,
            _ => &clocks.bclk,
        }
    }

    pub fn held(&self) -> bool {
        self.counter.held()
    }

    /// Whether its clock is one that goes on in LPM3.
    pub fn low_frequency(&self) -> bool {
        self.counter.ctl & WDTSSEL >= 0x40
    }

    /// Whether it counts towards a reset.
    pub fn resets(&self) -> bool {
        self.counter.resets()
    }

    /// The interval is over: a reset, or a pulse of its interrupt.
    pub fn event(&mut self, cx: &mut Cx<'_>) {
        self.counter.restart(Self::line(&self.counter, cx.clocks).ticks_at(cx.now));
        if self.counter.resets() {
            cx.fx.ask(if cx.beside.0 { Class::Hard } else { Class::Soft }, SOURCE_TIMEOUT);
        } else {
            self.pulse = true;
        }
    }
}

impl Block<P4> for Wdt {
    fn read(&mut self, off: u32, _: u32, cx: &mut Cx<'_>) -> Result<u32, Fault> {
        if off == WDTCTL {
            Ok(WDTPW_READ | u32::from(self.counter.ctl))
        } else {
            Err(cx.no_register())
        }
    }

    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault> {
        if off != WDTCTL {
            return Err(cx.no_register());
        }
        if mask & 0xFFFF != 0xFFFF || value & 0xFF00 != u32::from(WDTPW) {
            cx.fx.ask(if cx.beside.1 { Class::Hard } else { Class::Soft }, SOURCE_PASSWORD);
            return Ok(());
        }
        let ticks = |counter: &Counter| Self::line(counter, cx.clocks).ticks_at(cx.now);
        let before = ticks(&self.counter);
        self.counter.write(value as u16, before, ticks);
        Ok(())
    }

    fn due(&self, lines: &Lines) -> Option<Picos> {
        self.counter.next_event(Self::line(&self.counter, lines))
    }

    /// The end of an interval is a pulse.
    fn asks(&mut self) -> u32 {
        std::mem::take(&mut self.pulse).into()
    }

    fn may_ask(&self, lines: &Lines) -> bool {
        self.due(lines).is_some()
    }
}
