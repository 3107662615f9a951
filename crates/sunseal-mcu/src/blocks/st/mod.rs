// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peripheral blocks of STMicroelectronics' parts, with the register names of the reference manuals
//! (RM0351 for the STM32L4x6). Registers are 32 bits wide; a narrower access is an access under a mask.

pub(crate) mod art;
pub(crate) mod exti;
pub(crate) mod flash;
pub(crate) mod gpio;
pub(crate) mod iwdg;
pub(crate) mod lptim;
pub(crate) mod rng;
pub(crate) mod rtc;
pub(crate) mod spi;
pub(crate) mod syscfg;
pub(crate) mod tim;
pub(crate) mod usart;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::{Cycles, Picos};

use crate::accounts::Accounts;
use crate::clock::Line;
use crate::device::Stm32l4;
use crate::instruments::lint::{LintKind, Lints};
use crate::instruments::taint::Follow;

pub(crate) use super::wide::merge;

/// Why the chip is reset: the flag of RCC_CSR that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Cause {
    /// The supply came up, or fell below the brown-out level.
    Brownout,
    /// Software asked for it by AIRCR.SYSRESETREQ.
    Software,
    /// The independent watchdog ran out.
    Watchdog,
}

/// What an access or an event leads to outside its block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fx {
    pub reset: Option<Cause>,
    /// Clock lines or the operating point may have changed.
    pub clocks: bool,
    /// Wait states or caches have changed.
    pub memory: bool,
    /// An output pin may have changed.
    pub pins: bool,
    /// The backup domain is reset.
    pub backup_reset: bool,
    /// Peripherals reset by RCC: the offset of an enable register, and the bits there.
    pub blocks_reset: Option<(u32, u32)>,
}

/// What a block sees during an access or an event.
pub(crate) struct Cx<'a> {
    pub now: Picos,
    pub at: Cycles,
    pub addr: u32,
    pub dev: &'a Stm32l4,
    pub chip: &'a str,
    pub accounts: &'a mut Accounts,
    pub lints: &'a mut Lints,
    pub fx: &'a mut Fx,
    /// Of this unit's random numbers.
    pub seed: u64,
    /// PWR_CR1.DBP: registers of the backup domain may be written.
    pub backup_writable: bool,
}

impl Cx<'_> {
    #[cold]
    pub fn no_register(&self) -> Fault {
        Fault::device(self.addr, format!("{} has no modelled register here", self.chip))
    }

    #[cold]
    pub fn refuse(&self, what: impl Into<String>) -> Fault {
        Fault::device(self.addr, what)
    }

    pub fn lint(&mut self, kind: LintKind) {
        self.lints.report(kind, self.addr, self.at);
    }
}

/// A peripheral block on a 32-bit bus.
pub(crate) trait Block {
    /// How secrets go through it.
    const TAINT: Follow = Follow::Hole;

    fn read(&mut self, off: u32, mask: u32, cx: &mut Cx<'_>) -> Result<u32, Fault>;
    fn write(&mut self, off: u32, value: u32, mask: u32, cx: &mut Cx<'_>) -> Result<(), Fault>;

    /// Its clock is now another, or ticks at another rate.
    fn clocked(&mut self, _clock: &Line, _now: Picos) {}

    /// When something happens in it next.
    fn due(&self) -> Option<Picos> {
        None
    }

    /// What is due at `t` happens, where nothing outside the block takes part.
    fn advance(&mut self, _t: Picos) {}

    /// Whether its interrupt is asked for.
    fn asks(&self) -> bool {
        false
    }

    /// Whether an interrupt that is enabled may come by itself.
    fn may_ask(&self) -> bool {
        false
    }
}

/// Refuses bits of a register whose functions are not modelled.
pub(crate) fn only(value: u32, known: u32, what: &str, cx: &Cx<'_>) -> Result<(), Fault> {
    match value & !known {
        0 => Ok(()),
        _ => Err(cx.refuse(what)),
    }
}
