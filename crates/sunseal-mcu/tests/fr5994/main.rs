// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430FR5994, tested by small programs that name registers as the manual does.

#[path = "../../../sunseal-isa/tests/asm/mod.rs"]
mod asm;
#[path = "../bus/mod.rs"]
mod bus;
#[allow(dead_code)]
#[path = "../instruments/fixture.rs"]
mod fixture;
#[path = "../stops/mod.rs"]
mod stops;
mod support;

mod aes;
mod analogue;
mod breakpoints;
mod cache;
mod clocks;
mod compiled;
mod cuts;
mod dma;
mod fram;
mod i2c;
mod modules;
mod power;
mod siblings;
mod startup;
