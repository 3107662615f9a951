// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of `data/parts`: capacitors, harvesters, panels, each by its part number. Radios are there
//! too; what they are is `sunseal-radio`'s.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What is wrong with a part.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PartError {
    /// The file cannot be read.
    #[error("part {part}: {path} cannot be read ({reason}); the parts there are {known}")]
    Read {
        /// Which part.
        part: String,
        /// Which file.
        path: String,
        /// What the system says.
        reason: String,
        /// What there is.
        known: String,
    },
    /// The file is not such a part.
    #[error("part {part} ({path}): {reason}")]
    Parse {
        /// Which part.
        part: String,
        /// Which file.
        path: String,
        /// Where and what.
        reason: String,
    },
}

/// A supercapacitor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapacitorPart {
    /// Capacitance.
    pub capacitance_f: f64,
    /// Tolerance of it.
    pub tolerance_rel: f64,
    /// Equivalent series resistance.
    pub esr_ohm: f64,
    /// Rated voltage.
    pub v_rated_v: f64,
    /// Leakage at the rated voltage.
    #[serde(rename = "leakage_uA")]
    pub leakage_ua: f64,
    /// Document and place.
    pub source: String,
    /// What to mind.
    #[serde(default)]
    pub note: String,
    /// Whether a figure is unchecked.
    #[serde(default)]
    pub recalled: bool,
}

impl CapacitorPart {
    /// Leakage as a resistor that passes the printed current at the rated voltage.
    #[must_use]
    pub fn leak_ohm(&self) -> f64 {
        self.v_rated_v / (self.leakage_ua * 1e-6)
    }
}

/// How the harvester's overhead of equation 6.1 is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverheadReading {
    /// Each switching-on of the output costs it.
    PerStart,
    /// It must stay in the store: it raises the cut-off.
    Reserve,
}

/// A harvester: charger and regulated output in one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarvesterPart {
    /// Overhead of equation 6.1.
    #[serde(rename = "overhead_mJ")]
    pub overhead_mj: f64,
    /// How it is read.
    pub overhead_reading: OverheadReading,
    /// Share of the panel's power that reaches the store.
    pub charge_efficiency: f64,
    /// Share of the store's power that reaches the load.
    pub output_efficiency: f64,
    /// Least power of a panel that it starts from.
    #[serde(rename = "panel_min_uW")]
    pub panel_min_uw: f64,
    /// Own consumption with the output on.
    #[serde(rename = "quiescent_on_uW")]
    pub quiescent_on_uw: f64,
    /// Own consumption with the output off.
    #[serde(rename = "quiescent_off_uW")]
    pub quiescent_off_uw: f64,
    /// Charging stops here.
    pub v_max_v: f64,
    /// The output switches on here.
    pub v_on_v: f64,
    /// The output switches off here.
    pub v_cut_v: f64,
    /// Document and place.
    pub source: String,
    /// What is assumed.
    #[serde(default)]
    pub note: String,
    /// Whether a figure is unchecked.
    #[serde(default)]
    pub recalled: bool,
}

/// A photovoltaic panel at standard test conditions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelPart {
    /// Open-circuit voltage.
    pub v_oc_v: f64,
    /// Short-circuit current.
    #[serde(rename = "i_sc_mA")]
    pub i_sc_ma: f64,
    /// Voltage at the maximum power point.
    pub v_mp_v: f64,
    /// Current at the maximum power point.
    #[serde(rename = "i_mp_mA")]
    pub i_mp_ma: f64,
    /// Cells in series.
    pub cells_in_series: u32,
    /// Temperature coefficient of the short-circuit current.
    pub alpha_sc_percent_per_k: f64,
    /// Temperature coefficient of the open-circuit voltage.
    pub beta_oc_percent_per_k: f64,
    /// Document and place.
    pub source: String,
    /// What to mind.
    #[serde(default)]
    pub note: String,
    /// Whether a figure is unchecked.
    #[serde(default)]
    pub recalled: bool,
}

/// Reads table `[<kind>]` of `<dir>/<part>.toml`: `capacitor`, `harvester`, `panel` or `radio`.
///
/// # Errors
/// If there is no such part, or it is not of that kind.
pub fn load_part<T: DeserializeOwned>(dir: &Path, part: &str, kind: &str) -> Result<T, PartError> {
    let path = dir.join(format!("{part}.toml"));
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|e| PartError::Read {
        part: part.to_owned(),
        path: shown.clone(),
        reason: e.to_string(),
        known: known_parts(dir),
    })?;
    let bad =
        |reason: String| PartError::Parse { part: part.to_owned(), path: shown.clone(), reason };
    let mut file: toml::Table = text.parse().map_err(|e: toml::de::Error| bad(e.to_string()))?;
    let Some(table) = file.remove(kind) else {
        let tables =
            file.keys().filter(|k| file[*k].is_table()).cloned().collect::<Vec<_>>().join(", ");
        return Err(bad(format!("is not a {kind}: it has no table [{kind}] but {tables}")));
    };
    table
        .try_into()
        .map_err(|e: toml::de::Error| bad(format!("[{kind}] {}", e.to_string().trim_end())))
}

fn known_parts(dir: &Path) -> String {
    let names = names_in(dir);
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The data files of a folder by name, without `.toml`, sorted; none where it cannot be read.
#[must_use]
pub fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .filter_map(|e| {
            e.ok()?.path().file_name()?.to_str()?.strip_suffix(".toml").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}
