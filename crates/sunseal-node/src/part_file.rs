// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part's whole file, every table of every kind: what `part check` reads, and what the schemas are of.

use schemars::JsonSchema;
use serde::Deserialize;
use sunseal_hdl::FpgaPart;
use sunseal_power::{
    CapacitorPart, CellPart, ChargerPart, ConverterPart, HarvesterPart, PanelPart, PeripheralPart,
    Room,
};
use sunseal_radio::RadioPart;

use crate::{Board, NodeError, Scenario};

/// A file of `data/parts`, or one's own.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartFile {
    /// What scenarios, boards and options call the part: the name of its file, without `.toml`.
    pub name: String,
    /// The part in words, for lists and reports: maker, type, rating.
    pub title: String,
    /// What to mind of the whole.
    pub note: Option<String>,
    /// A capacitor of any technology.
    pub capacitor: Option<CapacitorPart>,
    /// A galvanic cell, or several.
    pub cell: Option<CellPart>,
    /// A boost charger for harvesters.
    pub charger: Option<ChargerPart>,
    /// A converter between store and rail.
    pub converter: Option<ConverterPart>,
    /// Charger and regulated output in one.
    pub harvester: Option<HarvesterPart>,
    /// A photovoltaic panel.
    pub panel: Option<PanelPart>,
    /// A radio chip.
    pub radio: Option<RadioPart>,
    /// An FPGA with the coprocessor.
    pub fpga: Option<FpgaPart>,
    /// A sensor or memory on a serial bus.
    pub peripheral: Option<PeripheralPart>,
    /// Where the tolerance's lower end is not the upper one's mirror.
    pub tolerance: Option<Tolerance>,
    /// What is not modelled and traps.
    #[serde(default)]
    pub gap: Vec<Gap>,
    /// What is modelled in part.
    #[serde(default)]
    pub partial: Vec<Partial>,
}

/// Ends of a tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// How far a part may lie below the figure.
    pub low_rel: f64,
}

/// What is not modelled.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Register, mode or function.
    pub name: String,
    /// Why it is not.
    pub why: String,
}

/// What is modelled in part.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    /// Register, mode or function.
    pub name: String,
    /// What of it is missing.
    pub missing: String,
}

impl PartFile {
    /// Reads a part by its name.
    ///
    /// # Errors
    /// If it is not there, or a key or figure of it cannot be.
    pub fn load(parts: &Room, name: &str) -> Result<Self, NodeError> {
        let bad = |reason: String| NodeError::PartFile { name: name.to_owned(), reason };
        let (path, table) = parts.read(name).map_err(|e| match e.path {
            Some(path) => bad(format!("{} {}", path.display(), e.reason)),
            None => bad(e.reason),
        })?;
        Self::of(table).map_err(|reason| bad(format!("{} {reason}", path.display())))
    }

    /// Checks the tables of a file as the engine would when it uses the part at 25 degrees.
    ///
    /// # Errors
    /// A clause that says what is wrong.
    pub fn of(table: toml::Table) -> Result<Self, String> {
        let part: Self =
            table.try_into().map_err(|e: toml::de::Error| e.to_string().trim_end().to_owned())?;
        if let Some(c) = &part.capacitor {
            c.store(25.0, false)?;
        }
        if let Some(c) = &part.cell {
            c.store(25.0)?;
        }
        if let Some(c) = &part.charger {
            c.charger()?;
        }
        if let Some(c) = &part.converter {
            c.output(3.0, Some(2.0))?;
        }
        let none = part.capacitor.is_none()
            && part.cell.is_none()
            && part.charger.is_none()
            && part.converter.is_none()
            && part.harvester.is_none()
            && part.panel.is_none()
            && part.radio.is_none()
            && part.fpga.is_none()
            && part.peripheral.is_none();
        if none {
            let kinds = sunseal_power::PART_KINDS.join(", ");
            return Err(format!("has no table that says what it is; the kinds are {kinds}"));
        }
        Ok(part)
    }
}

/// Kinds of files that there is a schema of.
pub const SCHEMAS: [&str; 4] = ["part", "board", "power-set", "scenario"];

/// JSON Schema of a kind of file, from the types that read it; none of an unknown kind.
#[must_use]
pub fn schema(kind: &str) -> Option<schemars::Schema> {
    match kind {
        "part" => Some(schemars::schema_for!(PartFile)),
        "board" => Some(schemars::schema_for!(Board)),
        "power-set" => Some(sunseal_power::power_set_schema()),
        "scenario" => Some(schemars::schema_for!(Scenario)),
        _ => None,
    }
}
