// SPDX-License-Identifier: MIT OR Apache-2.0
//! For developers of the instruction sets: test files of single instructions, and random programs run here
//! and in another simulator. Two traits; each instruction set has its module with one of each. And a third for the
//! programs of GCC's torture tests.
//!
//! - [`single_step::Core`]: draws an instruction with a state it can run in, and runs it.
//! - [`fuzz::Target`]: draws programs and judges them against the other simulator.
//! - [`torture::Place`]: compiles a program of GCC's and runs it here and in the other simulator.

pub mod avr;
pub mod fuzz;
pub mod likely;
pub mod memory;
pub mod msp430;
pub mod performance;
pub mod random;
pub mod single_step;
pub mod thumb;
pub mod tools;
pub mod torture;
