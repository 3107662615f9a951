// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts times coefficients are joules; and where the joules come from.
//!
//! - [`PowerSet`] and [`PowerModel`]: coefficients from `data/power`, each with its source and interval;
//! - [`PowerModel::weigh`]: a [`sunseal_trace::Ledger`] priced at any legal voltage and clock;
//! - [`Limits`]: which voltages and clocks are legal;
//! - [`MeasurementUnit`]: what Mane's shunt and converter would have read;
//! - [`HarvestTrace`], [`Supply`]: light, harvester, supercapacitor, regulated output.
//!
//! A coefficient that is missing is an error that names it, never a zero.

mod harvest;
mod interval;
mod iv;
mod law;
mod limits;
mod measure;
mod parts;
mod set;
mod storage;
mod supply;
pub mod toml_error;
pub mod units;
mod weigh;

pub use harvest::{HarvestError, HarvestTrace};
pub use interval::Interval;
pub use iv::{IvCurve, Light, SingleDiode};
pub use law::{CurrentLaw, EventLaw};
pub use limits::{Level, LimitError, Limits};
pub use measure::{MeasureError, Measurement, MeasurementUnit, Segment};
pub use parts::{
    CapacitorPart, HarvesterPart, OverheadReading, PanelPart, PartError, load_part, names_in,
};
pub use set::{Anchor, Coefficient, PowerError, PowerModel, PowerSet, Source};
pub use storage::{Flow, Storage};
pub use supply::{Advance, Boundary, Load, Supply, SupplyConfig, SupplyError, SupplySums};
pub use weigh::{Clock, CurvePoint, EnergyBreakdown, Item, ItemKind};
