// SPDX-License-Identifier: MIT OR Apache-2.0
//! How anything is connected to a chip: [`Pin`]s, the [`Wiring`], and [`Part`], which radios, sensors, coprocessors and a
//! user's own parts are.

mod part;
mod pin;

pub use part::{Held, Part, Signal, Wiring};
pub use pin::{PORT_J, Pin, PinError};
