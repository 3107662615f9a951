// SPDX-License-Identifier: MIT OR Apache-2.0
//! The node's cryptography as it runs on the simulated part, in every multiplier variant: known answers,
//! constant time, the calling convention, and the costs that `firmware/crypto/COSTS.md` states.
#![allow(missing_docs)]

mod assembly;
mod constant_time;
mod costs;
mod known_answers;
mod tainted;
mod target;
mod traces_left;
mod vectors;
