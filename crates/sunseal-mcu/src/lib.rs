// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine: instruction set, peripherals and device data.
//!
//! [`Device`] holds the facts of a part, [`Elf`] an image for it, [`Machine`] runs the one on the
//! other and counts what happens under the names of its vocabulary. It knows volts only to refuse
//! what the part forbids; joules are another room's.

mod accounts;
mod blocks;
mod clock;
mod common;
mod cores;
mod debugging;
pub mod device;
pub mod elf;
mod engine;
mod error;
mod families;
mod instruments;
mod lint;
pub mod listing;
mod machine;
mod pin;
pub mod resets;
pub mod startup;
mod stop;

pub use blocks::serial::heard;
pub use common::{OVERCLOCK, Probe, UartByte};
pub use debugging::{gdb, vcd};
pub use device::{Device, DeviceError};
pub use elf::{Elf, ElfError, Sizes, SourceLine, Symbol};
pub use error::MachineError;
pub use instruments::{coverage, leakage, offline, profile, taint, war, watch};
pub use lint::{ClockOutput, Lint, LintKind};
pub use machine::{Machine, Snapshot};
pub use pin::{Held, PORT_J, Part, Pin, PinEdge, PinError, Wiring};
pub use stop::{Register, Stop, Until};
pub use sunseal_isa::thumb::it_state;
pub use sunseal_isa::{Fault, FaultKind};
