// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part's whole file, every table of every kind: what `part check` reads.

use schemars::JsonSchema;
use serde::Deserialize;
use sunseal_data::{PART_KINDS, Room, Table, from_table};
use sunseal_hdl::FpgaPart;
use sunseal_power::{
    CapacitorPart, CellPart, ChargerPart, ChipPart, ConverterPart, HarvesterPart, Panel, PanelPart,
    PeripheralPart,
};
use sunseal_radio::RadioPart;

use crate::BoardError;

macro_rules! part_file {
    ($($kind:ident: $type:ty = $doc:literal,)*) => {
        /// A file of `data/parts`, or one's own.
        #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct PartFile {
            /// Name that scenarios, boards and options have for the part: the name of its file, without `.toml`.
            pub name: String,
            /// The part in words, for lists and reports: maker, type, rating.
            pub title: String,
            /// Remark on what to mind of the whole.
            pub note: Option<String>,
            /// Its mass, by which a plan may be bounded.
            pub mass_g: Option<f64>,
            /// The space that it takes, by which a plan may be bounded.
            pub volume_cm3: Option<f64>,
            $(#[doc = $doc] pub $kind: Option<$type>,)*
            /// Figures that the sheet prints of a chip as a whole, of which the file has the halves.
            pub chip: Option<ChipPart>,
            /// Tolerance whose lower end is not the upper one's mirror.
            pub tolerance: Option<Tolerance>,
            /// Things that are not modelled and trap.
            #[serde(default)]
            pub gap: Vec<Gap>,
            /// Things that are modelled in part.
            #[serde(default)]
            pub partial: Vec<Partial>,
        }

        impl PartFile {
            /// True if a table says what it is.
            fn is_something(&self) -> bool {
                [$(self.$kind.is_some()),*].contains(&true)
            }
        }
    };
}

part_file! {
    capacitor: CapacitorPart = "A capacitor of any technology.",
    cell: CellPart = "A galvanic cell, or several.",
    charger: ChargerPart = "A boost charger for harvesters.",
    converter: ConverterPart = "A converter between store and rail.",
    harvester: HarvesterPart = "Charger and regulated output in one.",
    panel: PanelPart = "A photovoltaic panel.",
    radio: RadioPart = "A radio chip.",
    fpga: FpgaPart = "An FPGA with the coprocessor.",
    peripheral: PeripheralPart = "A sensor or memory on a serial bus.",
}

/// Ends of a tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Share by which a part may lie below the figure.
    pub low_rel: f64,
}

/// Thing that is not modelled.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Register, mode or function.
    pub name: String,
    /// Reason for which it is not.
    pub why: String,
}

/// Thing that is modelled in part.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    /// Register, mode or function.
    pub name: String,
    /// Part of it that is missing.
    pub missing: String,
}

impl PartFile {
    /// Reads a part by its name.
    ///
    /// # Errors
    /// If it is not there, or a key or figure of it cannot be.
    pub fn load(parts: &Room, name: &str) -> Result<Self, BoardError> {
        let bad = |reason: String| BoardError::PartFile { name: name.to_owned(), reason };
        let (path, table) = parts.read(name).map_err(|e| bad(e.to_string()))?;
        Self::of(table).map_err(|reason| bad(format!("{} {reason}", path.display())))
    }

    /// Checks the tables of a file as the engine would when it uses the part at 25 degrees.
    ///
    /// # Errors
    /// A clause that says what is wrong.
    pub fn of(table: Table) -> Result<Self, String> {
        let part: Self = from_table(table).map_err(|e| e.reason)?;
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
        if let Some(p) = &part.panel {
            Panel::new(p).map_err(|e| format!("[panel] {e}"))?;
        }
        if let Some(r) = &part.radio {
            r.check()?;
        }
        ChipPart::check(part.chip.as_ref(), part.charger.as_ref(), part.converter.as_ref())?;
        for (key, value) in [("mass_g", part.mass_g), ("volume_cm3", part.volume_cm3)] {
            if let Some(value) = value.filter(|v| *v <= 0.0) {
                return Err(format!("{key} is {value}; it must be above zero"));
            }
        }
        if !part.is_something() {
            let kinds = PART_KINDS.join(", ");
            return Err(format!("has no table that says what it is; the kinds are {kinds}"));
        }
        Ok(part)
    }
}
