// SPDX-License-Identifier: MIT OR Apache-2.0
//! Laws by which a current follows voltage and clock.

use sunseal_trace::OperatingPoint;

use crate::Interval;
use crate::units::{Amperes, Coulombs, Farads, Hertz, Seconds, Volts};

/// One printed row of a table over core level and clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockRow {
    /// Core voltage level, as PMMCOREV has it.
    pub vcore: u8,
    /// Clock of the CPU, MCLK.
    pub mclk_hz: f64,
    /// Current that is drawn there.
    pub current_a: Interval,
}

/// One printed row of a table over core level and supply voltage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VccRow {
    /// Core voltage level, as PMMCOREV has it.
    pub vcore: u8,
    /// Supply voltage of the chip.
    pub vcc_v: f64,
    /// Current that is drawn there.
    pub current_a: Interval,
}

/// A current that depends on supply voltage, clocks and core voltage level.
#[derive(Clone, Debug, PartialEq)]
pub enum CurrentLaw {
    /// Straight lines between printed clocks of one core level; the first line is carried on to 0 Hz.
    /// Behind a linear regulator the current does not depend on the supply; without one it grows by a
    /// share of itself per volt. Its interval widens away from the voltage of the table.
    Table {
        /// Rows, by level then clock.
        rows: Vec<ClockRow>,
        /// The table's supply voltage.
        vcc_v: f64,
        /// Growth per volt away from it.
        vcc_slope_rel_per_v: f64,
        /// Widening per volt away from it.
        vcc_rel_per_v: f64,
    },
    /// Straight lines between printed supply voltages, held beyond them; levels that are not printed
    /// lie between their printed neighbours.
    Grid {
        /// Rows, by level then voltage.
        rows: Vec<VccRow>,
        /// A further current that is always there.
        plus_a: Interval,
        /// A further current per hertz of SMCLK above 1 MHz.
        smclk_a_per_hz: Interval,
    },
    /// One value under all conditions.
    Constant {
        /// Current that is drawn there.
        current_a: Interval,
    },
    /// Mane 2014, equation 2.3, per cycle: alpha C VCC VCORE + K VCC T, which is a current of
    /// alpha C VCORE f + K.
    Equation23 {
        /// Switched capacitance times activity.
        alpha_c_f: f64,
        /// Current that flows at any clock.
        k_a: f64,
        /// Core voltage by level.
        vcore_v: Vec<f64>,
        /// Relative error, to both sides.
        rel: f64,
    },
    /// None, for a stated reason.
    Zero,
}

impl CurrentLaw {
    /// The current at an operating point.
    ///
    /// # Errors
    /// A clause that says what is not covered and what is.
    pub fn current_a(&self, point: &OperatingPoint, vcc_v: f64) -> Result<Interval, String> {
        match self {
            Self::Table { rows, vcc_v: at_v, vcc_slope_rel_per_v, vcc_rel_per_v } => {
                let row: Vec<_> = rows.iter().filter(|r| r.vcore == point.vcore).collect();
                let Some(last) = row.last() else {
                    return Err(format!("has no row for core voltage level {}", point.vcore));
                };
                let f = f64::from(point.mclk_hz);
                // A DCO tap lies up to a few percent beside the nominal clock of the row.
                if f > last.mclk_hz * 1.05 {
                    return Err(format!(
                        "ends at {} MHz for core voltage level {}, and {} MHz was asked for",
                        last.mclk_hz * 1e-6,
                        point.vcore,
                        f * 1e-6
                    ));
                }
                let current = if row.len() == 1 {
                    last.current_a
                } else {
                    let i = row.partition_point(|r| r.mclk_hz < f).clamp(1, row.len() - 1);
                    let (a, b) = (row[i - 1], row[i]);
                    a.current_a.lerp(b.current_a, (f - a.mclk_hz) / (b.mclk_hz - a.mclk_hz))
                };
                let away_v = vcc_v - at_v;
                let grown = current * (1.0 + vcc_slope_rel_per_v * away_v).max(0.0);
                Ok(grown.widened(vcc_rel_per_v * away_v))
            }
            Self::Grid { rows, plus_a, smclk_a_per_hz } => {
                let over = (f64::from(point.smclk_hz) - 1e6).max(0.0);
                Ok(grid(rows, point.vcore, vcc_v) + *plus_a + *smclk_a_per_hz * over)
            }
            Self::Constant { current_a } => Ok(*current_a),
            Self::Equation23 { alpha_c_f, k_a, vcore_v, rel } => {
                let Some(&core) = vcore_v.get(usize::from(point.vcore)) else {
                    return Err(format!("has no core voltage for level {}", point.vcore));
                };
                let charge: Coulombs = Volts(core) * Farads(*alpha_c_f);
                let f = Hertz(f64::from(point.mclk_hz));
                Ok(Interval::around((Amperes(charge.0 * f.0) + Amperes(*k_a)).0, *rel))
            }
            Self::Zero => Ok(Interval::ZERO),
        }
    }
}

fn grid(rows: &[VccRow], vcore: u8, vcc_v: f64) -> Interval {
    let along = |level: u8| {
        let row: Vec<_> = rows.iter().filter(|r| r.vcore == level).collect();
        let i = row.partition_point(|r| r.vcc_v < vcc_v);
        match (i.checked_sub(1).map(|i| row[i]), row.get(i)) {
            (Some(a), Some(b)) => {
                a.current_a.lerp(b.current_a, (vcc_v - a.vcc_v) / (b.vcc_v - a.vcc_v))
            }
            (Some(r), None) => r.current_a,
            (None, Some(r)) => r.current_a,
            (None, None) => Interval::ZERO,
        }
    };
    let below = rows.iter().map(|r| r.vcore).filter(|&l| l <= vcore).max();
    let above = rows.iter().map(|r| r.vcore).filter(|&l| l >= vcore).min();
    match (below, above) {
        (Some(a), Some(b)) if a == b => along(a),
        (Some(a), Some(b)) => along(a).lerp(along(b), f64::from(vcore - a) / f64::from(b - a)),
        (Some(a), None) | (None, Some(a)) => along(a),
        (None, None) => Interval::ZERO,
    }
}

/// Cost of one event.
#[derive(Clone, Debug, PartialEq)]
pub enum EventLaw {
    /// A charge drawn from the supply.
    Charge {
        /// Charge at any voltage, in coulombs.
        charge_c: Interval,
    },
    /// An energy, whatever the voltage.
    Energy {
        /// Energy at any voltage, in joules.
        energy_j: Interval,
    },
    /// None, for a stated reason.
    Zero,
}

impl EventLaw {
    /// The energy of one event.
    #[must_use]
    pub fn energy_j(&self, vcc_v: f64) -> Interval {
        match self {
            Self::Charge { charge_c } => *charge_c * vcc_v,
            Self::Energy { energy_j } => *energy_j,
            Self::Zero => Interval::ZERO,
        }
    }

    /// The charge of a current that flows for between two times.
    #[must_use]
    pub fn pulse(current_a: Interval, time_min_s: f64, time_max_s: f64) -> Self {
        let q = |i: f64, t: f64| (Amperes(i) * Seconds(t)).0;
        let charge_c = Interval {
            low: q(current_a.low, time_min_s),
            typ: q(current_a.typ, (time_min_s + time_max_s) / 2.0),
            high: q(current_a.high, time_max_s),
        };
        Self::Charge { charge_c }
    }
}
