// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices out of their files: those built in, a user's own, and what they extend.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sunseal_data::{NotRead, Table, Value, from_table};

use super::*;

/// Facts that each device file has.
#[derive(Deserialize)]
struct Common {
    name: String,
    family: String,
    core: String,
    waits_in: String,
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

const COMMON: [&str; 13] = [
    "name",
    "family",
    "core",
    "waits_in",
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

impl Device {
    /// The facts of a device that its tables have, by themselves: its blocks are not held to its family.
    pub(crate) fn told(mut own: Table) -> Result<Self, DeviceError> {
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
        let (name, core, waits_in) = (c.name, c.core, c.waits_in);
        let (memory, supply) = (c.memory, c.supply);
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
            waits_in,
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
