// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that a machine refuses, each a sentence.

use crate::elf::ElfError;

/// What a machine was asked that it cannot do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// A serial interface that the device does not have.
    #[error("`{name}` is no serial interface of this device; the known ones are {known}")]
    NoSerial {
        /// What was asked for.
        name: String,
        /// The device's serial interfaces, for the sentence.
        known: String,
    },
    /// A part with an I2C address on an interface without I2C.
    #[error("`{name}` speaks no I2C; of {device} {known} do")]
    NoI2c {
        /// What was asked for.
        name: String,
        /// The device's name, as its file in data/devices.
        device: String,
        /// The interfaces that do speak it, for the sentence.
        known: String,
    },
    /// Two parts at one I2C address.
    #[error("{part} cannot have I2C address {address:#04x} on {serial}: {other} has it")]
    AddressTaken {
        /// The part that was attached second and is refused.
        part: String,
        /// The part that answers there already.
        other: String,
        /// The serial interface whose bus it is, as `eusci_b0`.
        serial: String,
        /// The I2C address that both claim, of seven bits.
        address: u8,
    },
    /// Unknown timer or capture input.
    #[error("`{0}` is no capture input; write timer, block and input as in tb0, 6, B")]
    NoCapture(String),
    /// An oscillator that the device does not have, or that takes no crystal.
    #[error("`{0}` is no oscillator of this device that takes a crystal")]
    NoOscillator(String),
    /// A register that the core does not have.
    #[error("`{name}` is no register of this device's core; the known ones are {known}")]
    NoRegister {
        /// What was asked for.
        name: String,
        /// The core's registers, for the sentence.
        known: String,
    },
    /// A peripheral's register that the CPU could not read.
    #[error("no register can be read there: {0}")]
    NoRegisterThere(String),
    /// Memory that is not there.
    #[error("{bytes} bytes at {addr:#07x} are not all memory of {device}")]
    NoMemory {
        addr: u32,
        bytes: usize,
        /// The device's name, as its file in data/devices.
        device: String,
    },
    /// Not a snapshot of such a machine.
    #[error(
        "the snapshot does not fit: {0}; restore it into a machine with the same device and the same parts attached"
    )]
    Snapshot(String),
    /// The image could not be used.
    #[error(transparent)]
    Elf(#[from] ElfError),
}
