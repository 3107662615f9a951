// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenario of a run: board, program, light, store, node, gateway.

mod supply;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sunseal_board::{Board, NO_RADIO};
use sunseal_data::{Library, Room};
use sunseal_mcu::{Device, Elf};
use sunseal_power::{
    CapacitorPart, CellPart, Charger, ChargerPart, ConverterPart, Efficiency, HarvestError,
    HarvestTrace, HarvesterPart, Output as Rail, OverheadReading, OwnCurrents, Store, SupplyConfig,
    load_part,
};

use crate::config::NodeConfig;
use crate::inputs::{self, Voltage};
use crate::load::LoadChoice;
use crate::{NodeError, config};

/// Longest run: ten years.
const DURATION_MAX_S: f64 = 3650.0 * 86_400.0;

/// The radio of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RadioChoice {
    /// A part on the board's own pins, or `"none"`.
    Part(String),
    /// Key `part`, and the pins as in a board's file.
    Wired(BTreeMap<String, String>),
}

/// File of a scenario, as it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// Name of a board of `data/boards`.
    pub board: String,
    /// Program: a path to an ELF file, from the scenario's folder; none with `load`.
    #[serde(default)]
    pub firmware: PathBuf,
    /// Same seed, same bytes: RAM after power-on, VLO jitter, faults of the air.
    #[serde(default = "one")]
    pub seed: u64,
    /// Time of the harvest trace at which it begins.
    #[serde(default)]
    pub start_s: f64,
    /// Time for which it lasts.
    pub duration_s: f64,
    /// Event that ends it before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// Temperature of chip and store; 25 degrees Celsius if absent.
    pub temperature_c: Option<f64>,
    /// `"none"`: the board without its radio. A part: that on the board's pins. A table: part and pins, as in a board's
    /// file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioChoice>,
    /// Wires of the board's parts that are others than its file says, by part and key: `[wires.coprocessor] bus = "spi"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wires: BTreeMap<String, BTreeMap<String, String>>,
    /// Prices: power sets and voltage.
    #[serde(default)]
    pub power: PowerChoice,
    /// Store and harvester, where they differ from the board's.
    #[serde(default)]
    pub supply: SupplyChoice,
    /// Light that falls on the node.
    #[serde(default)]
    pub harvest: HarvestChoice,
    /// Steps of current and time instead of a program.
    pub load: Option<LoadChoice>,
    /// Settings of the node in its information memory, where they differ from the program's own.
    pub node: Option<NodeConfig>,
    /// Values that are written into the program's symbols before the first start, as a programmer would.
    #[serde(default)]
    pub write: BTreeMap<String, Written>,
    /// Voltages at channels of the chip's converter, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub adc: BTreeMap<String, Voltage>,
    /// Devices on its I2C buses, `[SERIAL:]0x48=tmp102:21.5C`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub i2c: Vec<String>,
    /// Devices on its SPI buses, `SERIAL:P6.7=fm25v02`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spi: Vec<String>,
    /// Gateway that the node's packets go to, and that answers.
    pub gateway: Option<GatewayChoice>,
    /// Faults on the air.
    #[serde(default)]
    pub faults: Faults,
    /// Records that are kept.
    #[serde(default)]
    pub output: Output,
    /// Path from which it was read, for messages.
    #[serde(skip)]
    pub source: String,
}

/// Event that ends a run before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The output is cut off for the first time.
    FirstCut,
}

/// Value that a symbol is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Written {
    /// A number, little-endian, as wide as the symbol.
    Number(i64),
    /// Bytes in hexadecimal, to the symbol's beginning.
    Bytes(String),
}

sunseal_data::optional! {
    /// Power set and voltage that are chosen.
    pub struct PowerChoice {
        /// Power set; the board's if absent.
        pub set: String,
        /// Regulated supply; the board's if absent.
        pub vcc_v: f64,
    }
}

/// The supply, where it differs from the board's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupplyChoice {
    /// Name of a capacitor of `data/parts`.
    pub capacitor: Option<String>,
    /// Name of a harvester of `data/parts`.
    pub harvester: Option<String>,
    /// Cell of `data/parts` instead of the capacitor, or beside it if one is named.
    pub cell: Option<String>,
    /// Charger of `data/parts` instead of the harvester's, or `"diode"`.
    pub charger: Option<String>,
    /// Converter of `data/parts` instead of the harvester's, or `"direct"`, or `"diode"`.
    pub output: Option<String>,
    /// Forward voltage of the diodes.
    pub diode_v: Option<f64>,
    /// Rail below which a converter that assists is switched on.
    pub below_v: Option<f64>,
    /// Leaves a capacitor's branches and derating out.
    #[serde(default)]
    pub plain: bool,
    /// Temperature of the store, if it is another.
    pub temperature_c: Option<f64>,
    /// Capacitance on the rail.
    pub decoupling_f: Option<f64>,
    /// Brown-out and supply supervisors of the chip act without their delays.
    #[serde(default)]
    pub supervisors_at_once: bool,
    /// Another voltage at which charging stops.
    pub v_max_v: Option<f64>,
    /// Voltage of the store at the beginning; the restart voltage if absent.
    pub initial_v: Option<f64>,
    /// Another capacitance than the part's.
    pub capacitance_f: Option<f64>,
    /// Series resistance instead of the part's.
    pub esr_ohm: Option<f64>,
    /// Leakage resistance instead of the part's.
    pub leak_ohm: Option<f64>,
    /// Restart voltage instead of the part's.
    pub v_on_v: Option<f64>,
    /// Cut-off voltage instead of the part's.
    pub v_cut_v: Option<f64>,
    /// Overhead instead of the part's.
    pub overhead_j: Option<f64>,
}

sunseal_data::optional! {
    /// The light: one of the five, or arrays given beside the file.
    pub struct HarvestChoice {
        /// A trace file, from the scenario's folder.
        pub trace: PathBuf,
        /// The same power always.
        pub constant_w: f64,
        /// On and off by the clock.
        pub periodic: Periodic,
        /// On and off by chance.
        pub markov: Markov,
        /// A day of a typical year's weather, which `sunseal simulate` turns into a trace.
        pub sunlight: Sunlight,
        /// An open-circuit voltage behind a resistance: a thermoelectric generator, a rectified piezo, a rectenna.
        pub source: SourceChoice,
    }
}

impl HarvestChoice {
    /// One light at the most, and its figures.
    fn check(&self) -> Result<(), String> {
        let lights = [
            ("trace", self.trace.is_some()),
            ("constant_w", self.constant_w.is_some()),
            ("periodic", self.periodic.is_some()),
            ("markov", self.markov.is_some()),
            ("sunlight", self.sunlight.is_some()),
            ("source", self.source.is_some()),
        ];
        let given: Vec<_> = lights.iter().filter(|l| l.1).map(|l| l.0).collect();
        if given.len() > 1 {
            return Err(format!("harvest has {}; keep one", given.join(" and ")));
        }
        let Some(s) = &self.sunlight else { return Ok(()) };
        if !(s.shading > 0.0 && s.shading <= 1.0) {
            return Err(format!(
                "harvest.sunlight.shading is {}; it is a share above 0 and up to 1",
                s.shading
            ));
        }
        for (key, value, top) in
            [("tilt_deg", s.tilt_deg, 180.0), ("azimuth_deg", s.azimuth_deg, 360.0)]
        {
            if !(0.0..=top).contains(&value) {
                return Err(format!(
                    "harvest.sunlight.{key} is {value}; it lies between 0 and {top}"
                ));
            }
        }
        Ok(())
    }
}

/// A source that is no light, over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceChoice {
    /// Times from which each voltage and resistance holds; the last holds to the end.
    #[serde(default = "at_once")]
    pub time_s: Vec<f64>,
    /// Voltages without a load.
    pub v_oc_v: Vec<f64>,
    /// Internal resistances, one for each time.
    pub r_ohm: Vec<f64>,
}

fn at_once() -> Vec<f64> {
    vec![0.0]
}

impl SourceChoice {
    /// Voltage and resistance that it offers for so long.
    pub(crate) fn trace(&self, duration_s: f64) -> Result<HarvestTrace, HarvestError> {
        let mut edge_s = self.time_s.clone();
        // What begins later than the run ends is not asked for.
        edge_s.push(edge_s.last().map_or(duration_s, |last| duration_s.max(last + 1.0)));
        HarvestTrace::from_sources(edge_s, &self.v_oc_v, &self.r_ohm)
    }
}

/// On for the first part of each period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Periodic {
    /// Power that is harvested while it is on.
    pub on_w: f64,
    /// Power that is harvested while it is off.
    #[serde(default)]
    pub off_w: f64,
    /// Length of a period.
    pub period_s: f64,
    /// Time of a period that is on.
    pub on_s: f64,
}

/// On and off by turns, each for an exponentially distributed time, by the scenario's seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Markov {
    /// Power that is harvested while it is on.
    pub on_w: f64,
    /// Power that is harvested while it is off.
    #[serde(default)]
    pub off_w: f64,
    /// Mean time for which it is on.
    pub mean_on_s: f64,
    /// Mean time for which it is off.
    pub mean_off_s: f64,
}

impl HarvestChoice {
    /// The key of a law that the engine plays by itself.
    pub(crate) fn law(&self) -> Option<&'static str> {
        self.periodic.as_ref().map(|_| "periodic").or(self.markov.as_ref().map(|_| "markov"))
    }

    /// Plays that law from a seed.
    pub(crate) fn play(&self, duration_s: f64, seed: u64) -> Result<HarvestTrace, HarvestError> {
        match (&self.periodic, &self.markov) {
            (Some(p), _) => HarvestTrace::periodic(p.on_w, p.off_w, p.period_s, p.on_s, duration_s),
            (_, Some(m)) => {
                HarvestTrace::markov(m.on_w, m.off_w, m.mean_on_s, m.mean_off_s, duration_s, seed)
            }
            _ => HarvestTrace::constant(0.0, duration_s),
        }
    }
}

/// A day of weather on the board's panel. The engine does not read weather: who plays the scenario
/// computes the panel's power and gives it as arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sunlight {
    /// Month and day, `06-21`.
    pub day: String,
    /// Panel of `data/parts`; the board's if absent.
    pub panel: Option<String>,
    /// TMY3 file that pvlib ships; the usual one if absent.
    pub weather: Option<String>,
    /// Tilt of the panel.
    #[serde(default = "default_tilt_deg")]
    pub tilt_deg: f64,
    /// Direction that it faces, from north by east.
    #[serde(default = "default_azimuth_deg")]
    pub azimuth_deg: f64,
    /// Share of the light that reaches the panel.
    #[serde(default = "default_shading")]
    pub shading: f64,
}

/// Address at which the gateway listens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GatewayChoice {
    /// Address of the gateway, as `host:port`.
    pub address: String,
}

/// Faults of the air, per packet, either way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// Probability that a packet is lost.
    #[serde(default)]
    pub loss: f64,
    /// Probability that a bit of it is flipped.
    #[serde(default)]
    pub flip: f64,
    /// Flipped bits pass the radio's CRC, as if it had been fooled.
    #[serde(default)]
    pub crc_fooled: bool,
}

/// Records that are kept of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Points of the time series, each with the lowest and highest voltage of its stretch; 2000, or one an hour.
    #[serde(default)]
    pub points: Option<usize>,
    /// True if the load's energy is told by function and component; a run that tells it takes longer.
    #[serde(default)]
    pub functions: bool,
    /// Beginning and end of a stretch of the run that is told step by step.
    #[serde(default)]
    pub window: Option<[f64; 2]>,
    /// Symbols whose bytes at the end are kept.
    #[serde(default)]
    pub symbols: Vec<String>,
}

impl Output {
    /// Points of the time series of a run that lasts so long.
    #[must_use]
    pub fn points(&self, duration_s: f64) -> usize {
        self.points.unwrap_or_else(|| ((duration_s / 3600.0).ceil() as usize).max(2000))
    }
}

fn one() -> u64 {
    1
}

fn default_tilt_deg() -> f64 {
    36.0
}

fn default_azimuth_deg() -> f64 {
    180.0
}

fn default_shading() -> f64 {
    1.0
}

impl Scenario {
    /// Reads a file; paths in it are taken from its folder.
    ///
    /// # Errors
    /// If it cannot be read or is not sound.
    pub fn load(path: &Path) -> Result<Self, NodeError> {
        Self::load_as(path, None)
    }

    /// As [`load`](Self::load), for a program of one's own: what the file says of its own program is left out.
    ///
    /// # Errors
    /// If it cannot be read or is not sound.
    pub fn load_for(path: &Path, program: &Path) -> Result<Self, NodeError> {
        Self::load_as(path, Some(program))
    }

    fn load_as(path: &Path, program: Option<&Path>) -> Result<Self, NodeError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| NodeError::Scenario { path: shown.clone(), reason: e.to_string() })?;
        let mut s = Self::read(&text, &shown)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        if let Some(program) = program {
            program.clone_into(&mut s.firmware);
            (s.load, s.node, s.gateway) = (None, None, None);
            s.write.clear();
            s.output.symbols.clear();
        }
        s.check(&shown)?;
        if s.load.is_none() && program.is_none() {
            s.firmware = folder.join(&s.firmware);
        }
        if let Some(trace) = s.load.as_mut().and_then(|l| l.trace.as_mut()) {
            *trace = folder.join(&*trace);
        }
        s.harvest.trace = s.harvest.trace.map(|t| folder.join(t));
        inputs::from_folder(&mut s.adc, folder);
        // A name that is no file here is one of those that pvlib ships.
        if let Some(weather) = s.harvest.sunlight.as_mut().and_then(|l| l.weather.as_mut()) {
            let beside = folder.join(&*weather);
            if beside.is_file() {
                *weather = beside.display().to_string();
            }
        }
        Ok(s)
    }

    /// Reads text; `path` is for messages.
    ///
    /// # Errors
    /// If it is not sound.
    pub fn parse(text: &str, path: &str) -> Result<Self, NodeError> {
        let s = Self::read(text, path)?;
        s.check(path)?;
        Ok(s)
    }

    fn read(text: &str, path: &str) -> Result<Self, NodeError> {
        let mut s: Self = sunseal_data::parse(text)
            .map_err(|e| NodeError::Scenario { path: path.to_owned(), reason: e.reason })?;
        path.clone_into(&mut s.source);
        Ok(s)
    }

    /// Checks every figure; `path` is for messages.
    ///
    /// # Errors
    /// The first that is not sound.
    pub fn check(&self, path: &str) -> Result<(), NodeError> {
        let bad = |reason: String| Err(NodeError::Scenario { path: path.to_owned(), reason });
        self.check_figures().or_else(bad)?;
        self.check_times().or_else(bad)?;
        self.check_program().or_else(bad)?;
        inputs::check(&self.adc).or_else(bad)?;
        self.harvest.check().or_else(bad)?;
        self.node.as_ref().map_or(Ok(()), NodeConfig::check).or_else(bad)
    }

    /// Checks each figure by itself.
    fn check_figures(&self) -> Result<(), String> {
        let positive = [
            ("duration_s", Some(self.duration_s)),
            ("power.vcc_v", self.power.vcc_v),
            ("supply.capacitance_f", self.supply.capacitance_f),
            ("supply.esr_ohm", self.supply.esr_ohm),
            ("supply.leak_ohm", self.supply.leak_ohm),
            ("supply.below_v", self.supply.below_v),
            ("supply.v_max_v", self.supply.v_max_v),
            ("supply.v_on_v", self.supply.v_on_v),
            ("supply.v_cut_v", self.supply.v_cut_v),
        ];
        let not_negative = [
            ("start_s", Some(self.start_s)),
            ("supply.initial_v", self.supply.initial_v),
            ("supply.overhead_j", self.supply.overhead_j),
            ("supply.diode_v", self.supply.diode_v),
            ("supply.decoupling_f", self.supply.decoupling_f),
            ("harvest.constant_w", self.harvest.constant_w),
        ];
        let signs = positive.map(|p| (p, true)).into_iter();
        for ((key, value), above) in signs.chain(not_negative.map(|p| (p, false))) {
            let Some(v) = value else { continue };
            if !v.is_finite() || v < 0.0 || above && v == 0.0 {
                let what = if above { "a number above zero" } else { "a number, zero or more" };
                return Err(format!("{key} is {v}; it must be {what}"));
            }
        }
        for (key, p) in [("faults.loss", self.faults.loss), ("faults.flip", self.faults.flip)] {
            if !(0.0..=1.0).contains(&p) {
                return Err(format!("{key} is {p}; a probability lies between 0 and 1"));
            }
        }
        for (key, value) in [
            ("temperature_c", self.temperature_c),
            ("supply.temperature_c", self.supply.temperature_c),
        ] {
            if let Some(t) = value.filter(|t| !(-60.0..=125.0).contains(t)) {
                return Err(format!("{key} is {t}; it lies between -60 and 125"));
            }
        }
        Ok(())
    }

    /// Checks how long it lasts, and what of it is told.
    fn check_times(&self) -> Result<(), String> {
        // Steps of the loop are told in seconds as a double has them: in ten years to 60 ns.
        if !(1e-3..=DURATION_MAX_S).contains(&self.duration_s) {
            return Err(format!(
                "duration_s is {:e}; a run lasts from a millisecond to ten years, {DURATION_MAX_S} s",
                self.duration_s
            ));
        }
        if let Some(points) = self.output.points.filter(|p| !(2..=1_000_000).contains(p)) {
            return Err(format!("output.points is {points}; take 2 to 1000000"));
        }
        if let Some([from_s, to_s]) = self.output.window
            && !(from_s >= 0.0 && from_s < to_s && to_s <= self.duration_s)
        {
            return Err(format!(
                "output.window is from {from_s} s to {to_s} s; it begins before it ends and lies within the {} s of the run",
                self.duration_s
            ));
        }
        Ok(())
    }

    /// A program or a load, and not both.
    fn check_program(&self) -> Result<(), String> {
        let no_program = self.firmware.as_os_str().is_empty();
        let Some(load) = &self.load else {
            let missing = "missing field `firmware`: name an ELF file, or give a table [load]";
            return if no_program { Err(missing.to_owned()) } else { Ok(()) };
        };
        let alone = no_program
            && self.node.is_none()
            && self.gateway.is_none()
            && self.write.is_empty()
            && self.adc.is_empty()
            && self.i2c.is_empty()
            && self.spi.is_empty();
        if !alone {
            return Err(
                "load stands for a program; leave out firmware, [node], [write], [adc], i2c, spi and [gateway]"
                    .to_owned(),
            );
        }
        load.check()
    }

    /// The board, without its radio where the scenario says so.
    pub(crate) fn own_board(&self, library: &Library) -> Result<Board, NodeError> {
        let mut board = Board::load(library.room("boards"), &self.board)?;
        match &self.radio {
            None => {}
            Some(RadioChoice::Part(part)) if part == NO_RADIO => board.radio = None,
            Some(RadioChoice::Part(part)) => board.carry(&library.room("parts"), part)?,
            Some(RadioChoice::Wired(wires)) if wires.contains_key("part") => {
                board.radio = Some(wires.clone());
            }
            Some(RadioChoice::Wired(_)) => {
                let path = self.source.clone();
                let reason = "[radio] has no key part: which of data/parts it is".to_owned();
                return Err(NodeError::Scenario { path, reason });
            }
        }
        for (part, wires) in &self.wires {
            for (key, value) in wires {
                if !board.rewire(part, key, value) {
                    let path = self.source.clone();
                    let reason = format!("wires.{part}: {} has no such [[part]]", board.name);
                    return Err(NodeError::Scenario { path, reason });
                }
            }
        }
        Ok(board)
    }

    /// Refuses what asks for a radio where there is none: a gateway, and the node's program.
    pub(crate) fn without_radio(&self, board: &Board, elf: &Elf) -> Result<(), NodeError> {
        let where_ = match (&board.radio, &self.radio) {
            (Some(wires), _) => {
                format!("the {} of {} is priced and not simulated", wires["part"], board.name)
            }
            (None, Some(_)) => format!("radio is {NO_RADIO:?}"),
            (None, None) => format!("{} has no radio", board.name),
        };
        let reason = if self.gateway.is_some() {
            format!("{where_}, and there is a gateway, which nothing can reach; leave one out")
        } else if elf.symbol(config::SYMBOL).is_ok() {
            format!(
                "{where_}, and {} is the node's program, which sends by it; take a program of your own or a duty-<workload>.elf, or the radio",
                self.firmware.display()
            )
        } else {
            return Ok(());
        };
        Err(NodeError::Scenario { path: self.source.clone(), reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name = \"x\"\nboard = \"b\"\nfirmware = \"f.elf\"\nduration_s = 60\n";

    fn error(more: &str) -> String {
        Scenario::parse(&format!("{GOOD}{more}"), "day.toml").unwrap_err().to_string()
    }

    #[test]
    fn the_shortest_scenario_has_defaults() {
        let s = Scenario::parse(GOOD, "day.toml").unwrap();
        assert_eq!((s.seed, s.node, s.output.points), (1, None, None));
        assert_eq!([8.64e4, 3.1536e7].map(|long_s| s.output.points(long_s)), [2000, 8760]);
    }

    #[test]
    fn each_mistake_is_one_sentence_with_its_key() {
        let t = error("[supply]\ncapacitance_f = -0.1\n");
        assert_eq!(
            t,
            "scenario day.toml: supply.capacitance_f is -0.1; it must be a number above zero"
        );
        let t = error("[supply]\ncapacitence_f = 0.1\n");
        assert!(
            t.starts_with(
                "scenario day.toml: line 6, supply.capacitence_f: unknown field `capacitence_f`"
            ),
            "{t}"
        );
        assert!(error("[node]\nmode = \"often\"\n").contains("node.mode: unknown variant `often`"));
        assert!(
            error("[node]\nnode_id = \"12\"\n")
                .contains("node.node_id is \"12\"; it is eight bytes")
        );
        assert!(error("[node]\nsuite = \"rsa\"\n").contains("the suites are ecdsa-p256-sha256"));
        assert!(error("[node]\naddress = 1\n").contains("node.address is 1"));
        assert!(error("[node]\nmclk_khz = 32000\n").contains("1000 to 25000"));
        assert!(error("[node]\npoll_s = 0\n").contains("node.poll_s is 0"));
        let often = error("[node]\nlisten_every_s = 0.01\n");
        assert!(
            often.contains(
                "node.listen_every_s is 0.01; a CC2500 looks at the air every 0.05 to 60 s"
            )
        );
        let nobody = error("[node]\nmode = \"periodic\"\nlisten_every_s = 1\n");
        assert!(nobody.contains("in which nobody asks the node"), "{nobody}");
        assert!(
            error("[harvest]\nsunlight = { day = \"06-21\", shading = 2 }\n")
                .contains("shading is 2")
        );
        let two = error("[harvest]\ntrace = \"a\"\nsunlight = { day = \"06-21\" }\n");
        assert!(two.contains("harvest has trace and sunlight; keep one"), "{two}");
        assert!(error("[faults]\nloss = 1.5\n").contains("faults.loss is 1.5"));
        assert!(error("[adc]\nA3 = 1\n").contains("adc.A3 is no channel of a converter"));
        assert!(error("[adc]\n256 = 1\n").contains("adc.256 is no channel"));
        assert!(error("[adc]\n3 = -1\n").contains("adc.3 is -1; it must be a number of volts"));
        assert!(error("[adc]\n3 = \"1.2V\"\n").contains("adc.3 is \"1.2V\"; write volts"));
        assert!(error("[harvest]\ntrace = \"a\"\nconstant_w = 1\n").contains("keep one"));
        assert!(error("[output]\npoints = 1\n").contains("output.points is 1"));
        assert!(error("start_s = nan\n").contains("start_s is NaN"));
        for duration in ["1e-9", "1e300"] {
            let text = GOOD.replace("duration_s = 60", &format!("duration_s = {duration}"));
            let t = Scenario::parse(&text, "day.toml").unwrap_err().to_string();
            assert!(t.contains(&format!("duration_s is {duration}; a run lasts from")), "{t}");
        }
        let t = Scenario::parse("name = \"x\"\nboard = \"b\"\nfirmware = \"f\"\n", "d.toml")
            .unwrap_err()
            .to_string();
        assert!(t.contains("missing field `duration_s`") && !t.contains('\n'), "{t}");
        let t = Scenario::load(Path::new("/nowhere/day.toml")).unwrap_err().to_string();
        assert!(t.starts_with("scenario /nowhere/day.toml: "), "{t}");
    }
}
