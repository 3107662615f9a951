// SPDX-License-Identifier: MIT OR Apache-2.0
//! Radio chips behind SPI or pins, and the air between them.
//!
//! - [`Radio`]: a CC2500, CC2420, CC2520 or CC1000 as a machine's program sees it, with its registers,
//!   state machine, timings and states that cost energy; [`RadioHandle`] watches it from outside;
//! - [`Air`]: what answers a CC2500 by way of a gateway;
//! - [`Medium`]: one air for many nodes: loss, interference, collisions, carrier sense; [`capture_file`]
//!   is what Wireshark opens of it;
//! - [`attach`]: a radio on a machine as a board's file wires it; [`Network`]: such machines on one
//!   medium, in lock-step.

mod air;
mod capture;
mod cc1000;
mod cc2420;
mod cc2500;
mod cc2520;
mod chip;
mod gateway;
mod ieee802154;
mod medium;
mod modem;
mod modem_chip;
mod network;
mod parts;
mod security;
mod wiring;

pub use air::{Air, AirError, Answer, Chance, FaultyAir, GatewayAir, LoopbackAir, Sent, Silence};
pub use capture::capture_file;
pub use cc1000::Cc1000Pins;
pub use cc2420::Cc2420Pins;
pub use cc2500::RadioPins;
pub use cc2520::Cc2520Pins;
pub use chip::{AirPacket, Radio, RadioCounts, RadioHandle};
pub use ieee802154::fcs;
pub use medium::{Captured, LinkLoss, Medium, MediumConfig, Phy, Port, Position};
pub use network::{Member, Network, NetworkError, step};
pub use parts::{
    Cc1000Part, Cc2420Part, Cc2500Part, Cc2520Part, LoraModem, LoraPart, MessagePart, PricedPart,
    RadioPart, ReceiverPart,
};
pub use wiring::{Antenna, WiringError, attach};
