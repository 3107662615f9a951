// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine, tested by small programs that name registers as the manual does.

#[path = "../../../sunseal-isa/tests/asm/mod.rs"]
mod asm;
#[path = "../bus/mod.rs"]
#[allow(dead_code)]
mod bus;
mod support;

mod adc;
mod clocks;
mod elf;
mod flash;
mod mpy32;
mod ports;
mod power;
mod profiles;
mod snapshots;
mod timer_reference;
mod timers;
mod usci;
