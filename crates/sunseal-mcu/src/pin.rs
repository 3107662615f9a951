// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins and parts, which are `sunseal-part`'s, and the record of pins.

use serde::{Deserialize, Serialize};
use sunseal_trace::{Cycles, Picos};

pub use sunseal_part::{Held, PORT_J, Part, Pin, PinError, Wiring};

/// An output pin that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinEdge {
    /// Machine time in picoseconds.
    pub time_ps: u128,
    pub cycles: Cycles,
    pub pin: Pin,
    pub level: bool,
}

impl PinEdge {
    /// Time at which the level changed.
    #[must_use]
    pub fn time(&self) -> Picos {
        Picos(self.time_ps)
    }
}
