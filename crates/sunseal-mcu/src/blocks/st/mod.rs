// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peripheral blocks of STMicroelectronics' parts, with the register names of the reference manuals
//! (RM0351 for the STM32L4x6). Registers are 32 bits wide; a narrower access is an access under a mask.

pub(crate) mod adc;
pub(crate) mod art;
pub(crate) mod crc;
pub(crate) mod dma;
pub(crate) mod exti;
pub(crate) mod flash;
pub(crate) mod gpio;
pub(crate) mod i2c;
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

use super::{Access, Family};

pub(crate) use super::wide::{Block, merge};

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

/// The STM32L4 as its blocks see it: each has been told its clock.
pub(crate) enum Stm32 {}

impl Family for Stm32 {
    type Lines = ();
    type Fx = Fx;
    type Beside = Beside;
}

#[derive(Clone, Copy)]
pub(crate) struct Beside {
    /// Of this unit's random numbers.
    pub seed: u64,
    /// PWR_CR1.DBP: registers of the backup domain may be written.
    pub backup_writable: bool,
}

pub(crate) type Cx<'a> = Access<'a, Stm32>;

/// Refuses bits of a register whose functions are not modelled.
pub(crate) fn only(value: u32, known: u32, what: &str, cx: &Cx<'_>) -> Result<(), Fault> {
    match value & !known {
        0 => Ok(()),
        _ => Err(cx.refuse(what)),
    }
}
