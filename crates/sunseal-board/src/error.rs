// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a board, its parts, or a program's run on it.

use sunseal_mcu::{DeviceError, ElfError, MachineError};
use sunseal_power::{PartError, PowerError};

/// Reason for which a board could not be put together, or a program's trial on it did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The board's file is missing or cannot be used.
    #[error("board {name}: {reason}")]
    Board {
        /// The board that was asked for.
        name: String,
        /// Place in it, and what is wrong there.
        reason: String,
    },
    /// The file of a part is missing or cannot be used.
    #[error("part {name}: {reason}")]
    PartFile {
        /// The part that was asked for.
        name: String,
        /// The file, or the folders looked in, and what is wrong.
        reason: String,
    },
    /// The program did not reach its marks, or did what cannot be.
    #[error("{0}")]
    Trial(String),
    /// Whoever was told of a trial's progress has ended it.
    #[error("the run was stopped")]
    Stopped,
    /// The device's data are not sound.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A part is not there, or is of another kind.
    #[error(transparent)]
    Part(#[from] PartError),
    /// A power set is not sound.
    #[error(transparent)]
    Power(#[from] PowerError),
    /// The program is no ELF, or lacks a symbol.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// The machine cannot take what it is given.
    #[error(transparent)]
    Machine(#[from] MachineError),
}
