// SPDX-License-Identifier: MIT OR Apache-2.0
//! What blocks on a 32-bit bus see. Registers are 16 or 32 bits wide; a narrower access is an access
//! under a mask.

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::{Cycles, Picos};

use crate::accounts::Accounts;
use crate::clock::{Clocks, Line};
use crate::device::Msp432;
use crate::instruments::lint::{LintKind, Lints};

/// Classes of reset, deepest last (SLAU356I chapter 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Class {
    /// The processor and what it runs; clocks, power and flash settings stay.
    Soft,
    /// All that software set, but not the clock and power system.
    Hard,
    /// From the boot code on.
    Reboot,
    /// All but what the RTC keeps over LPM3.5.
    Por,
}

/// What an access or an event leads to outside its block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fx {
    /// The class of a reset and the number of its source within RSTCTL's registers.
    pub reset: Option<(Class, u8)>,
    /// Clock lines or the operating point may have changed.
    pub clocks: bool,
    /// Wait states, banks or the ways of reading have changed.
    pub memory: bool,
}

/// The clock lines of the chip. Ticks of `base.mclk` are the CPU's cycles; `fclk` has its rate and
/// goes on while the CPU sleeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lines {
    pub base: Clocks,
    pub fclk: Line,
    pub hsmclk: Line,
    pub bclk: Line,
    pub sysosc: Line,
}

impl Lines {
    pub const STOPPED: Self = Self {
        base: Clocks::STOPPED,
        fclk: Line::STOPPED,
        hsmclk: Line::STOPPED,
        bclk: Line::STOPPED,
        sysosc: Line::STOPPED,
    };
}

/// What a block sees during an access or an event.
pub(crate) struct Cx<'a> {
    pub now: Picos,
    pub at: Cycles,
    pub addr: u32,
    pub clocks: &'a Lines,
    pub dev: &'a Msp432,
    pub accounts: &'a mut Accounts,
    pub lints: &'a mut Lints,
    pub fx: &'a mut Fx,
    pub vcc_v: f64,
}

impl Cx<'_> {
    #[cold]
    pub fn no_register(&self) -> Fault {
        Fault::device(self.addr, "msp432p401r has no modelled register here")
    }

    #[cold]
    pub fn refuse(&self, what: impl Into<String>) -> Fault {
        Fault::device(self.addr, what)
    }

    pub fn reset(&mut self, class: Class, source: u8) {
        if self.fx.reset.is_none_or(|(c, _)| c < class) {
            self.fx.reset = Some((class, source));
        }
    }

    pub fn lint(&mut self, kind: LintKind) {
        self.lints.report(kind, self.addr, self.at);
    }
}

/// `old` with the masked bits from `value`.
pub(crate) fn merge(old: u32, value: u32, mask: u32) -> u32 {
    (old & !mask) | (value & mask)
}

/// The same for a register of 16 bits.
pub(crate) fn merge16(old: u16, value: u32, mask: u32) -> u16 {
    merge(u32::from(old), value, mask) as u16
}

/// The earlier of times that may never come.
pub(crate) fn sooner(a: Option<Picos>, b: Option<Picos>) -> Option<Picos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
