// SPDX-License-Identifier: MIT OR Apache-2.0
//! The closed loop: machine, power and radio.
//!
//! - [`Scenario`]: what is played, read strictly from TOML;
//! - a board and what is on it are `sunseal-board`'s;
//! - the radio and what answers it are `sunseal-radio`'s, given on here;
//! - [`Node`]: the loop; [`RunRecord`]: what it leaves behind;
//! - [`inject`]: power lost at any cycle of a stretch, and what the program makes of it.

mod config;
mod coupons;
mod error;
mod fleet;
pub mod inject;
mod inputs;
mod load;
mod node;
mod record;
mod scenario;
mod vain;

pub use config::{Mode, NodeConfig};
pub use coupons::{CouponConfig, CouponKind, CouponRecord};
pub use error::NodeError;
pub use fleet::{
    CouponFate, CouponProfile, Done, Fate, FleetError, Individual, NodeProfile, Task, Work, play,
};
pub use inputs::{BusDevice, Voltage, check_points, voltage_at};
pub use load::{LoadChoice, LoadRecord, LoadStep, Repeated, play_load};
pub use node::{Node, Progress};
pub use record::{
    Activity, EnergyRecord, Event, FunctionEnergy, Messages, RunRecord, SeriesPoint, Stretch,
    Window,
};
pub use scenario::{
    Faults, GatewayChoice, HarvestChoice, Output, PowerChoice, Scenario, Sunlight, SupplyChoice,
    Until, Written,
};
pub use sunseal_radio::{
    Air, AirError, AirPacket, Answer, Chance, FaultyAir, GatewayAir, LoopbackAir, Radio,
    RadioCounts, RadioHandle, RadioPart, RadioPins, Sent, Silence,
};
