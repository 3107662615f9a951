// SPDX-License-Identifier: MIT OR Apache-2.0
//! The figures of a supply, and what is wrong with them.

use serde::Serialize;

use crate::{Charger, Output, Store};

/// The figures of a supply.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SupplyConfig {
    /// Element that holds the charge.
    pub store: Store,
    /// Between source and store.
    pub charger: Charger,
    /// Between store and rail.
    pub output: Output,
    /// The charger stops here.
    pub v_max_v: f64,
    /// The output switches on when the store has risen to this.
    pub v_on_v: f64,
    /// The output switches off when the store's terminal has fallen to this.
    pub v_cut_v: f64,
    /// The rail of a regulated output, and the highest of a linear one.
    pub vcc_v: f64,
    /// Power that the electronics take while the output is off, at the restart voltage; falling with the square of the
    /// voltage, so that an empty store owes nothing.
    pub quiescent_off_w: f64,
    /// Current that a charger, and the half of its chip that nobody uses, always take from the store, at the restart
    /// voltage.
    pub charger_quiescent_a: f64,
    /// The same while the source gives less than the charger runs from.
    pub charger_asleep_a: f64,
    /// Energy that each switching-on of the output costs the store.
    pub start_overhead_j: f64,
    /// Capacitance on the rail, from which the node lives on when the output is cut off.
    pub decoupling_f: f64,
    /// The rail at which that ends: the chip's brown-out.
    pub rail_end_v: f64,
}

/// A figure of a supply that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("supply: {key} is {value}; {must}")]
pub struct SupplyError {
    /// The key of the scenario's table [supply].
    pub key: &'static str,
    /// Value that was given.
    pub value: f64,
    /// Clause that tells what would be right.
    pub must: String,
}

impl SupplyConfig {
    /// Checks every figure.
    ///
    /// # Errors
    /// The first that cannot be.
    pub fn check(&self) -> Result<(), SupplyError> {
        let bad = |key, value, must: &str| Err(SupplyError { key, value, must: must.to_owned() });
        let as_error = |(key, value, must)| SupplyError { key, value, must };
        self.store.check().map_err(as_error)?;
        self.charger.check().map_err(as_error)?;
        self.output.check().map_err(as_error)?;
        let positive = [
            ("v_max_v", self.v_max_v),
            ("v_on_v", self.v_on_v),
            ("v_cut_v", self.v_cut_v),
            ("vcc_v", self.vcc_v),
        ];
        for (key, value) in positive {
            if !value.is_finite() || value <= 0.0 {
                return bad(key, value, "it must be a number above zero");
            }
        }
        for (key, value) in [
            ("quiescent_off_w", self.quiescent_off_w),
            ("charger_quiescent_a", self.charger_quiescent_a),
            ("charger_asleep_a", self.charger_asleep_a),
            ("start_overhead_j", self.start_overhead_j),
            ("decoupling_f", self.decoupling_f),
            ("rail_end_v", self.rail_end_v),
        ] {
            if !value.is_finite() || value < 0.0 {
                return bad(key, value, "it must be a number, zero or more");
            }
        }
        if self.v_cut_v >= self.v_max_v {
            let must = format!(
                "the cut-off must lie below the voltage that the store is charged to, v_max_v = {} V",
                self.v_max_v
            );
            return bad("v_cut_v", self.v_cut_v, &must);
        }
        if self.v_on_v > self.v_max_v {
            let must =
                format!("the restart voltage must not lie above v_max_v = {} V", self.v_max_v);
            return bad("v_on_v", self.v_on_v, &must);
        }
        if self.decoupling_f > 0.0 && self.rail_end_v >= self.vcc_v {
            let must = format!("the chip must stop below its supply of {} V", self.vcc_v);
            return bad("rail_end_v", self.rail_end_v, &must);
        }
        let energy = |v: f64| self.store.energy_j(&self.store.at_rest(v));
        let after = energy(self.v_on_v) - self.start_overhead_j;
        if after <= energy(self.v_cut_v) {
            let (mut low, mut high) = (self.v_cut_v, 1e3);
            for _ in 0..100 {
                let mid = (low + high) / 2.0;
                if energy(mid) - self.start_overhead_j > energy(self.v_cut_v) {
                    high = mid
                } else {
                    low = mid
                }
            }
            let must = format!(
                "after the start overhead of {} J the store would stand at or below the cut-off of {} V; \
                 take a restart voltage above {high:.3} V or a larger capacitor",
                self.start_overhead_j, self.v_cut_v
            );
            return bad("v_on_v", self.v_on_v, &must);
        }
        Ok(())
    }
}
