// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of a run.

use sunseal_board::BoardError;
use sunseal_mcu::{ElfError, MachineError};
use sunseal_power::{HarvestError, PartError, PowerError};

use crate::AirError;

/// Reason for which a scenario could not be played, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Mistake in the scenario file.
    #[error("scenario {path}: {reason}")]
    Scenario {
        /// Path of the file.
        path: String,
        /// Place in the file, and what is wrong there.
        reason: String,
    },
    /// The record could not be kept.
    #[error("{path} cannot be written: {reason}")]
    Output {
        /// Path of the file.
        path: String,
        /// Words of the operating system.
        reason: String,
    },
    /// The file that a run was to go on from, or to be kept in.
    #[error("checkpoint {path}: {reason}")]
    Checkpoint {
        /// Path of the file.
        path: String,
        /// Clause that tells what is wrong with it, and what would be right.
        reason: String,
    },
    /// Mistake in the program's file.
    #[error("firmware {path}: {reason}")]
    Firmware {
        /// Path of the file.
        path: String,
        /// Clause that tells what is wrong.
        reason: String,
    },
    /// The program broke a rule of the machine.
    #[error("at {time_s:.6} s the program stopped: {fault}")]
    Fault {
        /// Time at which it happened.
        time_s: f64,
        /// Fault of the machine, in words.
        fault: String,
    },
    /// The radio was asked for what its model does not have, or the gateway failed.
    #[error("at {time_s:.6} s: {what}")]
    Radio {
        /// Time at which it happened.
        time_s: f64,
        /// Thing that cannot be, in words.
        what: String,
    },
    /// Energy balance that does not close.
    #[error(transparent)]
    Balance(sunseal_power::Unclosed),
    /// The board, what is on it, its program and its power sets.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// Mistake in the light.
    #[error(transparent)]
    Harvest(#[from] HarvestError),
    /// Failure of the gateway.
    #[error(transparent)]
    Air(#[from] AirError),
}

macro_rules! of_board {
    ($($error:ty),*) => {
        $(impl From<$error> for NodeError {
            fn from(error: $error) -> Self {
                Self::Board(error.into())
            }
        })*
    };
}
of_board!(PartError, PowerError, ElfError, MachineError);
