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
    /// The board and what is on it.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// Parts.
    #[error(transparent)]
    Part(#[from] PartError),
    /// Coefficients.
    #[error(transparent)]
    Power(#[from] PowerError),
    /// Light.
    #[error(transparent)]
    Harvest(#[from] HarvestError),
    /// Program image.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Machine.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// Gateway.
    #[error(transparent)]
    Air(#[from] AirError),
}
