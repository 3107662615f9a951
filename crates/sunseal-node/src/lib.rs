// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop: machine, power and radio.

mod air;
mod cc2500;

pub use air::{Air, AirError, Answer, Chance, FaultyAir, GatewayAir, LoopbackAir, Sent, Silence};
pub use cc2500::{AirPacket, Cc2500, RadioCounts, RadioHandle, RadioPins};
