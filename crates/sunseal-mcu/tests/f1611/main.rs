// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430F1611, tested by small programs that name registers as the manual does.

#[path = "../../../sunseal-isa/tests/asm/mod.rs"]
mod asm;
#[allow(dead_code, reason = "images of other compilers are another test's")]
#[path = "../instruments/fixture.rs"]
mod fixture;
mod support;

mod adc;
mod clocks;
mod compiled;
mod dma;
mod flash;
mod interrupts;
mod memory;
mod multiplier;
mod net;
mod power;
mod timers;
mod usart;
