// SPDX-License-Identifier: MIT OR Apache-2.0
//! The coprocessor of `hdl/` as a part of a board: its Verilated model, stepped beside a microcontroller.
//!
//! [`FpgaPart`] is table `[fpga]` of a file in `data/parts`, [`wire`] makes the [`Part`](sunseal_part::Part) of it and a
//! board's wires, [`FpgaHandle`] says what it counted. The model is a library that `hdl/model/build` makes where Verilator
//! is; without it everything else works, and wiring this part gives a sentence.

mod coprocessor;
mod model;
mod wiring;

pub use coprocessor::{Coprocessor, FpgaCounts, FpgaHandle};
pub use model::MODELS;
pub use wiring::{FpgaPart, Rail, Wired, wire};

/// Why a coprocessor could not be put on a board.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HdlError {
    /// Nobody has made the model.
    #[error(
        "the coprocessor's model `{name}` is not built; run `python3 hdl/model/build {name}`, which needs Verilator (`python3 firmware/toolchain/get --for hdl`), and set {MODELS} to the folder that `python3 hdl/model/build --folder` prints"
    )]
    Missing {
        /// Name of the model, such as `parallel`.
        name: String,
    },
    /// The model's library cannot be used.
    #[error("the coprocessor's model {path} {reason}")]
    Library {
        /// The shared library that was looked for.
        path: String,
        /// What the loader says of it.
        reason: String,
    },
    /// A wire that is wrong.
    #[error("[[part]] {key}: {reason}")]
    Wire {
        /// The key of the board's or part's file.
        key: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A clock outside its limits.
    #[error("the coprocessor's clock of {clock_mhz} MHz {reason}")]
    Clock {
        /// The clock of the FPGA that was asked for.
        clock_mhz: f64,
        /// What limit, with the figure.
        reason: String,
    },
}
