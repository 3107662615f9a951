// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices out of their files: those built in, a user's own, and what they extend.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sunseal_data::{NotRead, Room, Table, Value, from_table};

use super::*;

/// Facts that each device file has.
#[derive(Deserialize)]
struct Common {
    name: String,
    family: String,
    core: String,
    memory: Vec<Region>,
    supply: Supply,
    drift: Option<Drift>,
    #[serde(default, rename = "gap")]
    gap: Vec<Gap>,
    #[serde(rename = "block")]
    blocks: Vec<BlockInstance>,
    vectors: Addresses,
    #[serde(default)]
    partial: Vec<Partial>,
    memory_path: Option<MemoryPath>,
    #[serde(default)]
    timing: BTreeMap<String, Value>,
}

const COMMON: [&str; 12] = [
    "name",
    "family",
    "core",
    "memory",
    "supply",
    "drift",
    "gap",
    "block",
    "vectors",
    "partial",
    "memory_path",
    "timing",
];

/// The device files that are built in, by name.
const BUILT_IN: [(&str, &str); 8] = [
    ("atmega128l", include_str!("../../../../data/devices/atmega128l.toml")),
    ("msp430f1611", include_str!("../../../../data/devices/msp430f1611.toml")),
    ("msp430f5438a", include_str!("../../../../data/devices/msp430f5438a.toml")),
    ("msp430fr5969", include_str!("../../../../data/devices/msp430fr5969.toml")),
    ("msp430fr5994", include_str!("../../../../data/devices/msp430fr5994.toml")),
    ("msp430fr6989", include_str!("../../../../data/devices/msp430fr6989.toml")),
    ("msp432p401r", include_str!("../../../../data/devices/msp432p401r.toml")),
    ("stm32l476rg", include_str!("../../../../data/devices/stm32l476rg.toml")),
];

impl Device {
    /// The MSP430F5438A, from the data file built in.
    ///
    /// # Panics
    /// Never: a test reads the same file.
    #[must_use]
    pub fn msp430f5438a() -> Self {
        Self::named("msp430f5438a").expect("the built-in device file is valid")
    }

    /// The names of the devices that are built in.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        BUILT_IN.iter().map(|d| d.0).collect()
    }

    /// A device that is built in.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn named(name: &str) -> Result<Self, DeviceError> {
        let (_, text) = BUILT_IN
            .iter()
            .find(|d| d.0 == name)
            .ok_or_else(|| DeviceError::Unknown(name.to_owned()))?;
        Self::parse(text)
    }

    /// Device data from a file with what it extends: a file beside it, or a device that is built in.
    ///
    /// # Errors
    /// If a file cannot be read or is not valid.
    pub fn load(path: &Path) -> Result<Self, DeviceError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::read(&Room::with_built_in("devices", folder, &BUILT_IN), path)
    }

    /// Device data from a file with what it extends in a room.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn read(room: &Room, path: &Path) -> Result<Self, DeviceError> {
        let shown = || path.display().to_string();
        std::fs::metadata(path).map_err(|source| DeviceError::Read { path: shown(), source })?;
        let told = room.read_file(path).map_err(|e| match e.path {
            Some(at) if at == path => DeviceError::Parse(e.reason.into()),
            _ => DeviceError::Parse(e),
        });
        told.and_then(Self::of)
            .map_err(|error| DeviceError::InFile { path: shown(), error: Box::new(error) })
    }

    /// Device data from text.
    ///
    /// # Errors
    /// If the text has unknown or missing keys, or values that contradict one another.
    pub fn parse(text: &str) -> Result<Self, DeviceError> {
        Self::of(sunseal_data::parse(text)?)
    }

    fn of(mut own: Table) -> Result<Self, DeviceError> {
        let common = COMMON.iter().filter_map(|k| Some(((*k).to_owned(), own.remove(*k)?)));
        let c: Common = from_table(Table::from_iter(common))?;
        let facts = match c.family.as_str() {
            "atmega128" => Facts::Atmega128(family(own)?),
            "msp430x1xx" => Facts::F1xx(family(own)?),
            "msp430x5xx" => Facts::F5xx(family(own)?),
            "msp430fr5xx" => Facts::Fr5xx(family(own)?),
            "msp432p4" => Facts::Msp432(family(own)?),
            "stm32l4" => Facts::Stm32l4(family(own)?),
            _ => {
                return Err(DeviceError::Family {
                    device: c.name,
                    family: c.family,
                    known: "atmega128, msp430x1xx, msp430x5xx, msp430fr5xx, msp432p4, stm32l4"
                        .to_owned(),
                });
            }
        };
        let (name, core, memory, supply) = (c.name, c.core, c.memory, c.supply);
        let (drift, partial, gap) = (c.drift, c.partial, c.gap);
        let starts = |b: &BlockInstance| -> Vec<_> {
            b.stretches().map(|s| (s.base, b.name.clone())).collect()
        };
        let mut starts: Vec<(u32, String)> = c.blocks.iter().flat_map(starts).collect();
        starts.sort();
        let (blocks, vectors) = (c.blocks, c.vectors);
        let (memory_path, timing) = (c.memory_path, BTreeMap::new());
        let mut device = Self {
            name,
            core,
            memory,
            supply,
            drift,
            partial,
            gap,
            blocks,
            vectors,
            starts,
            memory_path,
            timing,
            facts,
        };
        device.check()?;
        device.check_memory_path()?;
        for (switch, value) in &c.timing {
            device.set_timing(switch, &switch_text(value))?;
        }
        Ok(device)
    }
}

/// A family's tables, from what the common part left.
fn family<T: DeserializeOwned>(own: Table) -> Result<Box<T>, NotRead> {
    from_table(own).map(Box::new)
}
