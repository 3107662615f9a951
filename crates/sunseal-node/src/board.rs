// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boards of `data/boards`: a device, its parts and its wiring.

use std::path::Path;

use serde::Deserialize;
use sunseal_mcu::Pin;
use sunseal_power::toml_error;

use crate::NodeError;

/// A board.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// The file's name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Device of `data/devices`.
    pub device: String,
    /// Document and place.
    pub source: String,
    /// How it is priced and supplied.
    pub power: BoardPower,
    /// What feeds it.
    pub supply: BoardSupply,
    /// Its radio.
    pub radio: Option<BoardRadio>,
    /// The pin that is high during a measured operation.
    pub trigger: BoardTrigger,
    /// How it sees its store.
    pub storage_sense: Option<StorageSense>,
    /// Where it writes its log.
    pub log: Option<BoardLog>,
}

/// Price and supply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardPower {
    /// Default power set of the device.
    pub set: String,
    /// Default supply voltage.
    pub vcc_v: f64,
}

/// Parts of the supply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardSupply {
    /// Harvester of `data/parts`.
    pub harvester: String,
    /// Capacitor of `data/parts`.
    pub capacitor: String,
    /// Panel of `data/parts`.
    pub panel: String,
}

/// Radio and its pins.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardRadio {
    /// Radio of `data/parts`.
    pub part: String,
    /// Serial module.
    pub usci: String,
    /// Data to the radio.
    pub simo: String,
    /// Data from the radio.
    pub somi: String,
    /// Clock.
    pub clk: String,
    /// Chip select, active low.
    pub csn: String,
    /// GDO0.
    pub gdo0: String,
    /// GDO2.
    pub gdo2: String,
}

/// The trigger mark.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardTrigger {
    /// Its pin.
    pub pin: String,
}

/// The storage voltage at an ADC input.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageSense {
    /// ADC channel.
    pub adc_channel: u8,
    /// Its pin.
    pub pin: String,
    /// Pin that connects the divider while it is high.
    pub enable: String,
    /// Input voltage as a share of the store's.
    pub ratio: f64,
    /// Resistance of the whole divider.
    pub divider_ohm: f64,
    /// Reference that the program uses.
    pub reference_v: f64,
}

/// The log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardLog {
    /// Serial module.
    pub usci: String,
}

impl Board {
    /// Reads `<dir>/<name>.toml`.
    ///
    /// # Errors
    /// If there is no such board or it is not sound.
    pub fn load(dir: &Path, name: &str) -> Result<Self, NodeError> {
        let path = dir.join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&path).map_err(|e| NodeError::Board {
            name: name.to_owned(),
            reason: format!(
                "{} cannot be read ({e}); the boards there are {}",
                path.display(),
                sunseal_power::names_in(dir).join(", ")
            ),
        })?;
        let bad = |reason: String| NodeError::Board { name: name.to_owned(), reason };
        let board: Self = toml::from_str(&text)
            .map_err(|e| bad(format!("{} {}", path.display(), toml_error::sentence(&text, &e))))?;
        if board.name != name {
            return Err(bad(format!(
                "name is {:?}; it must be the file's name, {name:?}",
                board.name
            )));
        }
        for pin in board.pins() {
            pin.parse::<Pin>().map_err(|e| bad(e.to_string()))?;
        }
        Ok(board)
    }

    fn pins(&self) -> Vec<&str> {
        let mut all = vec![self.trigger.pin.as_str()];
        if let Some(r) = &self.radio {
            all.extend([&r.simo, &r.somi, &r.clk, &r.csn, &r.gdo0, &r.gdo2].map(String::as_str));
        }
        if let Some(s) = &self.storage_sense {
            all.extend([s.pin.as_str(), s.enable.as_str()]);
        }
        all
    }
}
