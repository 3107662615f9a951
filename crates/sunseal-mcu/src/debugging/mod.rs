// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drivers of a machine: a debugger's server, a recorder of waveforms.

pub mod gdb;
pub mod vcd;
