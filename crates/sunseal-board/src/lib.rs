// SPDX-License-Identifier: MIT OR Apache-2.0
//! A board out of its file: what sits on it, what it draws, and how a program runs on it from mark to mark.
//!
//! - [`Board`]: a device, its parts and its wiring; [`Board::machine`] and [`Board::fit`] put it together;
//! - [`PartFile`]: a part's whole file, checked as its users would;
//! - [`Prices`]: the power sets of chip, radio and what is left of the board; [`limits_of`]: its legal clocks;
//! - [`Trial`]: one run of a program between its marks; [`Moment`]: the books at a time, from which such a run counts.

mod board;
mod error;
mod fit;
mod part_file;
mod prices;
mod trial;

pub use board::{
    Absent, Board, BoardBattery, BoardBus, BoardLog, BoardPower, BoardSupply, BoardTrigger, Fuses,
    NO_RADIO, Pull, StorageSense,
};
pub use error::BoardError;
pub use fit::{Fitted, Fpgas, broken_contract};
pub use part_file::{Gap, PartFile, Partial, Tolerance};
pub use prices::{Prices, RESIDUAL, limits_of};
pub use sunseal_radio::Antenna;
pub use trial::{Counted, Moment, Trial, Window};
