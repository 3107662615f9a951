// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of `data/parts`: capacitors, cells, harvesters, chargers, converters, panels, each by its part
//! number. Radios are there too; what they are is `sunseal-radio`'s.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sunseal_data::{PART_KINDS, Room, Table, Value, from_table, sourced};

use crate::{
    Branch, CellRate, CellTemperature, Charger, ColdStart, Curve, Efficiency, EfficiencyTable,
    Element, Output, Store,
};

/// Mistake in a part or in the question for one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PartError {
    /// There is no such file.
    #[error("part {part}: {reason}")]
    Read {
        /// Name of the part.
        part: String,
        /// Folders where it was looked for, and the names that there are.
        reason: String,
    },
    /// The halves of a chip are not the whole.
    #[error("part {part} {reason}")]
    Whole {
        /// Name of the part.
        part: String,
        /// Clause that tells what does not add up.
        reason: String,
    },
    /// The file is not such a part.
    #[error("part {part} ({path}): {reason}")]
    Parse {
        /// Name of the part.
        part: String,
        /// Path of the file.
        path: String,
        /// Place in the file, and what is wrong there.
        reason: String,
    },
}

sourced! {
    /// A capacitor of any technology.
    pub struct CapacitorPart {
        /// Capacitance; of a class-2 ceramic without bias, of one with branches all of them at 0 V.
        pub capacitance_f: f64,
        /// Tolerance of the capacitance, as a share of it.
        pub tolerance_rel: f64,
        /// Resistance in series with it.
        pub esr_ohm: f64,
        /// Rated voltage, never to be exceeded.
        pub v_rated_v: f64,
        /// Leakage at the rated voltage.
        #[serde(rename = "leakage_uA")]
        pub leakage_ua: f64,
        /// Branches in parallel, the fastest first; none for a plain capacitor.
        #[serde(default)]
        pub branch: Vec<BranchPart>,
        /// Capacitance left at a bias: volts and percent. None where it does not depend on it.
        #[serde(default, rename = "derating_percent")]
        pub derating: Vec<[f64; 2]>,
        /// The leakage doubles for so many kelvin.
        #[serde(rename = "leakage_doubles_K")]
        pub leakage_doubles_k: Option<f64>,
    }
}

/// A branch of a supercapacitor.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchPart {
    /// Capacitance at 0 V.
    pub capacitance_f: f64,
    /// Its growth per volt.
    #[serde(default)]
    pub capacitance_f_per_v: f64,
    /// Resistance of the branch.
    pub r_ohm: f64,
}

impl CapacitorPart {
    /// Leakage as a resistor that passes the printed current at the rated voltage.
    #[must_use]
    pub fn leak_ohm(&self) -> f64 {
        self.v_rated_v / (self.leakage_ua * 1e-6)
    }

    /// The store, at a temperature. `plain` leaves branches and derating out.
    ///
    /// # Errors
    /// A clause if the derating is no curve.
    pub fn store(&self, temperature_c: f64, plain: bool) -> Result<Store, String> {
        let warm = self.leakage_doubles_k.map_or(1.0, |k| ((temperature_c - 25.0) / k).exp2());
        let leak_ohm = self.leak_ohm() / warm;
        if plain || self.branch.is_empty() && self.derating.is_empty() {
            return Ok(Store::capacitor(self.capacitance_f, self.esr_ohm, leak_ohm));
        }
        if !self.derating.is_empty() {
            let points: Vec<[f64; 2]> =
                self.derating.iter().map(|[v, p]| [*v, self.capacitance_f * p / 100.0]).collect();
            let capacitance_f = Curve::new(&points).map_err(|e| format!("derating_percent {e}"))?;
            let mut branch = Branch::capacitor(self.capacitance_f, self.esr_ohm, leak_ohm);
            branch.element = Element::Derated { capacitance_f };
            return Ok(Store { branches: vec![branch] });
        }
        // What leaks, leaks at the fastest branch, which is the one at the terminal.
        let branches = self.branch.iter().enumerate().map(|(k, b)| Branch {
            element: Element::Capacitor {
                c0_f: b.capacitance_f,
                c1_f_per_v: b.capacitance_f_per_v,
            },
            r_ohm: b.r_ohm,
            leak_ohm: if k == 0 { leak_ohm } else { f64::INFINITY },
            self_discharge_per_s: 0.0,
        });
        Ok(Store { branches: branches.collect() })
    }
}

sourced! {
    /// Galvanic cell, primary or rechargeable.
    pub struct CellPart {
        /// Charge from full to empty.
        #[serde(rename = "capacity_mAh")]
        pub capacity_mah: f64,
        /// Cells in series; voltages and resistances below are those of one.
        #[serde(default = "one_cell")]
        pub cells_in_series: u32,
        /// Open-circuit voltage: percent of the charge left, volts.
        #[serde(rename = "ocv_V")]
        pub ocv_v: Vec<[f64; 2]>,
        /// Internal resistance: percent of the charge left, ohms.
        pub r_ohm: Vec<[f64; 2]>,
        /// Share of the charge that is lost in a year, at 25 degrees.
        pub self_discharge_percent_per_year: f64,
        /// The self-discharge doubles for so many kelvin.
        #[serde(rename = "self_discharge_doubles_K")]
        pub self_discharge_doubles_k: Option<f64>,
        /// Growth of the resistance for each kelvin below 25 degrees.
        #[serde(default, rename = "r_percent_per_K_below")]
        pub r_percent_per_k_below: f64,
        /// Charge lost for each kelvin below 25 degrees.
        #[serde(default, rename = "capacity_percent_per_K_below")]
        pub capacity_percent_per_k_below: f64,
        /// Charge and resistance over the temperature, where its sheet prints them: stands for the two above.
        pub temperature: Option<CellTemperature>,
        /// Charge over the mean current, where its sheet prints it.
        pub rate: Option<CellRate>,
        /// True if it may be charged.
        pub rechargeable: bool,
        /// Charging ends here (all cells).
        #[serde(rename = "v_charge_V")]
        pub v_charge_v: Option<f64>,
        /// Discharging ends here (all cells).
        #[serde(rename = "v_end_V")]
        pub v_end_v: f64,
    }
}

fn one_cell() -> u32 {
    1
}

const YEAR_S: f64 = 365.25 * 86_400.0;

impl CellPart {
    /// The store, at a temperature.
    ///
    /// # Errors
    /// A clause if a curve is none.
    pub fn store(&self, temperature_c: f64) -> Result<Store, String> {
        let (left, harder) = self.temperature_shares(temperature_c)?;
        let n = f64::from(self.cells_in_series);
        let scaled = |points: &[[f64; 2]], by: f64| -> Vec<[f64; 2]> {
            points.iter().map(|[p, y]| [p / 100.0, y * by]).collect()
        };
        let warm =
            self.self_discharge_doubles_k.map_or(1.0, |k| ((temperature_c - 25.0) / k).exp2());
        let element = Element::Cell {
            capacity_c: self.capacity_mah * 3.6 * left,
            ocv_v: Curve::new(&scaled(&self.ocv_v, n)).map_err(|e| format!("ocv_V {e}"))?,
            r_ohm: Curve::new(&scaled(&self.r_ohm, n * harder))
                .map_err(|e| format!("r_ohm {e}"))?,
        };
        let self_discharge_per_s = self.self_discharge_percent_per_year / 100.0 * warm / YEAR_S;
        Ok(Store {
            branches: vec![Branch {
                element,
                r_ohm: 0.0,
                leak_ohm: f64::INFINITY,
                self_discharge_per_s,
            }],
        })
    }

    /// Open-circuit voltage when empty.
    #[must_use]
    pub fn v_empty_v(&self) -> f64 {
        self.ocv_v.first().map_or(0.0, |p| p[1]) * f64::from(self.cells_in_series)
    }

    /// Open-circuit voltage when full.
    #[must_use]
    pub fn v_full_v(&self) -> f64 {
        self.ocv_v.last().map_or(0.0, |p| p[1]) * f64::from(self.cells_in_series)
    }
}

sourced! {
    /// A boost charger for harvesters.
    pub struct ChargerPart {
        /// Share of the open-circuit voltage at which the source is held.
        pub mppt_percent: f64,
        /// Least input voltage once it runs.
        #[serde(rename = "v_in_min_mV")]
        pub v_in_min_mv: f64,
        /// Least input power once it runs.
        #[serde(rename = "p_min_uW")]
        pub p_min_uw: f64,
        /// Least input voltage of the cold start.
        #[serde(rename = "cold_v_in_min_mV")]
        pub cold_v_in_min_mv: f64,
        /// Least input power of the cold start.
        #[serde(rename = "cold_p_min_uW")]
        pub cold_p_min_uw: f64,
        /// Share of the power that arrives during the cold start.
        pub cold_efficiency_percent: f64,
        /// The store's voltage at which the cold start ends.
        #[serde(rename = "cold_until_V")]
        pub cold_until_v: f64,
        /// Own current from the store, charging; of a chip with a converter too, while that is disabled, less its
        /// `shutdown_uA`.
        #[serde(rename = "quiescent_nA")]
        pub quiescent_na: f64,
        /// The same while the source gives less than it runs from; as `quiescent_nA` where no sheet prints it.
        #[serde(rename = "asleep_nA")]
        pub asleep_na: Option<f64>,
        /// The same of a chip whose converter alone is used, where a pin disables the charger by itself.
        #[serde(rename = "disabled_nA")]
        pub disabled_na: Option<f64>,
        /// The store's voltage at which charging stops.
        #[serde(rename = "v_ov_V")]
        pub v_ov_v: f64,
        /// The output switches on when the store has risen to this.
        #[serde(rename = "v_ok_rising_V")]
        pub v_ok_rising_v: f64,
        /// The output switches off when it has fallen to this.
        #[serde(rename = "v_ok_falling_V")]
        pub v_ok_falling_v: f64,
        /// Input voltage for a source of which only the power is known.
        #[serde(rename = "v_in_default_V")]
        pub v_in_default_v: f64,
        /// By input voltage and current.
        pub efficiency: EfficiencyTable,
    }
}

impl ChargerPart {
    /// The charger.
    ///
    /// # Errors
    /// A clause if its efficiency is no table.
    pub fn charger(&self) -> Result<Charger, String> {
        Ok(Charger::Tracking {
            share: self.mppt_percent / 100.0,
            v_in_min_v: self.v_in_min_mv * 1e-3,
            min_w: self.p_min_uw * 1e-6,
            v_in_default_v: self.v_in_default_v,
            efficiency: Efficiency::try_from(&self.efficiency)
                .map_err(|e| format!("[charger.efficiency] {e}"))?,
            cold: ColdStart {
                v_in_min_v: self.cold_v_in_min_mv * 1e-3,
                min_w: self.cold_p_min_uw * 1e-6,
                efficiency: self.cold_efficiency_percent / 100.0,
                until_v: self.cold_until_v,
            },
        })
    }
}

/// Kind of a converter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConverterKind {
    /// Up or down, always on.
    Switching,
    /// Linear regulator: it takes the current that it gives.
    Linear,
    /// A boost converter that is switched on when the rail falls too low.
    Assisting,
}

sourced! {
    /// A converter between store and rail.
    pub struct ConverterPart {
        /// Kind: it switches, regulates linearly, or only helps out below.
        pub kind: ConverterKind,
        /// Least difference between input and output of a linear regulator.
        #[serde(default, rename = "dropout_mV")]
        pub dropout_mv: f64,
        /// Own current while enabled, asleep between its pulses.
        #[serde(rename = "quiescent_uA")]
        pub quiescent_ua: f64,
        /// Own current while disabled: the rail is off, or an assisting one is not needed.
        #[serde(default, rename = "shutdown_uA")]
        pub shutdown_ua: f64,
        /// It is switched off again so far above the voltage below which it helps.
        #[serde(default, rename = "hysteresis_mV")]
        pub hysteresis_mv: f64,
        /// Least input voltage to start.
        #[serde(rename = "v_start_V")]
        pub v_start_v: f64,
        /// Least input voltage once it runs.
        #[serde(rename = "v_in_min_V")]
        pub v_in_min_v: f64,
        /// By input voltage and output current; not of a linear regulator.
        pub efficiency: Option<EfficiencyTable>,
    }
}

impl ConverterPart {
    /// Refuses a key that a converter of this kind has no use for.
    fn check_keys(&self) -> Result<(), String> {
        let (dropout, hysteresis) = (self.dropout_mv != 0.0, self.hysteresis_mv != 0.0);
        let (key, kind, of) = match self.kind {
            ConverterKind::Linear if self.efficiency.is_some() => ("efficiency", "linear", "not"),
            ConverterKind::Linear if hysteresis => ("hysteresis_mV", "linear", "assisting"),
            ConverterKind::Switching if dropout => ("dropout_mV", "switching", "linear"),
            ConverterKind::Switching if hysteresis => ("hysteresis_mV", "switching", "assisting"),
            ConverterKind::Assisting if dropout => ("dropout_mV", "assisting", "linear"),
            _ => return Ok(()),
        };
        Err(match of {
            "not" => "has [converter.efficiency] and is linear: its efficiency follows from its voltages; leave the table out".to_owned(),
            _ => format!("has converter.{key}, which changes nothing of a converter of kind {kind:?}; leave it out, or say kind = {of:?}"),
        })
    }

    /// The output, for a rail and, if it assists, the voltage below which it is wanted.
    ///
    /// # Errors
    /// A clause that says what is missing.
    pub fn output(&self, vcc_v: f64, below_v: Option<f64>) -> Result<Output, String> {
        self.check_keys()?;
        let efficiency = || {
            let table = self.efficiency.as_ref().ok_or("has no table [converter.efficiency]")?;
            Efficiency::try_from(table).map_err(|e| format!("[converter.efficiency] {e}"))
        };
        let quiescent_a = self.quiescent_ua * 1e-6;
        Ok(match self.kind {
            ConverterKind::Switching => {
                Output::Regulated { efficiency: efficiency()?, quiescent_w: 0.0, quiescent_a }
            }
            ConverterKind::Linear => {
                Output::Linear { dropout_v: self.dropout_mv * 1e-3, quiescent_a }
            }
            ConverterKind::Assisting => Output::Assisted {
                below_v: below_v.ok_or(
                    "helps when the rail is too low; say below which voltage by supply.below_v",
                )?,
                hysteresis_v: self.hysteresis_mv * 1e-3,
                efficiency: efficiency()?,
                quiescent_a,
                shutdown_a: self.shutdown_ua * 1e-6,
                boost_v: vcc_v,
            },
        })
    }
}

/// Reading of the harvester's overhead of equation 6.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverheadReading {
    /// Each switching-on of the output costs it.
    PerStart,
    /// It must stay in the store: it raises the cut-off.
    Reserve,
}

sourced! {
    /// A harvester: charger and regulated output in one.
    pub struct HarvesterPart {
        /// Overhead of equation 6.1.
        #[serde(rename = "overhead_mJ")]
        pub overhead_mj: f64,
        /// Reading of that overhead.
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
        /// The store's voltage at which charging stops.
        pub v_max_v: f64,
        /// The output switches on here.
        pub v_on_v: f64,
        /// The output switches off here.
        pub v_cut_v: f64,
    }
}

sourced! {
    /// A photovoltaic panel: a crystalline cell's figures at standard test conditions (1000 W/m2, 25 degrees,
    /// AM 1.5), from which diodes are fitted, or, of any cell, the points that its datasheet prints.
    pub struct PanelPart {
        /// Open-circuit voltage as printed.
        pub v_oc_v: Option<f64>,
        /// Current with its terminals shorted.
        #[serde(rename = "i_sc_mA")]
        pub i_sc_ma: Option<f64>,
        /// Voltage at the maximum power point.
        pub v_mp_v: Option<f64>,
        /// Current at the maximum power point.
        #[serde(rename = "i_mp_mA")]
        pub i_mp_ma: Option<f64>,
        /// Number of cells in series.
        pub cells_in_series: u32,
        /// Temperature coefficient of the short-circuit current.
        pub alpha_sc_percent_per_k: Option<f64>,
        /// Temperature coefficient of the open-circuit voltage.
        pub beta_oc_percent_per_k: Option<f64>,
        /// A lower light, where the datasheet prints the maximum power in it.
        #[serde(rename = "low_light_W_m2")]
        pub low_light_w_m2: Option<f64>,
        /// The maximum power in that light.
        #[serde(rename = "low_light_p_mp_mW")]
        pub low_light_p_mp_mw: Option<f64>,
        /// Printed points, by growing light, in place of the figures above.
        #[serde(default)]
        pub point: Vec<PanelPoint>,
        /// Least and most light, in the points' unit, up to which the nearest point is carried on: current in
        /// proportion to the light, voltage by its logarithm. Without it the table ends with its points.
        pub light_range: Option<[f64; 2]>,
    }
}

/// A printed point of a panel, in lux or in W/m2.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelPoint {
    /// Illuminance at the point.
    pub lux: Option<f64>,
    /// Irradiance at the point.
    #[serde(rename = "W_m2")]
    pub w_m2: Option<f64>,
    /// Open-circuit voltage at that light.
    pub v_oc_v: f64,
    /// Current with its terminals shorted.
    #[serde(rename = "i_sc_uA")]
    pub i_sc_ua: f64,
    /// Voltage at the maximum power point, or at the operating point that is printed.
    pub v_mp_v: f64,
    /// Current at that voltage.
    #[serde(rename = "i_mp_uA")]
    pub i_mp_ua: f64,
}

sourced! {
    /// A sensor or memory on a chip's serial bus. What it does is a model of `sunseal.machine.devices`.
    pub struct PeripheralPart {
        /// Model of what it does: "tmp102", "adxl345", "fram".
        pub model: String,
        /// Buses that it speaks: "i2c", "spi".
        pub buses: Vec<String>,
        /// I2C addresses that its pins choose from.
        #[serde(default)]
        pub addresses: Vec<u8>,
        /// Fastest clock on I2C.
        #[serde(rename = "scl_max_kHz")]
        pub scl_max_khz: Option<f64>,
        /// Fastest clock on SPI.
        #[serde(rename = "sck_max_MHz")]
        pub sck_max_mhz: Option<f64>,
        /// Lowest supply voltage at which it works.
        pub vcc_min_v: f64,
        /// Highest supply voltage that it stands.
        pub vcc_max_v: f64,
        /// Size of a memory.
        #[serde(default)]
        pub bytes: Option<u32>,
        /// Identification that a memory answers when it is asked who it is.
        #[serde(default)]
        pub id: Vec<u8>,
        /// Time that a sensor takes for a conversion.
        #[serde(default)]
        pub convert_ms: Option<f64>,
        /// Typical supply current by state; a state without one is not priced.
        #[serde(default, rename = "current_uA")]
        pub current_ua: BTreeMap<String, f64>,
    }
}

/// Keys of a part's file beside the table of its kind.
const KEYS: [&str; 9] =
    ["name", "title", "chip", "tolerance", "gap", "partial", "note", "mass_g", "volume_cm3"];

/// Reads table `[<kind>]` of a part: `capacitor`, `cell`, `harvester`, `charger`, `converter`, `panel`, `radio`,
/// `fpga` or `peripheral`.
///
/// # Errors
/// If there is no such part, or it is not of that kind.
pub fn load_part<T: DeserializeOwned>(
    parts: impl Into<Room>,
    part: &str,
    kind: &str,
) -> Result<T, PartError> {
    let parts = &parts.into();
    if let Some(table) = part_table(parts, part, kind)? {
        return Ok(table);
    }
    let (file, path) = read_part(parts, part)?;
    let has = tables(&file).join(", ");
    let reason = format!("is not a {kind}: it has no table [{kind}] but {has}");
    Err(PartError::Parse { part: part.to_owned(), path, reason })
}

/// A table of a part's file, if it has that.
pub(crate) fn part_table<T: DeserializeOwned>(
    parts: &Room,
    part: &str,
    key: &str,
) -> Result<Option<T>, PartError> {
    let (mut file, path) = read_part(parts, part)?;
    let told = |reason| PartError::Parse { part: part.to_owned(), path, reason };
    let table = file.remove(key).map(from_table).transpose();
    table.map_err(|e| told(format!("[{key}] {}", e.reason)))
}

/// Figures of a store's part that stay what they are at 25 degrees, as its file says nothing of the temperature; none of
/// a part that is no store.
///
/// # Errors
/// If there is no such part, or its file cannot be read.
pub fn deaf_to_temperature(parts: &Room, part: &str) -> Result<Option<&'static str>, PartError> {
    if let Some(cell) = part_table::<CellPart>(parts, part, "cell")? {
        return Ok(cell.ignores_temperature().then_some("charge and resistance"));
    }
    let capacitor = part_table::<CapacitorPart>(parts, part, "capacitor")?;
    Ok(capacitor.and_then(|c| c.leakage_doubles_k.is_none().then_some("losses by leakage")))
}

/// Kinds of a part: the tables of its file, such as `radio`.
///
/// # Errors
/// If there is no such part, or its file cannot be read.
pub fn part_kinds(parts: impl Into<Room>, part: &str) -> Result<Vec<String>, PartError> {
    Ok(tables(&read_part(&parts.into(), part)?.0))
}

fn tables(file: &Table) -> Vec<String> {
    PART_KINDS.iter().filter(|k| file.contains_key(**k)).map(|k| (*k).to_owned()).collect()
}

fn read_part(parts: &Room, part: &str) -> Result<(Table, String), PartError> {
    let part = part.to_owned();
    let (path, file) = parts.read(&part).map_err(|e| match e.path {
        None => PartError::Read { part: part.clone(), reason: e.reason },
        Some(path) => PartError::Parse {
            part: part.clone(),
            path: path.display().to_string(),
            reason: e.reason,
        },
    })?;
    let shown = path.display().to_string();
    let known = |key: &&String| !KEYS.iter().chain(&PART_KINDS).any(|k| k == key);
    let reason = match (file.keys().find(known), file.get("name").and_then(Value::as_str)) {
        (Some(key), _) => format!(
            "`{key}` is no key of a part; there are {}, {}",
            KEYS.join(", "),
            PART_KINDS.join(", ")
        ),
        (None, Some(name)) if name == part => return Ok((file, shown)),
        (None, Some(name)) => format!("name is {name:?}; it must be the file's name, {part:?}"),
        (None, None) => format!("has no name; it must be the file's, {part:?}"),
    };
    Err(PartError::Parse { part, path: shown, reason })
}
