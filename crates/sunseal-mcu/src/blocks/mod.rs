// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peripheral blocks, one file each, with their makers' register names. A suffix tells apart blocks of one
//! name: `_p4` is that of the MSP432P4xx.
//!
//! Registers are words: a byte access is a word access under a mask. Each peripheral says when its
//! next event is due; the machine calls it then. What is not modelled traps.

// A list of ranges may have one.
#![allow(clippy::single_range_in_vec_init)]

mod adc12;
pub(crate) mod adc12_a;
pub(crate) mod adc12_b;
pub(crate) mod adc14;
pub(crate) mod aes256;
pub(crate) mod avr;
pub(crate) mod block;
pub(crate) mod crc16;
pub(crate) mod crc32;
pub(crate) mod crc32_p4;
pub(crate) mod dio_p4;
pub(crate) mod dma;
pub(crate) mod eusci;
pub(crate) mod flash;
pub(crate) mod flash_cells;
pub(crate) mod flash_f1xx;
pub(crate) mod flctl;
pub(crate) mod follow;
pub(crate) mod fram;
pub(crate) mod i2c;
pub(crate) mod mpu;
pub(crate) mod mpy32;
pub(crate) mod net;
mod pins;
pub(crate) mod port;
pub(crate) mod ram_control;
pub(crate) mod ref_a;
pub(crate) mod ref_a_p4;
pub(crate) mod reference;
pub(crate) mod rtc;
pub(crate) mod rtc_c_p4;
pub(crate) mod serial;
pub(crate) mod sfr;
pub(crate) mod st;
pub(crate) mod sys;
pub(crate) mod timer32;
pub(crate) mod timer_a;
pub(crate) mod udma;
mod universal;
pub(crate) mod usart;
pub(crate) mod usci;
pub(crate) mod wdt;
pub(crate) mod wdt_a;
pub(crate) mod wdt_a_p4;
pub(crate) mod wide;

use serde::{Deserialize, Serialize};
use sunseal_isa::Fault;
use sunseal_trace::{Cycles, Picos};

pub(crate) use block::{Block, Reset};

use crate::accounts::Accounts;
use crate::clock::Clocks;
use crate::device::Device;
use crate::lint::{LintKind, Lints};

/// Names and kinds of blocks, and the names of their interrupts.
pub(crate) type Made = (Vec<(&'static str, &'static str)>, Vec<&'static str>);

/// How deep a reset goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum ResetKind {
    Puc,
    Por,
    Bor,
}

/// Codes of resets in SYSRSTIV, by cause.
pub(crate) mod cause {
    use crate::resets::ResetCause;

    pub const BOR: u8 = 0x02;
    pub const DOBOR: u8 = 0x06;
    pub const SVSH: u8 = 0x0E;
    pub const DOPOR: u8 = 0x14;
    pub const WDTTO: u8 = 0x16;
    pub const WDTKEY: u8 = 0x18;
    pub const KEYV: u8 = 0x1A;
    pub const PMMKEY: u8 = 0x20;
    // FR5xx.
    pub const LPM5WU: u8 = 0x08;
    pub const FRCTLPW: u8 = 0x1A;
    pub const MPUPW: u8 = 0x22;
    pub const CSPW: u8 = 0x24;
    pub const MPUSEGI: u8 = 0x28;
    pub const MPUSEG1: u8 = 0x2A;
    pub const MPUSEG2: u8 = 0x2C;
    pub const MPUSEG3: u8 = 0x2E;

    /// What a code stands for.
    pub fn of(code: u8) -> ResetCause {
        match code {
            WDTTO => ResetCause::Watchdog,
            WDTKEY | KEYV | PMMKEY | MPUPW | CSPW => ResetCause::Password,
            MPUSEGI | MPUSEG1 | MPUSEG2 | MPUSEG3 => ResetCause::Protection,
            DOBOR | DOPOR => ResetCause::Software,
            _ => ResetCause::Other,
        }
    }
}

/// What a register access leads to outside its peripheral.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    pub reset: Option<(ResetKind, u8)>,
    pub clocks: bool,
    pub ofifg: bool,
    /// Rights to memory changed.
    pub protection: bool,
    /// A read changed what comes next.
    pub touched: bool,
}

/// What blocks of a family of chips see beside what those of every family do.
pub(crate) trait Family {
    type Lines;
    type Fx;
    /// What registers of other blocks say.
    type Beside: Copy;
}

/// The families whose bus is 16 bits wide.
pub(crate) enum Msp430 {}

impl Family for Msp430 {
    type Lines = Clocks;
    type Fx = Effects;
    /// SR bits that decide clocks and sleep.
    type Beside = u32;
}

/// What a block sees during an access or an event.
pub(crate) struct Access<'a, F: Family> {
    pub now: Picos,
    pub at: Cycles,
    pub addr: u32,
    pub clocks: &'a F::Lines,
    pub dev: &'a Device,
    pub accounts: &'a mut Accounts,
    pub lints: &'a mut Lints,
    pub fx: &'a mut F::Fx,
    pub vcc_v: f64,
    pub beside: F::Beside,
}

/// The same on a 16-bit bus.
pub(crate) type Ctx<'a> = Access<'a, Msp430>;

impl<F: Family> Access<'_, F> {
    #[cold]
    pub fn no_register(&self) -> Fault {
        Fault::device(self.addr, format!("{} has no modelled register here", self.dev.name))
    }

    #[cold]
    pub fn refuse(&self, what: impl Into<String>) -> Fault {
        Fault::device(self.addr, what)
    }

    pub fn lint(&mut self, kind: LintKind) {
        self.lints.report(kind, self.addr, self.at);
    }
}

impl Ctx<'_> {
    pub fn reset(&mut self, kind: ResetKind, cause: u8) {
        self.fx.reset = Some((kind, cause));
    }
}

/// The refusal of an access to no block that is modelled.
#[cold]
pub(crate) fn no_block(dev: &Device, addr: u32) -> Fault {
    match dev.gap_at(addr) {
        Some(g) => {
            Fault::device(addr, format!("register of {}, which is not modelled: {}", g.name, g.why))
        }
        None => Fault::unmapped(addr),
    }
}

/// `old` with the masked bits from `value`.
pub(crate) fn merge(old: u16, value: u16, mask: u16) -> u16 {
    (old & !mask) | (value & mask)
}
