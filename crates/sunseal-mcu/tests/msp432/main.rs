// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP432P401R, tested by small programs that name registers as the manuals do.

#[path = "../arm_programs/mod.rs"]
mod arm_programs;
#[path = "../stops/mod.rs"]
mod stops;
mod support;

mod breakpoints;
mod exceptions;
mod memory;
mod peripherals;
mod power;
