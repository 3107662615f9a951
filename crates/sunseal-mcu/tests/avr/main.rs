// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ATmega128L, tested by small assembly programs with avr-libc's register names, and by compiled ones.

#[allow(dead_code)]
#[path = "../bus/mod.rs"]
mod bus;
#[path = "../stops/mod.rs"]
mod stops;
mod support;

mod analog;
mod breakpoints;
mod compiled;
mod interrupts;
mod memory;
mod ports;
mod power;
mod serial;
mod sleep;
mod timers;
mod twi;
