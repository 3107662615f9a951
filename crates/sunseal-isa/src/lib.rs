// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruction sets: decode, execute and disassemble over a bus.
//!
//! A core knows a bus (each family its own, as wide as its data path); a machine knows a core. No core knows a peripheral or a joule.

#[macro_use]
mod constants;
#[macro_use]
mod processor;
#[macro_use]
mod switch;

pub mod avr;
mod breakpoints;
mod dataflow;
mod fault;
pub mod msp430;
mod threading;
pub mod thumb;

pub use dataflow::{Dataflow, Registers, Transfer};
pub use fault::{Fault, FaultKind};
pub use sunseal_trace::{Access, Cycles, Flow, Observer, Silent, Width};
pub use switch::Switch;
