// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine: instruction set, peripherals and device data.
//!
//! [`Device`] holds the facts of a part, [`Elf`] an image for it, [`Machine`] runs the one on the
//! other and counts what happens under the names of its vocabulary. It knows volts only to refuse
//! what the part forbids; joules are another room's.

mod accounts;
mod chips;
mod clock;
mod common;
pub mod coverage;
pub mod device;
pub mod elf;
mod engine;
pub mod gdb;
pub mod leakage;
mod lint;
pub mod listing;
mod machine;
pub mod offline;
mod peripherals;
mod pin;
pub mod profile;
pub mod resets;
pub mod startup;
pub mod taint;
pub mod vcd;
pub mod war;
pub mod watch;

pub use common::{Probe, UartByte};
pub use device::{Device, DeviceError};
pub use elf::{Elf, ElfError, Sizes, SourceLine, Symbol};
pub use lint::{Lint, LintKind};
pub use machine::{Machine, MachineError, Register, Snapshot, Stop, Until};
pub use pin::{Held, PORT_J, Part, Pin, PinEdge, PinError, Wiring};
pub use sunseal_isa::{Fault, FaultKind};
