// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chip families: which blocks a chip has and how they hang together, its clock system, its power
//! management and its low-power modes.

mod atmega128;
mod f1xx;
mod f5xx;
mod fr5xx;
pub(crate) mod msp432p4;

pub(crate) use atmega128::Avr;
pub(crate) use f1xx::F1xx;
pub(crate) use f5xx::{ERASE, F5xx, WRITE};
pub(crate) use fr5xx::Fr5xx;
pub(crate) use msp432p4::Msp432;
