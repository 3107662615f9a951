// SPDX-License-Identifier: MIT OR Apache-2.0
//! Printed figures of a galvanic cell over its temperature and over the current that is taken from it.

use schemars::JsonSchema;
use serde::Deserialize;
use sunseal_data::sourced;

use crate::{CellPart, Curve};

sourced! {
    /// Charge and resistance over the temperature, as a sheet prints them.
    pub struct CellTemperature {
        /// Temperatures of the columns, rising.
        #[serde(rename = "t_C")]
        pub t_c: Vec<f64>,
        /// Charge that it gives, of that at the sheet's reference; the same always if absent.
        #[serde(default)]
        pub capacity_percent: Vec<f64>,
        /// Internal resistance, of that at the sheet's reference; the same always if absent.
        #[serde(default)]
        pub resistance_percent: Vec<f64>,
    }
}

sourced! {
    /// Charge over the mean current, as a sheet prints it.
    pub struct CellRate {
        /// Currents of the columns, rising.
        #[serde(rename = "current_mA")]
        pub current_ma: Vec<f64>,
        /// Charge that it gives at each, of `capacity_mAh`.
        pub capacity_percent: Vec<f64>,
    }
}

/// Points of two columns as a curve of shares.
fn curve(x: impl Iterator<Item = f64>, percent: &[f64], of: &str) -> Result<Curve, String> {
    let x: Vec<f64> = x.collect();
    if x.len() != percent.len() {
        return Err(format!("{of} has {} figures for {} points", percent.len(), x.len()));
    }
    if let Some(p) = percent.iter().find(|p| !p.is_finite() || **p <= 0.0) {
        return Err(format!("{of} has {p}; it must be above zero"));
    }
    let points: Vec<[f64; 2]> = x.iter().zip(percent).map(|(x, p)| [*x, p / 100.0]).collect();
    Curve::new(&points).map_err(|e| format!("{of} {e}"))
}

impl CellTemperature {
    /// Shares of charge and resistance at a temperature; above the warmest printed one those of that.
    fn shares(&self, temperature_c: f64) -> Result<(f64, f64), String> {
        let coldest_c = self.t_c.first().copied().ok_or("cell.temperature has no points")?;
        if temperature_c < coldest_c {
            return Err(format!(
                "is asked at {temperature_c} degrees, and its sheet's coldest figures are at {coldest_c}: take \
                 {coldest_c} degrees or more, or another cell"
            ));
        }
        let share = |percent: &[f64], of: &str| match percent {
            [] => Ok::<_, String>(1.0),
            _ => Ok(curve(self.t_c.iter().copied(), percent, of)?.held(temperature_c)),
        };
        let charge = share(&self.capacity_percent, "cell.temperature.capacity_percent")?;
        let ohms = share(&self.resistance_percent, "cell.temperature.resistance_percent")?;
        Ok((charge, ohms))
    }
}

impl CellPart {
    /// Shares of its charge and of its resistance that a temperature leaves: by the sheet's table, or by so much for
    /// each kelvin below 25 degrees.
    pub(crate) fn temperature_shares(&self, temperature_c: f64) -> Result<(f64, f64), String> {
        if let Some(table) = &self.temperature {
            return table.shares(temperature_c);
        }
        let cold_k = (25.0 - temperature_c).max(0.0);
        let left = 1.0 - self.capacity_percent_per_k_below / 100.0 * cold_k;
        if left <= 0.0 {
            return Err(format!("has no charge left at {temperature_c} degrees"));
        }
        Ok((left, 1.0 + self.r_percent_per_k_below / 100.0 * cold_k))
    }

    /// Share of its charge that it gives at a mean current: between the printed ones straight over the logarithm, beyond
    /// the largest on along the last line.
    ///
    /// # Errors
    /// A clause if its table is none, or if nothing is left.
    pub fn rate_share(&self, current_a: f64) -> Result<f64, String> {
        let Some(rate) = &self.rate else { return Ok(1.0) };
        if rate.current_ma.iter().any(|i| !i.is_finite() || *i <= 0.0) {
            return Err("cell.rate.current_mA must be above zero".into());
        }
        let ln_a = rate.current_ma.iter().map(|i| (i * 1e-3).ln());
        let least = ln_a.clone().next().unwrap_or(0.0);
        let table = curve(ln_a, &rate.capacity_percent, "cell.rate.capacity_percent")?;
        let share = table.carried(current_a.max(1e-12).ln().max(least));
        if share <= 0.0 {
            return Err(format!("gives nothing at a mean current of {current_a} A"));
        }
        Ok(share)
    }

    /// Says what of the temperature is not counted, if its sheet is silent.
    #[must_use]
    pub fn ignores_temperature(&self) -> bool {
        self.temperature.is_none()
            && self.capacity_percent_per_k_below == 0.0
            && self.r_percent_per_k_below == 0.0
    }

    /// Refuses tables that are none.
    ///
    /// # Errors
    /// A clause that says which and why.
    pub fn check_tables(&self) -> Result<(), String> {
        if let Some(table) = &self.temperature {
            table.shares(table.t_c.last().copied().unwrap_or(f64::INFINITY))?;
        }
        self.rate_share(1e-9).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(more: &str) -> CellPart {
        let text = format!(
            "capacity_mAh = 100\nocv_V = [[0, 2.0], [100, 3.0]]\nr_ohm = [[0, 20], [100, 10]]\nrechargeable = false\n\
             self_discharge_percent_per_year = 1\nv_end_V = 2.0\nsource = \"made up\"\n{more}"
        );
        sunseal_data::parse(&text).unwrap()
    }

    #[test]
    fn a_printed_table_stands_for_the_temperature() {
        let c = cell(
            "[temperature]\nt_C = [-20, 20]\ncapacity_percent = [60, 100]\nresistance_percent = [300, 100]\nsource = \"s\"",
        );
        let (cold, warm) = (c.store(0.0).unwrap(), c.store(45.0).unwrap());
        assert!(
            (cold.energy_j(&cold.at_rest(3.0)) / warm.energy_j(&warm.at_rest(3.0)) - 0.8).abs()
                < 1e-9
        );
        assert!((cold.open(&cold.at_rest(3.0)).1 - 20.0).abs() < 1e-6);
        assert!(c.store(-30.0).unwrap_err().contains("coldest figures are at -20"));
        assert!(!c.ignores_temperature() && cell("").ignores_temperature());
    }

    #[test]
    fn charge_falls_with_the_current_along_the_printed_line() {
        let c = cell(
            "[rate]\ncurrent_mA = [0.1, 1, 10]\ncapacity_percent = [100, 90, 60]\nsource = \"s\"",
        );
        for (ma, share) in [(0.01, 1.0), (0.1, 1.0), (10f64.sqrt(), 0.75), (100.0, 0.3)] {
            assert!((c.rate_share(ma * 1e-3).unwrap() - share).abs() < 1e-9, "{ma}");
        }
        assert!(c.rate_share(1.0).is_err() && cell("").rate_share(1.0) == Ok(1.0));
        let torn = cell("[rate]\ncurrent_mA = [1]\ncapacity_percent = [90, 80]\nsource = \"s\"");
        assert!(torn.check_tables().unwrap_err().contains("2 figures for 1 points"));
    }
}
