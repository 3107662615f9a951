// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boards of `data/boards`: a device, its parts and its wiring.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use sunseal_data::{NotRead, Room, Table, Value, from_file};
use sunseal_mcu::{Device, Machine};
use sunseal_part::Pin;
use sunseal_power::load_part;
use sunseal_radio::RadioPart;

use crate::BoardError;

/// Board as its file describes it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// Name that scenarios and `--board` have for the board: the name of its file, without `.toml`.
    pub name: String,
    /// The board in words, for lists and reports.
    pub title: String,
    /// Name of a device of `data/devices`.
    pub device: String,
    /// Document, and the place in it.
    pub source: String,
    /// True if a figure is unchecked: from memory, not from its document.
    #[serde(default)]
    pub recalled: bool,
    /// Reason for which a figure is an assumption of ours and of no document, and what would settle it.
    pub assumed: Option<String>,
    /// Price and supply of the board.
    pub power: BoardPower,
    /// Harvester and store, where it has them.
    pub supply: Option<BoardSupply>,
    /// Battery that feeds it, where it has one.
    pub battery: Option<BoardBattery>,
    /// Crystals in hertz by oscillator, `lfxt1_Hz`; 0: the place is empty.
    #[serde(default)]
    pub crystal: BTreeMap<String, u32>,
    /// Bytes that were programmed into an AVR's fuses.
    pub fuses: Option<Fuses>,
    /// Its radio: key `part`, `message` where the part has several (by band), and the wires by the names
    /// that `sunseal_radio::attach` knows.
    pub radio: Option<BTreeMap<String, String>>,
    /// Further parts that are wired to its device: `name` in the ledger, `part` of `data/parts`, the other keys wires.
    #[serde(default, rename = "part")]
    pub parts: Vec<BTreeMap<String, String>>,
    /// Pins that the board holds at a level.
    #[serde(default)]
    pub pull: Vec<Pull>,
    /// The pin that is high during a measured operation.
    pub trigger: BoardTrigger,
    /// Pins of its lamps, by colour.
    #[serde(default)]
    pub leds: BTreeMap<String, String>,
    /// Channel by which it sees its store.
    pub storage_sense: Option<StorageSense>,
    /// Serial module to which it writes its log.
    pub log: Option<BoardLog>,
    /// The I2C bus that it leads out, for sensors and memories on it.
    pub i2c: Option<BoardBus>,
    /// Switches of the core's timing by name (docs/accuracy.md), where this board's chip was measured.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Switch>")]
    pub timing: BTreeMap<String, Value>,
    /// Things that are on it and not modelled.
    #[serde(default)]
    pub absent: Vec<Absent>,
}

/// Power sets and voltage of the board.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardPower {
    /// Default power set of the device.
    pub set: String,
    /// Supply voltage unless another is asked for.
    pub vcc_v: f64,
    /// Power set of what the board draws beside its chip and its radio; none: nobody has measured it.
    pub residual: Option<String>,
}

/// Word that stands in place of a radio on a board, or in a scenario, that has none.
pub const NO_RADIO: &str = "none";
/// Parts of the supply.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardSupply {
    /// Name of a harvester of `data/parts`.
    pub harvester: String,
    /// Name of a capacitor of `data/parts`.
    pub capacitor: String,
    /// Name of a panel of `data/parts`.
    pub panel: String,
}

/// Battery of the board: a cell of the catalogue.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardBattery {
    /// Name of a cell of `data/parts`.
    pub part: String,
    /// Document, and the place in it.
    pub source: String,
}

/// Fuses of an AVR.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fuses {
    /// Low byte of the fuses.
    pub low: u8,
    /// High byte of the fuses.
    pub high: u8,
    /// Extended byte of the fuses.
    pub extended: u8,
    /// Document, and the place in it.
    #[serde(rename = "source")]
    #[schemars(with = "String")]
    _source: Ignored,
    /// True if it is unchecked: from memory, not from its document.
    #[serde(default, rename = "recalled")]
    _recalled: bool,
    /// Reason for which a figure is an assumption of ours and of no document, and what would settle it.
    #[serde(default, rename = "assumed")]
    #[schemars(with = "Option<String>")]
    _assumed: Option<Ignored>,
}

/// A value of a switch of the core's timing, as a schema has it.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is read as Value")]
enum Switch {
    On(bool),
    Number(i64),
    Word(String),
}

/// A text that is there to be read in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ignored;

impl<'de> Deserialize<'de> for Ignored {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|_| Self)
    }
}

/// A pin that the board holds at a level.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pull {
    /// Pin that is pulled.
    pub pin: String,
    /// True if it is pulled high.
    pub level: bool,
}

/// Trigger mark of the board.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardTrigger {
    /// Pin of the mark.
    pub pin: String,
}

/// The storage voltage at an ADC input.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StorageSense {
    /// Channel of the converter.
    pub adc_channel: u8,
    /// Pin of that channel.
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

/// Serial interface of the log.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardLog {
    /// Name of the serial module.
    pub serial: String,
}

/// Bus that the board leads out.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardBus {
    /// Name of the serial module.
    pub serial: String,
}

/// Thing that is on the board and not modelled.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// Name of the thing.
    pub name: String,
    /// Consequence of its not being modelled.
    pub what: String,
}

/// Address at which programmers put an AVR's fuses.
const FUSES: u32 = 0x82_0000;

impl Board {
    pub(crate) fn bad(&self, reason: String) -> BoardError {
        BoardError::Board { name: self.name.clone(), reason }
    }

    /// Reads a board by its name.
    ///
    /// # Errors
    /// If there is no such board or it is not sound.
    pub fn load(boards: impl Into<Room>, name: &str) -> Result<Self, BoardError> {
        let boards = boards.into();
        let missing = || BoardError::Board { name: name.to_owned(), reason: boards.missing(name) };
        Self::read(&boards.find(name).ok_or_else(missing)?, &boards)
    }

    /// Reads a file, whose name is the board's, with what it extends from a room.
    ///
    /// # Errors
    /// If there is no such board or it is not sound.
    pub fn read(path: &Path, boards: impl Into<Room>) -> Result<Self, BoardError> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bad = |reason: String| BoardError::Board { name: name.clone(), reason };
        let read = Self::table(path, &boards.into()).and_then(|table| from_file(path, table));
        let board: Self = read.map_err(|e| bad(e.to_string()))?;
        if board.name != name {
            return Err(bad(format!(
                "name is {:?}; it must be the file's name, {name:?}",
                board.name
            )));
        }
        if board.radio.as_ref().is_some_and(|r| !r.contains_key("part")) {
            return Err(bad("[radio] has no key part: which of data/parts it is".to_owned()));
        }
        for key in ["name", "part"] {
            if board.parts.iter().any(|p| !p.contains_key(key)) {
                return Err(bad(format!(
                    "a [[part]] has no key {key}; name is its component in the ledger, part its file in data/parts"
                )));
            }
        }
        for pin in board.pins() {
            pin.parse::<Pin>().map_err(|e| bad(e.to_string()))?;
        }
        Ok(board)
    }

    /// The tables of a board's file with what it extends; `radio = "none"` stands for no table.
    ///
    /// # Errors
    /// If a file is missing, is no TOML, or says of a radio what cannot be.
    pub fn table(path: &Path, boards: &Room) -> Result<Table, NotRead> {
        let mut table = boards.read_file(path)?;
        match table.get("radio").and_then(Value::as_str) {
            Some(NO_RADIO) => {
                table.remove("radio");
            }
            Some(other) => {
                let wanted = "a table with key part and the wires";
                let reason = format!("radio is {other:?}; it is {NO_RADIO:?}, or {wanted}");
                return Err(NotRead::from(reason).at(path));
            }
            None => {}
        }
        Ok(table)
    }

    /// Name of the radio, if the board has one.
    #[must_use]
    pub fn radio_part(&self) -> Option<&str> {
        Some(self.radio.as_ref()?.get("part")?)
    }

    /// Puts another radio on the pins of its own, those of them that the chip has.
    ///
    /// # Errors
    /// If there is no such radio, or the board has no pins for it.
    pub fn carry(&mut self, parts: &Room, part: &str) -> Result<(), BoardError> {
        let chip: RadioPart = load_part(parts, part, "radio")?;
        let Some(own) = &self.radio else {
            return Err(self.bad(format!(
                "it has no pins for a radio; name them in a scenario, or in a board of your own that extends it, by a table [radio] with part = {part:?}, serial and the chip's pins"
            )));
        };
        let mut wires = chip.wires_of(own).map_err(|key| {
            self.bad(format!(
                "it has no pin for {key} of the {part}; name all in a scenario, or in a board of your own that extends it, by a table [radio] with part = {part:?}, serial and the pins"
            ))
        })?;
        wires.insert("part".to_owned(), part.to_owned());
        self.radio = Some(wires);
        Ok(())
    }

    /// The parts that are wired to its device: name in the ledger, part of `data/parts`, wires with what it is. Table
    /// `[radio]` is the part named `radio`.
    pub fn wired(&self) -> impl Iterator<Item = (&str, &str, &BTreeMap<String, String>)> {
        let radio = self.radio.iter().map(|wires| ("radio", wires));
        let parts = self.parts.iter().map(|wires| (wires["name"].as_str(), wires));
        radio.chain(parts).map(|(name, wires)| (name, wires["part"].as_str(), wires))
    }

    /// Sets a key of a part's wires over what the file says; `false` where no part has that name.
    pub fn rewire(&mut self, name: &str, key: &str, value: &str) -> bool {
        let part = self.parts.iter_mut().find(|p| p["name"] == name);
        part.map(|wires| wires.insert(key.to_owned(), value.to_owned())).is_some()
    }

    /// The crystal that clocks the CPU, where that is fixed by the board.
    #[must_use]
    pub fn clock_hz(&self) -> Option<u32> {
        self.crystal.get("xtal_Hz").copied()
    }

    /// A machine as it sits on the board: supply, crystals, fuses, pulled pins. What is wired to it comes by [`fit`](Self::fit).
    ///
    /// # Errors
    /// If the device has no such oscillator, pin or timing switch.
    pub fn machine(&self, device: &Device) -> Result<Machine, BoardError> {
        let mut device = device.clone();
        for (switch, value) in &self.timing {
            let value = sunseal_mcu::device::switch_text(value);
            let set = device.set_timing(switch, &value);
            set.map_err(|e| self.bad(format!("[timing]: {e}")))?;
        }
        for pin in self.pins() {
            device.pin(pin).map_err(|e| self.bad(e.to_string()))?;
        }
        let mut machine = Machine::new(&device);
        if let Some(f) = self.fuses {
            machine.write_mem(FUSES, &[f.low, f.high, f.extended])?;
        }
        for (key, hz) in &self.crystal {
            let oscillator = key.strip_suffix("_Hz").unwrap_or(key);
            machine.fit_crystal(oscillator, *hz)?;
        }
        machine.set_vcc(self.power.vcc_v);
        machine.reset();
        for pull in &self.pull {
            if let Ok(pin) = pull.pin.parse() {
                machine.set_pin(pin, Some(pull.level));
            }
        }
        Ok(machine)
    }

    fn pins(&self) -> Vec<&str> {
        let mut all = vec![self.trigger.pin.as_str()];
        let wires = self.radio.iter().flatten();
        let pins =
            wires.filter(|(key, _)| !["part", "message", "serial", "rssi"].contains(&key.as_str()));
        all.extend(pins.map(|(_, pin)| pin.as_str()));
        all.extend(self.leds.values().map(String::as_str));
        all.extend(self.pull.iter().map(|p| p.pin.as_str()));
        if let Some(s) = &self.storage_sense {
            all.extend([s.pin.as_str(), s.enable.as_str()]);
        }
        all
    }
}
