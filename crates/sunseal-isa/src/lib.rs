// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruction sets: decode, execute and disassemble over a bus.
//!
//! A core knows a [`Bus`]; a machine knows a core. No core knows a peripheral or a joule.

mod bus;
mod fault;
pub mod msp430;

pub use bus::{Bus, FlatBus, PageKind};
pub use fault::{Fault, FaultKind};
pub use sunseal_trace::{Access, Cycles, Flow, Observer, Silent, Width};
