// SPDX-License-Identifier: MIT OR Apache-2.0
//! What belongs to a CPU core and not to the chip around it: memory as the core sees it, sleep,
//! interrupts and exceptions.

pub(crate) mod armv7m;
pub(crate) mod msp430;
