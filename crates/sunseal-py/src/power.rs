// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameter sets, and counts weighed with them.

use std::collections::BTreeMap;
use std::path::Path;

use pyo3::prelude::*;
use sunseal_board::limits_of;
use sunseal_mcu::{Device, OVERCLOCK};
use sunseal_power::{EnergyBreakdown, Limits, MeasurementUnit, PowerModel};
use sunseal_trace::OperatingPoint;

use crate::error::{EngineError, refuse};
use crate::library::Data;
use crate::program::Counts;

/// A parameter set for a device, with the device's legal voltages and clocks.
#[pyclass(frozen, module = "sunseal._engine")]
pub struct PowerSet {
    model: PowerModel,
    limits: Limits,
    /// The same with clocks as far above them as a machine runs by permission.
    above: Option<Limits>,
}

impl PowerSet {
    /// The limits that a clock keeps to: its own, or by permission those slightly above.
    fn limits(&self, freq_hz: u32, vcc_v: f64) -> &Limits {
        let legal = self.limits.level_for(vcc_v, f64::from(freq_hz)).is_ok();
        self.above.as_ref().filter(|_| !legal).unwrap_or(&self.limits)
    }

    /// Energy of counts as if they had been run at that clock and voltage.
    fn at_clock(&self, counts: &Counts, freq_hz: u32, vcc_v: f64) -> PyResult<EnergyBreakdown> {
        let (ledger, names) = (&counts.ledger, &counts.vocabulary);
        let weighed =
            self.model.reweigh(ledger, names, self.limits(freq_hz, vcc_v), vcc_v, freq_hz);
        weighed.map_err(refuse)
    }
}

/// Limits whose clocks are as far above as a machine runs by permission.
fn above(limits: &Limits) -> Limits {
    let mut above = limits.clone();
    for level in &mut above.levels {
        level.mclk_max_hz = (f64::from(level.mclk_max_hz) * OVERCLOCK) as u32;
    }
    above
}

#[pymethods]
impl PowerSet {
    /// A set by its name, for the device of a file.
    #[new]
    #[pyo3(signature = (data, name, device, overclock=false))]
    fn new(data: Data<'_>, name: &str, device: &str, overclock: bool) -> PyResult<Self> {
        let device = Device::load(Path::new(device)).map_err(refuse)?;
        let sets = data.library().room("power");
        let set = sunseal_power::PowerSet::load(sets, name, &device.name).map_err(refuse)?;
        let limits = limits_of(&device);
        let above = overclock.then(|| above(&limits));
        Ok(Self { model: PowerModel::new(vec![set]).map_err(refuse)?, limits, above })
    }

    /// Full name of the set.
    #[getter]
    fn name(&self) -> String {
        self.model.name()
    }

    /// The documents behind it, the set it extends included.
    fn cite(&self) -> Vec<String> {
        let mut out = Vec::new();
        for set in self.model.sets() {
            let mut next = Some(set);
            while let Some(set) = next {
                out.push(set.cite.clone());
                next = set.base();
            }
        }
        out
    }

    /// Each source of a figure: document, place, note, whether it is unchecked, and why it is assumed.
    fn sources(&self) -> Vec<(String, String, String, bool, Option<String>)> {
        let mut out = Vec::new();
        for set in self.model.sets() {
            let mut next = Some(set);
            while let Some(set) = next {
                let row = |s: &sunseal_power::Source| {
                    let told = (s.document.clone(), s.place.clone(), s.note.clone());
                    (told.0, told.1, told.2, s.recalled, s.assumed.clone())
                };
                out.extend(set.sources.values().map(row));
                next = set.base();
            }
        }
        out
    }

    /// Core voltage levels: fastest clock, lowest supply, PMMCOREV.
    fn levels(&self) -> Vec<(u32, f64, u8)> {
        self.limits.levels.iter().map(|l| (l.mclk_max_hz, l.vcc_min_v, l.vcore)).collect()
    }

    /// The fastest legal clock at a voltage, 0 if there is none.
    fn freq_max_hz(&self, vcc_v: f64) -> u32 {
        self.limits.mclk_max_hz(vcc_v) as u32
    }

    /// Refuses a clock and voltage that the device does not allow.
    fn check(&self, freq_hz: u32, vcc_v: f64) -> PyResult<u8> {
        let mclk_hz = f64::from(freq_hz);
        let level = self.limits(freq_hz, vcc_v).level_for(vcc_v, mclk_hz);
        level.map_err(|e| match above(&self.limits).level_for(vcc_v, mclk_hz) {
            Ok(_) => refuse(format!(
                "{e}; `--allow overclock` has it run all the same, as a bench would"
            )),
            Err(_) => refuse(e),
        })
    }

    /// Prices counts at a clock and voltage.
    fn weigh(&self, counts: &Counts, freq_hz: u32, vcc_v: f64) -> PyResult<Weighed> {
        let vcore = self.check(freq_hz, vcc_v)?;
        Ok(Weighed::new(vcore, &self.at_clock(counts, freq_hz, vcc_v)?))
    }

    /// Prices counts at the clocks and core voltage levels that they were counted at.
    fn weigh_as_run(&self, counts: &Counts, vcc_v: f64) -> PyResult<Weighed> {
        let mut vcore = 0;
        for (hz, level, _) in counts.clocks().into_iter().rev() {
            // A clock that is a little above its megahertz, as from an FLL, is legal where that is.
            let least = self.check((f64::from(hz) / 1.005) as u32, vcc_v)?;
            let needed = self.limits.levels.iter().find(|l| l.vcore == level);
            if let Some(l) = needed.filter(|l| level > least && vcc_v < l.vcc_min_v) {
                return Err(EngineError::new_err(format!(
                    "{vcc_v} V is too low for core voltage level {level}, which the program sets; it needs at \
                     least {} V",
                    l.vcc_min_v
                )));
            }
            vcore = level;
        }
        let b = self
            .model
            .weigh(&counts.ledger, &counts.vocabulary, vcc_v, sunseal_power::Clock::AsRun)
            .map_err(refuse)?;
        Ok(Weighed::new(vcore, &b))
    }

    /// Reading that the measurement unit of Mane 2014 (section 3.1) would have had of the same window.
    fn unit_reading(&self, counts: &Counts, freq_hz: u32, vcc_v: f64) -> PyResult<UnitReading> {
        self.check(freq_hz, vcc_v)?;
        let weighed = self.at_clock(counts, freq_hz, vcc_v)?;
        let mclk_hz = f64::from(freq_hz);
        let unit = MeasurementUnit::mane2014(mclk_hz);
        // The trigger comes at any moment of a sample's period; its middle stands for all.
        let read = unit.measure(vcc_v, mclk_hz, &weighed.cpu_waveform(), 0.5).map_err(refuse)?;
        Ok(UnitReading {
            shunt_ohm: unit.shunt_ohm,
            adc_bits: unit.adc_bits,
            vref_v: unit.vref_v,
            sample_rate_hz: unit.sample_rate_hz,
            samples: read.samples,
            clipped: read.clipped,
            energy_j: read.energy_j,
            cycles: read.cycles,
            error_j: read.error_j,
            bound_j: read.bound_j,
        })
    }
}

/// Joules on a rail, typical, lowest and highest; what of them is recalled, and what assumed.
type RailPrice = (f64, f64, f64, Vec<String>, Vec<String>);

/// Price of what a part counted, on one rail of its own: a set made for `model`, at the rail's voltage.
/// Typical, lowest, highest; the figures that nobody has checked, and those that are assumed.
#[pyfunction]
pub fn rail_energy_j(
    data: Data<'_>,
    set: &str,
    model: &str,
    counts: &Counts,
    part: &str,
    voltage_v: f64,
) -> PyResult<RailPrice> {
    let set =
        sunseal_power::PowerSet::load(data.library().room("power"), set, model).map_err(refuse)?;
    let own = counts.split(part, true);
    let b = PowerModel::new(vec![set])
        .and_then(|m| m.weigh(&own, &counts.vocabulary, voltage_v, sunseal_power::Clock::AsRun))
        .map_err(refuse)?;
    Ok((b.total_j.typ, b.total_j.low, b.total_j.high, b.unchecked, b.assumed))
}

/// Current of a component's state from a set made for `model`, at a supply and a watch
/// crystal's auxiliary clock: typical, lowest, highest.
#[pyfunction]
pub fn state_current_a(
    data: Data<'_>,
    set: &str,
    model: &str,
    component: &str,
    state: &str,
    vcc_v: f64,
) -> PyResult<(f64, f64, f64)> {
    let set =
        sunseal_power::PowerSet::load(data.library().room("power"), set, model).map_err(refuse)?;
    let point =
        OperatingPoint { mclk_hz: 1_000_000, smclk_hz: 1_000_000, aclk_hz: 32_768, vcore: 0 };
    let c = set.current_a(component, state, &point, vcc_v).map_err(refuse)?.value;
    Ok((c.typ, c.low, c.high))
}

/// Own currents of a supply's chips, each counted whole: always, in light and in the dark; beside that, with the output
/// on and off.
#[pyfunction]
#[pyo3(signature = (data, charger, converter))]
pub fn own_currents_a(
    data: Data<'_>,
    charger: Option<&str>,
    converter: Option<&str>,
) -> PyResult<(f64, f64, f64, f64)> {
    let parts = data.library().room("parts");
    let own = sunseal_power::OwnCurrents::of(&parts, charger, converter).map_err(refuse)?;
    Ok((own.lit_a, own.dark_a, own.on_a, own.off_a))
}

/// Reading of Mane's measurement unit: equations 3.1 and 3.2.
#[pyclass(frozen, get_all, module = "sunseal._engine")]
pub struct UnitReading {
    shunt_ohm: f64,
    adc_bits: u32,
    vref_v: f64,
    sample_rate_hz: f64,
    samples: u64,
    clipped: u64,
    energy_j: f64,
    cycles: f64,
    error_j: f64,
    bound_j: f64,
}

/// Cost of counts at one operating point.
#[pyclass(frozen, get_all, module = "sunseal._engine")]
pub struct Weighed {
    vcore: u8,
    time_s: f64,
    energy_j: f64,
    energy_low_j: f64,
    energy_high_j: f64,
    by_state_j: BTreeMap<String, f64>,
    by_component_j: BTreeMap<String, f64>,
    fallbacks: Vec<String>,
    unchecked: Vec<String>,
    assumed: Vec<String>,
}

impl Weighed {
    fn new(vcore: u8, b: &EnergyBreakdown) -> Self {
        Self {
            vcore,
            time_s: b.time_s,
            energy_j: b.total_j.typ,
            energy_low_j: b.total_j.low,
            energy_high_j: b.total_j.high,
            by_state_j: b.by_state().into_iter().map(|(k, v)| (k, v.typ)).collect(),
            by_component_j: b.by_component().into_iter().map(|(k, v)| (k, v.typ)).collect(),
            fallbacks: b.fallbacks.clone(),
            unchecked: b.unchecked.clone(),
            assumed: b.assumed.clone(),
        }
    }
}
