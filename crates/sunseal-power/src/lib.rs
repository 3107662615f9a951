// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts times coefficients are joules; and where the joules come from.
//!
//! - [`PowerSet`] and [`PowerModel`]: coefficients from `data/power`, each with its source and interval;
//! - [`PowerModel::weigh`]: a [`sunseal_trace::Ledger`] priced at any legal voltage and clock;
//! - [`Limits`]: which voltages and clocks are legal;
//! - [`MeasurementUnit`]: what Mane's shunt and converter would have read;
//! - [`Panel`]: a panel's curve in a light and at a temperature, and what its datasheet leaves open of it;
//! - [`HarvestTrace`]: what a source offers, as powers or as curves;
//! - [`Supply`]: a [`Charger`] from it, a [`Store`] of branches, an [`Output`] to the rail.
//!
//! A coefficient that is missing is an error that names it, never a zero.

mod battery;
mod cell;
mod chip;
mod circuit;
mod converter;
mod dormand_prince;
mod harvest;
mod interval;
mod iv;
mod law;
mod limits;
mod measure;
mod panel;
mod parts;
mod quadrature;
mod set;
mod storage;
mod store;
mod supply;
pub mod units;
mod weigh;

pub use battery::{Battery, BatteryError, Use};
pub use cell::{CellRate, CellTemperature};
pub use chip::{ChipPart, OwnCurrents};
pub use converter::{Charger, ColdStart, Efficiency, EfficiencyTable, Output};
pub use harvest::{HarvestError, HarvestTrace};
pub use interval::Interval;
pub use iv::{IvCurve, Light, SingleDiode, TwoDiode};
pub use law::{CurrentLaw, EventLaw};
pub use limits::{Level, LimitError, Limits};
pub use measure::{MeasureError, Measurement, MeasurementUnit, Segment};
pub use panel::Panel;
pub use parts::{
    BranchPart, CapacitorPart, CellPart, ChargerPart, ConverterKind, ConverterPart, HarvesterPart,
    OverheadReading, PanelPart, PanelPoint, PartError, PeripheralPart, deaf_to_temperature,
    load_part, part_kinds,
};
pub use set::{Anchor, Coefficient, PowerError, PowerModel, PowerSet, Source, power_set_schema};
pub use storage::{Flow, Storage};
pub use store::{Branch, Curve, Element, State, Store};
pub use supply::{
    Advance, Alternation, Boundary, Cycle, Lasting, LitYear, Load, RailAhead, Supply, SupplyConfig,
    SupplyError, SupplyState, SupplySums, Turn, Unclosed, Yearly,
};
pub use weigh::{Clock, CurvePoint, EnergyBreakdown, Item, ItemKind};
