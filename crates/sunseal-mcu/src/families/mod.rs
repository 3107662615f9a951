// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chip families: which blocks a chip has and how they hang together, its clock system, its power
//! management and its low-power modes.

mod atmega128;
pub(crate) mod f1xx;
pub(crate) mod f5xx;
pub(crate) mod fr5xx;
pub(crate) mod msp430;
pub(crate) mod msp432p4;
pub(crate) mod stm32l4;

use crate::device::{Device, Facts};
use crate::instruments::taint::Follow;

pub(crate) use atmega128::Avr;
pub(crate) use f1xx::F1xx;
pub(crate) use f5xx::F5xx;
pub(crate) use fr5xx::Fr5xx;
pub(crate) use msp430::{ERASE, WRITE};
pub(crate) use msp432p4::Msp432;
pub(crate) use stm32l4::Stm32l4;

/// How secrets go through a block of `device`.
pub(crate) fn follow(device: &Device, block: &str) -> Follow {
    let known = match &device.facts {
        Facts::Atmega128(_) => atmega128::known(),
        Facts::F1xx(_) => f1xx::known(),
        Facts::F5xx(_) => f5xx::Blocks::known(),
        Facts::Fr5xx(_) => fr5xx::Blocks::known(),
        Facts::Msp432(_) => msp432p4::known(),
        Facts::Stm32l4(_) => stm32l4::known(),
    };
    known.into_iter().find(|(name, _)| *name == block).map_or(Follow::Hole, |(_, rule)| rule)
}
