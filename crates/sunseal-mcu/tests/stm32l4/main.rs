// SPDX-License-Identifier: MIT OR Apache-2.0
//! The STM32L476RG, tested by small programs that name registers as RM0351 does.

#[path = "../arm_programs/mod.rs"]
mod arm_programs;
mod clocks;
mod flash;
mod peripherals;
mod power;
mod support;
