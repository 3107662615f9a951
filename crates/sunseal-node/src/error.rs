// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong with a run.

use sunseal_board::BoardError;
use sunseal_mcu::{ElfError, MachineError};
use sunseal_power::{HarvestError, PartError, PowerError};

use crate::AirError;

/// Why a scenario could not be played, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The scenario file.
    #[error("scenario {path}: {reason}")]
    Scenario {
        /// Which file.
        path: String,
        /// Where and what.
        reason: String,
    },
    /// The record could not be kept.
    #[error("{path} cannot be written: {reason}")]
    Output {
        /// Which file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The file that a run was to go on from, or to be kept in.
    #[error("checkpoint {path}: {reason}")]
    Checkpoint {
        /// Which file.
        path: String,
        /// What is wrong with it, and what would be right.
        reason: String,
    },
    /// The program.
    #[error("firmware {path}: {reason}")]
    Firmware {
        /// Which file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The program broke a rule of the machine.
    #[error("at {time_s:.6} s the program stopped: {fault}")]
    Fault {
        /// When.
        time_s: f64,
        /// What.
        fault: String,
    },
    /// The radio was asked for what its model does not have, or the gateway failed.
    #[error("at {time_s:.6} s: {what}")]
    Radio {
        /// When.
        time_s: f64,
        /// What.
        what: String,
    },
    /// The energy balance.
    #[error(transparent)]
    Balance(sunseal_power::Unclosed),
    /// The board, what is on it, its program and its power sets.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// Light.
    #[error(transparent)]
    Harvest(#[from] HarvestError),
    /// Gateway.
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
