// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chips: a core with its memory and peripherals, one module a family.

mod avr;
mod f1xx;
mod f5xx;
mod fr5xx;
mod msp430;
pub(crate) mod msp432;

pub(crate) use avr::Avr;
pub(crate) use f1xx::F1xx;
pub(crate) use f5xx::{ERASE, F5xx, WRITE};
pub(crate) use fr5xx::Fr5xx;
pub(crate) use msp430::Msp430;
pub(crate) use msp432::Msp432;
