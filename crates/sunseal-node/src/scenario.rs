// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is played: board, program, light, store, node, gateway.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sunseal_power::{HarvesterPart, OverheadReading, SupplyConfig, toml_error};

use crate::NodeError;

/// A scenario file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Board of `data/boards`.
    pub board: String,
    /// Program: a path to an ELF file, from the scenario's folder.
    pub firmware: PathBuf,
    /// Same seed, same bytes: RAM after power-on, VLO jitter, faults of the air.
    #[serde(default = "one")]
    pub seed: u64,
    /// Where in the harvest trace it begins.
    #[serde(default)]
    pub start_s: f64,
    /// How long it lasts.
    pub duration_s: f64,
    /// Prices.
    #[serde(default)]
    pub power: PowerChoice,
    /// Store and harvester, where they differ from the board's.
    #[serde(default)]
    pub supply: SupplyChoice,
    /// Light.
    #[serde(default)]
    pub harvest: HarvestChoice,
    /// What the node is told in its information memory.
    #[serde(default)]
    pub node: NodeConfig,
    /// Who answers.
    pub gateway: Option<GatewayChoice>,
    /// What goes wrong on the air.
    #[serde(default)]
    pub faults: Faults,
    /// What is kept.
    #[serde(default)]
    pub output: Output,
}

/// Which power set, which voltage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerChoice {
    /// Power set; the board's if absent.
    pub set: Option<String>,
    /// Regulated supply; the board's if absent.
    pub vcc_v: Option<f64>,
}

/// The supply, where it differs from the board's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupplyChoice {
    /// Capacitor of `data/parts`.
    pub capacitor: Option<String>,
    /// Harvester of `data/parts`.
    pub harvester: Option<String>,
    /// Voltage of the store at the beginning; the restart voltage if absent.
    pub initial_v: Option<f64>,
    /// Another capacitance than the part's.
    pub capacitance_f: Option<f64>,
    /// Another series resistance.
    pub esr_ohm: Option<f64>,
    /// Another leakage.
    pub leak_ohm: Option<f64>,
    /// Another restart voltage.
    pub v_on_v: Option<f64>,
    /// Another cut-off.
    pub v_cut_v: Option<f64>,
    /// Another overhead.
    pub overhead_j: Option<f64>,
}

/// The light: one of the two, or arrays given beside the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarvestChoice {
    /// A trace file, from the scenario's folder.
    pub trace: Option<PathBuf>,
    /// The same power always.
    pub constant_w: Option<f64>,
}

/// Who starts the exchange (Mane 2014, section 3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The node: it reports every period.
    #[default]
    Periodic,
    /// The server: the node shows itself every period and is asked, or not.
    Asynchronous,
    /// The node reports and is asked, by turns.
    Both,
}

/// What stands in the node's configuration block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeConfig {
    /// Eight bytes in hexadecimal.
    #[serde(default = "default_node_id")]
    pub node_id: String,
    /// Address on the air.
    #[serde(default = "default_address")]
    pub address: u8,
    /// Who starts.
    #[serde(default)]
    pub mode: Mode,
    /// Time between two exchanges.
    #[serde(default = "default_period_s")]
    pub period_s: f64,
    /// Name of the signature suite, as in the link layer.
    #[serde(default = "default_suite")]
    pub suite: String,
    /// Energy of one exchange, that the gate holds against the store; the firmware's own if absent.
    pub operation_mj: Option<f64>,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            node_id: default_node_id(),
            address: default_address(),
            mode: Mode::default(),
            period_s: default_period_s(),
            suite: default_suite(),
            operation_mj: None,
        }
    }
}

/// Where the gateway listens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewayChoice {
    /// `host:port`.
    pub address: String,
}

/// Faults of the air, per packet, either way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// What is kept of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Points of the time series; each keeps the lowest and highest voltage of its stretch.
    #[serde(default = "default_points")]
    pub points: usize,
}

impl Default for Output {
    fn default() -> Self {
        Self { points: default_points() }
    }
}

fn one() -> u64 {
    1
}

fn default_node_id() -> String {
    "53756e7365616c01".into()
}

fn default_address() -> u8 {
    0x10
}

fn default_period_s() -> f64 {
    600.0
}

fn default_suite() -> String {
    "ecdsa-p256-sha256".into()
}

fn default_points() -> usize {
    2000
}

impl Scenario {
    /// Reads a file; paths in it are taken from its folder.
    ///
    /// # Errors
    /// If it cannot be read or is not sound.
    pub fn load(path: &Path) -> Result<Self, NodeError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| NodeError::Scenario { path: shown.clone(), reason: e.to_string() })?;
        let mut s = Self::parse(&text, &shown)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        s.firmware = folder.join(&s.firmware);
        s.harvest.trace = s.harvest.trace.map(|t| folder.join(t));
        Ok(s)
    }

    /// Reads text; `path` is for messages.
    ///
    /// # Errors
    /// If it is not sound.
    pub fn parse(text: &str, path: &str) -> Result<Self, NodeError> {
        let s: Self = toml::from_str(text).map_err(|e| NodeError::Scenario {
            path: path.to_owned(),
            reason: toml_error::sentence(text, &e),
        })?;
        s.check(path)?;
        Ok(s)
    }

    fn check(&self, path: &str) -> Result<(), NodeError> {
        let bad = |reason: String| Err(NodeError::Scenario { path: path.to_owned(), reason });
        let positive = [
            ("duration_s", Some(self.duration_s)),
            ("node.period_s", Some(self.node.period_s)),
            ("power.vcc_v", self.power.vcc_v),
            ("supply.capacitance_f", self.supply.capacitance_f),
            ("supply.esr_ohm", self.supply.esr_ohm),
            ("supply.leak_ohm", self.supply.leak_ohm),
            ("supply.v_on_v", self.supply.v_on_v),
            ("supply.v_cut_v", self.supply.v_cut_v),
        ];
        for (key, value) in positive {
            if value.is_some_and(|v| !v.is_finite() || v <= 0.0) {
                return bad(format!("{key} is {}; it must be a number above zero", value.unwrap_or(0.0)));
            }
        }
        let not_negative = [
            ("start_s", Some(self.start_s)),
            ("supply.initial_v", self.supply.initial_v),
            ("supply.overhead_j", self.supply.overhead_j),
            ("harvest.constant_w", self.harvest.constant_w),
            ("node.operation_mj", self.node.operation_mj),
        ];
        for (key, value) in not_negative {
            if value.is_some_and(|v| !v.is_finite() || v < 0.0) {
                return bad(format!("{key} is {}; it must be a number, zero or more", value.unwrap_or(0.0)));
            }
        }
        for (key, p) in [("faults.loss", self.faults.loss), ("faults.flip", self.faults.flip)] {
            if !(0.0..=1.0).contains(&p) {
                return bad(format!("{key} is {p}; a probability lies between 0 and 1"));
            }
        }
        // Machine time is 64 bits of picoseconds.
        if self.duration_s > 200.0 * 86_400.0 {
            return bad(format!("duration_s is {}; a run lasts at most 200 days, 17280000 s", self.duration_s));
        }
        if self.output.points < 2 || self.output.points > 1_000_000 {
            return bad(format!("output.points is {}; take 2 to 1000000", self.output.points));
        }
        if self.harvest.trace.is_some() && self.harvest.constant_w.is_some() {
            return bad("harvest has both trace and constant_w; keep one".into());
        }
        self.node_id().map(|_| ()).or_else(|reason| bad(format!("node.node_id {reason}")))
    }

    /// The node's identity.
    pub(crate) fn node_id(&self) -> Result<[u8; 8], String> {
        let text = &self.node.node_id;
        let parsed = (text.len() == 16 && text.is_ascii()).then(|| u64::from_str_radix(text, 16).ok()).flatten();
        parsed.map(u64::to_be_bytes).ok_or_else(|| format!("is {text:?}; it is eight bytes, 16 hexadecimal digits"))
    }

    /// The supply of a harvester, a capacitor and what the scenario changes.
    pub(crate) fn supply_config(
        &self,
        h: &HarvesterPart,
        c: &sunseal_power::CapacitorPart,
        vcc_v: f64,
    ) -> SupplyConfig {
        let s = &self.supply;
        let capacitance_f = s.capacitance_f.unwrap_or(c.capacitance_f);
        let overhead_j = s.overhead_j.unwrap_or(h.overhead_mj * 1e-3);
        let mut v_cut_v = s.v_cut_v.unwrap_or(h.v_cut_v);
        let mut start_overhead_j = 0.0;
        match h.overhead_reading {
            OverheadReading::PerStart => start_overhead_j = overhead_j,
            OverheadReading::Reserve => v_cut_v = v_cut_v.max((2.0 * overhead_j / capacitance_f).sqrt()),
        }
        SupplyConfig {
            capacitance_f,
            esr_ohm: s.esr_ohm.unwrap_or(c.esr_ohm),
            leak_ohm: s.leak_ohm.unwrap_or_else(|| c.leak_ohm()),
            v_max_v: h.v_max_v.min(c.v_rated_v),
            v_on_v: s.v_on_v.unwrap_or(h.v_on_v),
            v_cut_v,
            vcc_v,
            charge_efficiency: h.charge_efficiency,
            panel_min_w: h.panel_min_uw * 1e-6,
            output_efficiency: h.output_efficiency,
            quiescent_on_w: h.quiescent_on_uw * 1e-6,
            quiescent_off_w: h.quiescent_off_uw * 1e-6,
            start_overhead_j,
        }
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
        assert_eq!((s.seed, s.node.period_s, s.node.mode, s.output.points), (1, 600.0, Mode::Periodic, 2000));
        assert_eq!(s.node_id().unwrap(), *b"Sunseal\x01");
    }

    #[test]
    fn each_mistake_is_one_sentence_with_its_key() {
        let t = error("[supply]\ncapacitance_f = -0.1\n");
        assert_eq!(t, "scenario day.toml: supply.capacitance_f is -0.1; it must be a number above zero");
        let t = error("[supply]\ncapacitence_f = 0.1\n");
        assert!(t.starts_with("scenario day.toml: line 6, supply.capacitence_f: unknown field `capacitence_f`"), "{t}");
        assert!(error("[node]\nmode = \"often\"\n").contains("node.mode: unknown variant `often`"));
        assert!(error("[node]\nnode_id = \"12\"\n").contains("16 hexadecimal digits"));
        assert!(error("[faults]\nloss = 1.5\n").contains("faults.loss is 1.5"));
        assert!(error("[harvest]\ntrace = \"a\"\nconstant_w = 1\n").contains("keep one"));
        assert!(error("[output]\npoints = 1\n").contains("output.points is 1"));
        assert!(error("start_s = nan\n").contains("start_s is NaN"));
        let t = Scenario::parse("name = \"x\"\nboard = \"b\"\nfirmware = \"f\"\n", "d.toml").unwrap_err().to_string();
        assert!(t.contains("missing field `duration_s`") && !t.contains('\n'), "{t}");
        let t = Scenario::load(Path::new("/nowhere/day.toml")).unwrap_err().to_string();
        assert!(t.starts_with("scenario /nowhere/day.toml: "), "{t}");
    }
}
