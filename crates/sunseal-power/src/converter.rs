// SPDX-License-Identifier: MIT OR Apache-2.0
//! Converters and chargers: what stands between source and store, and between store and rail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Efficiency over input voltage and current, from a few printed points: straight lines in the voltage
/// and in the logarithm of the current, held beyond them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Efficiency {
    v_v: Vec<f64>,
    ln_a: Vec<f64>,
    /// By voltage, then current.
    share: Vec<Vec<f64>>,
}

impl Efficiency {
    /// Table with the same efficiency at every current.
    #[must_use]
    pub fn constant(share: f64) -> Self {
        Self { v_v: vec![0.0], ln_a: vec![0.0], share: vec![vec![share]] }
    }

    /// Rows by growing voltage, each with a share for every growing current.
    ///
    /// # Errors
    /// A clause that says what is wrong.
    pub fn new(v_v: &[f64], current_a: &[f64], share: &[Vec<f64>]) -> Result<Self, String> {
        for (name, axis) in [("voltages", v_v), ("currents", current_a)] {
            if axis.is_empty() || axis.iter().any(|x| !x.is_finite() || *x <= 0.0) {
                return Err(format!("has the {name} {axis:?}; they are numbers above zero"));
            }
            if let Some(w) = axis.windows(2).find(|w| w[1] <= w[0]) {
                return Err(format!(
                    "has {name} that go from {} to {}; they must grow",
                    w[0], w[1]
                ));
            }
        }
        if share.len() != v_v.len() || share.iter().any(|row| row.len() != current_a.len()) {
            return Err(format!(
                "needs {} rows of {} efficiencies, one row for each voltage",
                v_v.len(),
                current_a.len()
            ));
        }
        if let Some(x) = share.iter().flatten().find(|x| !(**x > 0.0 && **x <= 1.0)) {
            return Err(format!("has the efficiency {x}; it is a share above 0 and up to 1"));
        }
        Ok(Self {
            v_v: v_v.to_vec(),
            ln_a: current_a.iter().map(|i| i.ln()).collect(),
            share: share.to_vec(),
        })
    }

    /// The share, if it is the same always.
    #[must_use]
    pub fn is_constant(&self) -> Option<f64> {
        match self.share.as_slice() {
            [row] => match row.as_slice() {
                [share] => Some(*share),
                _ => None,
            },
            _ => None,
        }
    }

    /// At an input voltage and a current.
    #[must_use]
    pub fn at(&self, v_v: f64, current_a: f64) -> f64 {
        if let Some(share) = self.is_constant() {
            return share;
        }
        self.at_place(v_v, self.place_of(current_a))
    }

    /// Place of a current between the printed ones.
    pub(crate) fn place_of(&self, current_a: f64) -> (usize, f64) {
        place(&self.ln_a, current_a.max(1e-12).ln())
    }

    /// At an input voltage and the place of a current.
    pub(crate) fn at_place(&self, v_v: f64, (j, t): (usize, f64)) -> f64 {
        let (i, s) = place(&self.v_v, v_v);
        let along = |row: &[f64]| row[j] + (row[(j + 1).min(row.len() - 1)] - row[j]) * t;
        let (a, b) = (along(&self.share[i]), along(&self.share[(i + 1).min(self.share.len() - 1)]));
        a + (b - a) * s
    }

    fn check(&self, key: &'static str) -> Result<(), (&'static str, f64, String)> {
        match self.share.iter().flatten().find(|x| !(**x > 0.0 && **x <= 1.0)) {
            Some(x) => Err((key, *x, "it is a share above 0 and up to 1".to_owned())),
            None => Ok(()),
        }
    }
}

/// Index of the point below and the way to the next, held at the ends.
fn place(axis: &[f64], x: f64) -> (usize, f64) {
    let i = axis.partition_point(|&p| p <= x);
    match (i.checked_sub(1), axis.get(i)) {
        (Some(k), Some(next)) => (k, (x - axis[k]) / (next - axis[k])),
        (Some(k), None) => (k, 0.0),
        (None, _) => (0, 0.0),
    }
}

/// Between source and store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Charger {
    /// Takes the maximum power point and loses a share of it.
    Constant {
        /// Share that reaches the store.
        efficiency: f64,
        /// Least power that it starts from.
        min_w: f64,
    },
    /// The source straight to the store through a diode: the store sets the source's voltage.
    Diode {
        /// Forward voltage of the diode.
        drop_v: f64,
    },
    /// A boost charger that holds the source at a share of its open-circuit voltage.
    Tracking {
        /// Share of the open-circuit voltage at which the charger holds the source.
        share: f64,
        /// Least input voltage once it runs.
        v_in_min_v: f64,
        /// Least input power once it runs.
        min_w: f64,
        /// Input voltage that is taken for a source of which only the power is known.
        v_in_default_v: f64,
        /// By input voltage and current.
        efficiency: Efficiency,
        /// Way in which it begins on an empty store.
        cold: ColdStart,
    },
}

/// A charger's cold start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColdStart {
    /// Least input voltage at which it starts.
    pub v_in_min_v: f64,
    /// Least input power at which it starts.
    pub min_w: f64,
    /// Share of the power that reaches the store.
    pub efficiency: f64,
    /// The store's voltage at which it ends.
    pub until_v: f64,
}

/// Between store and rail.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Output {
    /// A switching converter: the rail is regulated, the store gives a power.
    Regulated {
        /// By the store's voltage and the rail's current.
        efficiency: Efficiency,
        /// Its own consumption while it is on, as a power.
        quiescent_w: f64,
        /// The same as a current from the store.
        quiescent_a: f64,
    },
    /// A linear regulator: the store gives the rail's current; below the dropout the rail follows.
    Linear {
        /// Least difference between store and rail.
        dropout_v: f64,
        /// Current that it takes for itself.
        quiescent_a: f64,
    },
    /// Nothing: the rail is the store's terminal, through a diode if its drop is not 0.
    Direct {
        /// Forward voltage of the diode.
        drop_v: f64,
    },
    /// Direct while the store is high enough, a boost converter below (Piotrowski 2006, section 5).
    Assisted {
        /// The rail below which the converter is switched on.
        below_v: f64,
        /// It is switched off again so far above.
        hysteresis_v: f64,
        /// By the store's voltage and the rail's current.
        efficiency: Efficiency,
        /// The converter's own current while it is on.
        quiescent_a: f64,
        /// The same while it is off.
        shutdown_a: f64,
        /// The rail that it makes.
        boost_v: f64,
    },
}

impl Output {
    /// True if the rail stays where it is whatever the store does.
    #[must_use]
    pub fn is_regulated(&self) -> bool {
        matches!(self, Self::Regulated { .. })
    }

    pub(crate) fn check(&self) -> Result<(), (&'static str, f64, String)> {
        let figures: Vec<(&'static str, f64)> = match self {
            Self::Regulated { efficiency, quiescent_w, quiescent_a } => {
                efficiency.check("output_efficiency")?;
                vec![("quiescent_on_w", *quiescent_w), ("quiescent_a", *quiescent_a)]
            }
            Self::Linear { dropout_v, quiescent_a } => {
                vec![("dropout_v", *dropout_v), ("quiescent_a", *quiescent_a)]
            }
            Self::Direct { drop_v } => vec![("drop_v", *drop_v)],
            Self::Assisted {
                below_v,
                hysteresis_v,
                efficiency,
                quiescent_a,
                shutdown_a,
                boost_v,
            } => {
                efficiency.check("output_efficiency")?;
                if boost_v < below_v {
                    let must = format!(
                        "the converter must make at least the {below_v} V below which it is wanted"
                    );
                    return Err(("boost_v", *boost_v, must));
                }
                vec![
                    ("hysteresis_v", *hysteresis_v),
                    ("quiescent_a", *quiescent_a),
                    ("shutdown_a", *shutdown_a),
                ]
            }
        };
        not_negative(&figures)
    }
}

impl Charger {
    /// The store's voltage at which its cold start ends; 0 where it has none.
    #[must_use]
    pub fn cold_until_v(&self) -> f64 {
        if let Self::Tracking { cold, .. } = self { cold.until_v } else { 0.0 }
    }

    pub(crate) fn check(&self) -> Result<(), (&'static str, f64, String)> {
        match self {
            Self::Constant { efficiency, min_w } => {
                share("charge_efficiency", *efficiency)?;
                not_negative(&[("panel_min_w", *min_w)])
            }
            Self::Diode { drop_v } => not_negative(&[("drop_v", *drop_v)]),
            Self::Tracking { share: s, v_in_min_v, min_w, v_in_default_v, efficiency, cold } => {
                share("mppt_share", *s)?;
                share("cold_start.efficiency", cold.efficiency)?;
                efficiency.check("charge_efficiency")?;
                not_negative(&[
                    ("v_in_min_v", *v_in_min_v),
                    ("min_w", *min_w),
                    ("v_in_default_v", *v_in_default_v),
                    ("cold_start.v_in_min_v", cold.v_in_min_v),
                    ("cold_start.min_w", cold.min_w),
                    ("cold_start.until_v", cold.until_v),
                ])
            }
        }
    }
}

fn share(key: &'static str, value: f64) -> Result<(), (&'static str, f64, String)> {
    match value > 0.0 && value <= 1.0 {
        true => Ok(()),
        false => Err((key, value, "it is a share above 0 and up to 1".to_owned())),
    }
}

fn not_negative(figures: &[(&'static str, f64)]) -> Result<(), (&'static str, f64, String)> {
    match figures.iter().find(|(_, v)| !v.is_finite() || *v < 0.0) {
        Some((key, value)) => Err((*key, *value, "it must be a number, zero or more".to_owned())),
        None => Ok(()),
    }
}

/// Printed points of an efficiency, as a part's file has them.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EfficiencyTable {
    /// Input voltages of the rows.
    #[serde(rename = "v_V")]
    pub v_v: Vec<f64>,
    /// Currents: a charger's input, a converter's output.
    #[serde(rename = "current_mA")]
    pub current_ma: Vec<f64>,
    /// Percent, a row for each voltage.
    pub percent: Vec<Vec<f64>>,
}

impl TryFrom<&EfficiencyTable> for Efficiency {
    type Error = String;
    fn try_from(t: &EfficiencyTable) -> Result<Self, String> {
        let share: Vec<Vec<f64>> =
            t.percent.iter().map(|row| row.iter().map(|p| p / 100.0).collect()).collect();
        let current_a: Vec<f64> = t.current_ma.iter().map(|i| i * 1e-3).collect();
        Self::new(&t.v_v, &current_a, &share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_lies_on_the_points_and_between_them() {
        let e =
            Efficiency::new(&[1.0, 2.0], &[1e-5, 1e-3], &[vec![0.6, 0.8], vec![0.7, 0.9]]).unwrap();
        for (v, i, want) in [
            (1.0, 1e-5, 0.6),
            (2.0, 1e-3, 0.9),
            (1.5, 1e-4, 0.75),
            (0.1, 1e-9, 0.6),
            (9.0, 1.0, 0.9),
            (1.5, 0.0, 0.65),
        ] {
            assert!((e.at(v, i) - want).abs() < 1e-12, "{v} {i}: {}", e.at(v, i));
        }
        assert_eq!(Efficiency::constant(0.85).at(3.0, 1e-3), 0.85);
        assert!(Efficiency::new(&[1.0], &[1.0], &[vec![1.2]]).unwrap_err().contains("1.2"));
        assert!(
            Efficiency::new(&[1.0], &[1.0, 2.0], &[vec![0.2]]).unwrap_err().contains("1 rows of 2")
        );
        assert!(Efficiency::new(&[2.0, 1.0], &[1.0], &[]).unwrap_err().contains("from 2 to 1"));
    }
}
