// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop: machine, power and radio.
//!
//! - [`Scenario`]: what is played, read strictly from TOML;
//! - [`Board`]: a device, its parts and its wiring;
//! - [`Cc2500`]: the radio on its bus, and [`Air`]: what answers it;
//! - [`Node`]: the loop; [`RunRecord`]: what it leaves behind.

mod air;
mod board;
mod cc2500;
mod config;
mod error;
mod node;
mod record;
mod scenario;

pub use air::{Air, AirError, Answer, Chance, FaultyAir, GatewayAir, LoopbackAir, Sent, Silence};
pub use board::{Board, BoardLog, BoardPower, BoardRadio, BoardSupply, BoardTrigger, StorageSense};
pub use cc2500::{AirPacket, Cc2500, RadioCounts, RadioHandle, RadioPins};
pub use config::{Mode, NodeConfig};
pub use error::NodeError;
pub use node::{Node, Progress, limits_of};
pub use record::{Doing, EnergyRecord, Event, Messages, RunRecord, SeriesPoint, Stretch};
pub use scenario::{
    Faults, GatewayChoice, HarvestChoice, Output, PowerChoice, Scenario, Sunlight, SupplyChoice,
};
