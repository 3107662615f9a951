// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430 and MSP430X: their instructions drawn at random, single steps, and programs beside mspdebug's
//! simulator.

#[path = "../../../sunseal-isa/tests/asm/mod.rs"]
pub mod asm;
pub mod compiled;
pub mod mspdebug;
mod steps;

pub use compiled::Compiled;
pub use mspdebug::Mspdebug;
pub use steps::SingleStep;
