// SPDX-License-Identifier: MIT OR Apache-2.0
//! The node's signatures as they run on the simulated part, in every multiplier variant: the traces of many
//! secrets are the same, and nothing of a secret is left in memory behind a call. Known answers, secrets
//! followed, costs and the calling convention, on every target: `firmware/tests`.

mod constant_time;
mod target;
mod traces_left;
mod vectors;
