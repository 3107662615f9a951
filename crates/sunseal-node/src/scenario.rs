// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is played: board, program, light, store, node, gateway.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sunseal_power::{HarvesterPart, OverheadReading, SupplyConfig, toml_error};

use crate::NodeError;
use crate::config::NodeConfig;

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
    /// What the node is told in its information memory, where it differs from the program's own.
    pub node: Option<NodeConfig>,
    /// Who answers.
    pub gateway: Option<GatewayChoice>,
    /// What goes wrong on the air.
    #[serde(default)]
    pub faults: Faults,
    /// What is kept.
    #[serde(default)]
    pub output: Output,
    /// Where it was read, for messages.
    #[serde(skip)]
    pub source: String,
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

/// The light: one of the three, or arrays given beside the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarvestChoice {
    /// A trace file, from the scenario's folder.
    pub trace: Option<PathBuf>,
    /// The same power always.
    pub constant_w: Option<f64>,
    /// A day of a typical year's weather, which `sunseal simulate` turns into a trace.
    pub sunlight: Option<Sunlight>,
}

/// A day of weather on the board's panel. The engine does not read weather: who plays the scenario
/// computes the panel's power and gives it as arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Where it faces, from north by east.
    #[serde(default = "default_azimuth_deg")]
    pub azimuth_deg: f64,
    /// Share of the light that reaches the panel.
    #[serde(default = "default_shading")]
    pub shading: f64,
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

fn default_tilt_deg() -> f64 {
    36.0
}

fn default_azimuth_deg() -> f64 {
    180.0
}

fn default_shading() -> f64 {
    1.0
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
        let mut s: Self = toml::from_str(text).map_err(|e| NodeError::Scenario {
            path: path.to_owned(),
            reason: toml_error::sentence(text, &e),
        })?;
        path.clone_into(&mut s.source);
        s.check(path)?;
        Ok(s)
    }

    fn check(&self, path: &str) -> Result<(), NodeError> {
        let bad = |reason: String| Err(NodeError::Scenario { path: path.to_owned(), reason });
        let positive = [
            ("duration_s", Some(self.duration_s)),
            ("power.vcc_v", self.power.vcc_v),
            ("supply.capacitance_f", self.supply.capacitance_f),
            ("supply.esr_ohm", self.supply.esr_ohm),
            ("supply.leak_ohm", self.supply.leak_ohm),
            ("supply.v_on_v", self.supply.v_on_v),
            ("supply.v_cut_v", self.supply.v_cut_v),
        ];
        for (key, value) in positive {
            if value.is_some_and(|v| !v.is_finite() || v <= 0.0) {
                return bad(format!(
                    "{key} is {}; it must be a number above zero",
                    value.unwrap_or(0.0)
                ));
            }
        }
        let not_negative = [
            ("start_s", Some(self.start_s)),
            ("supply.initial_v", self.supply.initial_v),
            ("supply.overhead_j", self.supply.overhead_j),
            ("harvest.constant_w", self.harvest.constant_w),
        ];
        for (key, value) in not_negative {
            if value.is_some_and(|v| !v.is_finite() || v < 0.0) {
                return bad(format!(
                    "{key} is {}; it must be a number, zero or more",
                    value.unwrap_or(0.0)
                ));
            }
        }
        for (key, p) in [("faults.loss", self.faults.loss), ("faults.flip", self.faults.flip)] {
            if !(0.0..=1.0).contains(&p) {
                return bad(format!("{key} is {p}; a probability lies between 0 and 1"));
            }
        }
        // Machine time is 64 bits of picoseconds, and each point of the series holds some of them.
        if !(1e-3..=200.0 * 86_400.0).contains(&self.duration_s) {
            return bad(format!(
                "duration_s is {:e}; a run lasts from a millisecond to 200 days, 17280000 s",
                self.duration_s
            ));
        }
        if self.output.points < 2 || self.output.points > 1_000_000 {
            return bad(format!("output.points is {}; take 2 to 1000000", self.output.points));
        }
        let h = &self.harvest;
        let lights = [
            ("trace", h.trace.is_some()),
            ("constant_w", h.constant_w.is_some()),
            ("sunlight", h.sunlight.is_some()),
        ];
        let given: Vec<_> = lights.iter().filter(|l| l.1).map(|l| l.0).collect();
        if given.len() > 1 {
            return bad(format!("harvest has {}; keep one", given.join(" and ")));
        }
        if let Some(s) = &h.sunlight {
            if !(s.shading > 0.0 && s.shading <= 1.0) {
                return bad(format!(
                    "harvest.sunlight.shading is {}; it is a share above 0 and up to 1",
                    s.shading
                ));
            }
            for (key, value, top) in
                [("tilt_deg", s.tilt_deg, 180.0), ("azimuth_deg", s.azimuth_deg, 360.0)]
            {
                if !(0.0..=top).contains(&value) {
                    return bad(format!(
                        "harvest.sunlight.{key} is {value}; it lies between 0 and {top}"
                    ));
                }
            }
        }
        self.node.as_ref().map_or(Ok(()), NodeConfig::check).or_else(bad)
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
            OverheadReading::Reserve => {
                v_cut_v = v_cut_v.max((2.0 * overhead_j / capacitance_f).sqrt())
            }
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
        assert_eq!((s.seed, s.node, s.output.points), (1, None, 2000));
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
        assert!(
            error("[harvest]\nsunlight = { day = \"06-21\", shading = 2 }\n")
                .contains("shading is 2")
        );
        let two = error("[harvest]\ntrace = \"a\"\nsunlight = { day = \"06-21\" }\n");
        assert!(two.contains("harvest has trace and sunlight; keep one"), "{two}");
        assert!(error("[faults]\nloss = 1.5\n").contains("faults.loss is 1.5"));
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
