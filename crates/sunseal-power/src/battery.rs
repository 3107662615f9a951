// SPDX-License-Identifier: MIT OR Apache-2.0
//! A battery of parts: a cell, what stands between it and the rail, and how long that lasts under a node.

use std::fmt;

use sunseal_data::Room;

use crate::{
    CellPart, Charger, ConverterPart, Lasting, Load, Output, OwnCurrents, PartError, Store, Supply,
    SupplyConfig, Turn, load_part,
};

/// Consumption of a node at its rail, by powers at the voltage `vcc_v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// Rail at which the powers were weighed: a rail that follows the cell is given their currents.
    pub vcc_v: f64,
    /// Between the times that it is awake.
    pub asleep_w: f64,
    /// Power while it is awake.
    pub awake_w: f64,
    /// Share of the time in which it is.
    pub busy: f64,
    /// Power of the heaviest pulse.
    pub peak_w: f64,
    /// Least rail that chip and radio need at that clock.
    pub needs_v: f64,
}

/// A cell, and a converter behind it or none.
#[derive(Clone, Debug)]
pub struct Battery {
    name: String,
    cell: CellPart,
    converter: Option<(String, ConverterPart)>,
    /// Current that the converter's whole chip takes always.
    own_a: f64,
    store: Store,
}

/// Reason for which a battery has no life.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BatteryError {
    /// A part that cannot be read.
    #[error(transparent)]
    Part(#[from] PartError),
    /// One that cannot be used so.
    #[error("part {part} {clause}")]
    Clause {
        /// Name of the part.
        part: String,
        /// Clause that tells why not.
        clause: String,
    },
}

impl Battery {
    /// Reads its parts, and its cell's laws at a temperature; of its charge and of what it loses by itself shares are
    /// taken, which say how sure they are.
    ///
    /// # Errors
    /// If a part is none, or is not made for that temperature.
    pub fn of(
        parts: &Room,
        cell: &str,
        converter: Option<&str>,
        temperature_c: f64,
        (charge, self_discharge): (f64, f64),
    ) -> Result<Self, BatteryError> {
        let part: CellPart = load_part(parts, cell, "cell")?;
        let mut store = part.store(temperature_c).map_err(clause(cell))?;
        store.scale(charge, self_discharge);
        store
            .check()
            .map_err(|(key, value, must)| clause(cell)(format!("has {key} = {value}; {must}")))?;
        let converter = match converter {
            None => None,
            Some(name) => Some((name.to_owned(), load_part(parts, name, "converter")?)),
        };
        let own_a =
            OwnCurrents::of(parts, None, converter.as_ref().map(|(name, _)| name.as_str()))?.dark_a;
        Ok(Self { name: cell.to_owned(), cell: part, converter, own_a, store })
    }

    /// Facts of the cell, as its file has them.
    #[must_use]
    pub fn cell(&self) -> &CellPart {
        &self.cell
    }

    /// Tells how long it lasts under a node, full at the beginning. A converter that assists comes on where the rail
    /// would fall below what the node needs.
    ///
    /// # Errors
    /// If a part cannot be used so.
    pub fn lasts(&self, of: &Use) -> Result<Lasting, BatteryError> {
        let mut store = self.store.clone();
        let made = self.supply(store.clone(), of)?;
        let turns = [
            Turn { share: 1.0 - of.busy, ..load(of.asleep_w).always() },
            Turn { share: of.busy, ..load(of.awake_w).always() },
        ];
        let heaviest =
            load(of.peak_w.max(of.asleep_w).max(if of.busy > 0.0 { of.awake_w } else { 0.0 }));
        if self.cell.rate.is_none() {
            return Ok(made.lasts(&turns, heaviest, of.needs_v));
        }
        let share = self.cell.rate_share(made.mean_a(&turns)).map_err(clause(&self.name))?;
        store.scale(share, 1.0);
        Ok(self.supply(store, of)?.lasts(&turns, heaviest, of.needs_v))
    }

    /// The closed loop's supply, its cell full.
    fn supply(&self, store: Store, of: &Use) -> Result<Supply, BatteryError> {
        let (output, least_v) = match &self.converter {
            None => (Output::Direct { drop_v: 0.0 }, 0.0),
            Some((name, c)) => {
                let output = c.output(of.vcc_v, Some(of.needs_v)).map_err(clause(name))?;
                (output, c.v_in_min_v)
            }
        };
        let v_full_v = self.cell.v_full_v();
        let bad = |e: crate::SupplyError| {
            clause(&self.name)(format!("has {} = {}; {}", e.key, e.value, e.must))
        };
        let v_cut_v = self.cell.v_end_v.max(least_v);
        let config = SupplyConfig {
            store,
            charger: Charger::Constant { efficiency: 1.0, min_w: 0.0 },
            output,
            v_max_v: v_full_v,
            v_on_v: v_full_v,
            v_cut_v,
            vcc_v: of.vcc_v,
            quiescent_off_w: 0.0,
            charger_quiescent_a: self.own_a,
            charger_asleep_a: self.own_a,
            start_overhead_j: 0.0,
            decoupling_f: 0.0,
            rail_end_v: 0.0,
        };
        Supply::new(config, v_full_v).map_err(bad)
    }

    /// Energy between two open voltages.
    #[must_use]
    pub fn energy_j(&self, low_v: f64, high_v: f64) -> f64 {
        let at = |v_v: f64| self.store.energy_j(&self.store.at_rest(v_v));
        (at(high_v) - at(low_v)).max(0.0)
    }

    /// Mean open voltage over the charge above another; nothing if there is none.
    #[must_use]
    pub fn mean_v(&self, above_v: f64) -> Option<f64> {
        let (full, low) = (self.store.at_rest(self.cell.v_full_v()), self.store.at_rest(above_v));
        let charge_c = full[0] - low[0];
        let energy_j = self.store.energy_j(&full) - self.store.energy_j(&low);
        (above_v < self.cell.v_full_v() && charge_c > 0.0).then(|| energy_j / charge_c)
    }

    /// Least input voltage of its converter.
    #[must_use]
    pub fn input_min_v(&self) -> Option<f64> {
        self.converter.as_ref().map(|(_, c)| c.v_in_min_v)
    }
}

fn load(vcc_w: f64) -> Load {
    Load { vcc_w, store_w: 0.0 }
}

fn clause(part: &str) -> impl Fn(String) -> BatteryError {
    let part = part.to_owned();
    move |clause| BatteryError::Clause { part: part.clone(), clause }
}

impl fmt::Display for Battery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.converter.as_ref().map_or(Ok(()), |(name, _)| write!(f, " + {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Boundary;
    use proptest::prelude::*;

    fn cell(volts: (f64, f64), bend_v: f64, ohms: (f64, f64), yearly_percent: f64) -> CellPart {
        let text = format!(
            "capacity_mAh = 10\nocv_V = [[0, {}], [40, {}], [100, {}]]\nr_ohm = [[0, {}], [100, {}]]\n\
             self_discharge_percent_per_year = {yearly_percent}\nrechargeable = false\nv_end_V = {}\nsource = \"made up\"",
            volts.0,
            0.6 * volts.0 + 0.4 * volts.1 + bend_v,
            volts.1,
            ohms.0,
            ohms.1,
            volts.0,
        );
        sunseal_data::parse(&text).unwrap()
    }

    fn converter(kind: &str) -> (String, ConverterPart) {
        let more = match kind {
            "linear" => "dropout_mV = 150\nsource = \"made up\"",
            _ => {
                "hysteresis_mV = 100\nsource = \"made up\"\n[efficiency]\nv_V = [1.2, 3.0]\n\
                  current_mA = [0.1, 10]\npercent = [[60, 85], [70, 92]]"
            }
        };
        let text = format!(
            "kind = \"{kind}\"\nquiescent_uA = 40\nshutdown_uA = 1\nv_start_V = 0.9\nv_in_min_V = 1.2\n{more}"
        );
        (kind.to_owned(), sunseal_data::parse(&text).unwrap())
    }

    fn battery(cell: CellPart, converter: Option<(String, ConverterPart)>) -> Battery {
        let store = cell.store(25.0).unwrap();
        Battery { name: "made up".into(), cell, converter, own_a: 0.0, store }
    }

    /// The closed loop's own play of sleep and pulse, up to the first cut; `of` by currents.
    fn played_s(b: &Battery, of: &Use, pulse_s: f64) -> f64 {
        let mut supply = b.supply(b.store.clone(), of).unwrap();
        supply.switch_on();
        let rounds_s = pulse_s / of.busy;
        let mut gone_s = 0.0;
        // The chip stops where the rail does.
        let rail = |s: &Supply, load: Load| match &s.config().output {
            Output::Linear { dropout_v, .. } => (s.terminal_v(load, 0.0) - dropout_v).min(of.vcc_v),
            Output::Assisted { .. } => of.needs_v,
            _ => s.terminal_v(load, 0.0),
        };
        loop {
            for (w, lasts_s) in [(of.awake_w, pulse_s), (of.asleep_w, rounds_s - pulse_s)] {
                let mut left_s = lasts_s;
                while left_s > 0.0 {
                    // A current, whatever rail it is told at.
                    let load = load(w / of.vcc_v * supply.rail_v());
                    if rail(&supply, load) < of.needs_v - 1e-9 {
                        return gone_s;
                    }
                    // A converter that the pulse switches on tells another rail a moment later.
                    let look_s = if left_s == lasts_s { 1e-3 } else { left_s };
                    let now_s = supply.sure_time_up_to_s(load, 0.0, look_s).max(1e-4).min(look_s);
                    let a = supply.advance(now_s, load, 0.0);
                    (left_s, gone_s) = (left_s - a.elapsed_s, gone_s + a.elapsed_s);
                    if a.boundary == Some(Boundary::Cut) {
                        return gone_s;
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_life_is_the_closed_loops(
            full_v in 2.8f64..3.3, empty_v in 1.2f64..1.8, ohms in 1.0f64..40.0, grows in 1.0f64..4.0,
            pulse_ma in 2.0f64..12.0, asleep_ma in 0.02f64..0.3, needs_v in 1.9f64..2.4, kind in 0usize..3,
        ) {
            // Behind much resistance the moment decides in which a pulse is still told the rail before the converter's.
            let ohms = if kind == 2 { ohms / 8.0 } else { ohms };
            let made = cell((empty_v, full_v), 0.3, (ohms * grows, ohms), 3.0);
            let b = battery(made, [None, Some(converter("linear")), Some(converter("assisting"))][kind].clone());
            let vcc_v = if kind == 2 { 2.5 } else { 2.4 };
            let of = Use {
                vcc_v, asleep_w: asleep_ma * 1e-3 * vcc_v, awake_w: pulse_ma * 1e-3 * vcc_v, busy: 0.02,
                peak_w: pulse_ma * 1e-3 * vcc_v, needs_v,
            };
            let told = b.lasts(&of).unwrap();
            let played = played_s(&b, &of, 20.0);
            let (near, rounds_s) = (if kind == 2 { 0.03 } else { 0.004 }, 20.0 / of.busy);
            prop_assert!((told.lasts_s - played).abs() <= near * played + 1.5 * rounds_s, "{kind} {told:?} {played}");
            let out_j = told.leak_j + told.esr_j + told.output_j + told.rail_j;
            prop_assert!((out_j - told.used_j).abs() <= 2e-3 * told.used_j + 1e-12, "{out_j} {told:?}");
        }

        #[test]
        fn resistance_cold_and_a_heavier_pulse_never_lengthen_it(ohms in 0.01f64..30.0, pulse_ma in 1.0f64..15.0) {
            let of = |pulse_ma: f64| Use {
                vcc_v: 3.0, asleep_w: 3e-5, awake_w: 3e-3, busy: 0.01, peak_w: pulse_ma * 3e-3, needs_v: 2.0,
            };
            let life = |ohms: f64, pulse_ma: f64| {
                battery(cell((1.5, 3.0), 0.3, (2.0 * ohms, ohms), 1.0), None).lasts(&of(pulse_ma)).unwrap().lasts_s
            };
            let now_s = life(ohms, pulse_ma);
            prop_assert!(life(1.5 * ohms, pulse_ma) < now_s && life(ohms, 1.5 * pulse_ma) < now_s);
        }
    }

    #[test]
    fn charge_over_current_where_nothing_else_takes_any() {
        // 36 C on a straight line from 3 V to 1.5 V; down to 2.25 V and a drop of 0.05 V.
        let b = battery(cell((1.5, 3.0), 0.0, (10.0, 10.0), 0.0), None);
        let of = Use {
            vcc_v: 3.0,
            asleep_w: 3e-4,
            awake_w: 3e-3,
            busy: 0.1,
            peak_w: 15e-3,
            needs_v: 2.25,
        };
        let share = (3.0 - 2.30) / 1.5;
        let told = b.lasts(&of).unwrap();
        assert!((told.lasts_s / (36.0 * share / 1.9e-4) - 1.0).abs() < 1e-9, "{told:?}");
        assert!((told.end_v - 2.30).abs() < 1e-9);
    }
}
