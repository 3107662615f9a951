// SPDX-License-Identifier: MIT OR Apache-2.0
//! Voltages and clocks that are legal for a chip.

use serde::{Deserialize, Serialize};

/// One core voltage level of the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Core voltage level, as PMMCOREV has it.
    pub vcore: u8,
    /// The fastest CPU clock at this level.
    pub mclk_max_hz: u32,
    /// The lowest supply voltage at this level.
    pub vcc_min_v: f64,
}

/// All levels of the device, slowest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Core voltage levels, the slowest first.
    pub levels: Vec<Level>,
    /// The highest supply voltage.
    pub vcc_max_v: f64,
}

/// A voltage or clock outside the limits.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LimitError {
    /// No level clocks so fast.
    #[error(
        "clock {mclk_mhz} MHz is above what any core voltage level allows; the fastest is {max_mhz} MHz"
    )]
    TooFast {
        /// Value that was asked for.
        mclk_mhz: f64,
        /// Limit that it passes.
        max_mhz: f64,
    },
    /// The clock needs a level that needs more supply.
    #[error(
        "{vcc_v} V is too low for {mclk_mhz} MHz: core voltage level {vcore} needs at least {vcc_min_v} V; \
         raise the voltage or clock at {max_mhz} MHz or slower"
    )]
    TooLow {
        /// Value that was asked for.
        vcc_v: f64,
        /// Value that was asked for.
        mclk_mhz: f64,
        /// The level that the clock needs.
        vcore: u8,
        /// Supply voltage that the level needs.
        vcc_min_v: f64,
        /// The fastest clock at this voltage.
        max_mhz: f64,
    },
    /// Below what any level needs.
    #[error("{vcc_v} V is below the lowest supply voltage, {vcc_min_v} V")]
    TooLowForAny {
        /// Value that was asked for.
        vcc_v: f64,
        /// Limit that it passes.
        vcc_min_v: f64,
    },
    /// Above the absolute limit.
    #[error("{vcc_v} V is above the highest supply voltage, {vcc_max_v} V")]
    TooHigh {
        /// Value that was asked for.
        vcc_v: f64,
        /// Limit that it passes.
        vcc_max_v: f64,
    },
    /// Not a voltage or clock.
    #[error("{what} is {value}: it must be a positive number")]
    NotPositive {
        /// Name of the figure.
        what: &'static str,
        /// Value that was given.
        value: f64,
    },
}

impl Limits {
    /// The lowest level that allows `mclk_hz`, if `vcc_v` is enough for it.
    ///
    /// # Errors
    /// If the pair is not legal.
    pub fn level_for(&self, vcc_v: f64, mclk_hz: f64) -> Result<u8, LimitError> {
        for (what, value) in [("supply voltage in V", vcc_v), ("clock in Hz", mclk_hz)] {
            if value.is_nan() || value <= 0.0 || value.is_infinite() {
                return Err(LimitError::NotPositive { what, value });
            }
        }
        if vcc_v > self.vcc_max_v {
            return Err(LimitError::TooHigh { vcc_v, vcc_max_v: self.vcc_max_v });
        }
        let fastest = self.levels.iter().map(|l| l.mclk_max_hz).max().unwrap_or(0);
        let Some(level) = self.levels.iter().find(|l| mclk_hz <= f64::from(l.mclk_max_hz)) else {
            return Err(LimitError::TooFast {
                mclk_mhz: mclk_hz * 1e-6,
                max_mhz: f64::from(fastest) * 1e-6,
            });
        };
        let vcc_min_v = self.levels.iter().map(|l| l.vcc_min_v).fold(f64::INFINITY, f64::min);
        if vcc_v < vcc_min_v {
            return Err(LimitError::TooLowForAny { vcc_v, vcc_min_v });
        }
        if vcc_v < level.vcc_min_v {
            return Err(LimitError::TooLow {
                vcc_v,
                mclk_mhz: mclk_hz * 1e-6,
                vcore: level.vcore,
                vcc_min_v: level.vcc_min_v,
                max_mhz: self.mclk_max_hz(vcc_v) * 1e-6,
            });
        }
        Ok(level.vcore)
    }

    /// The fastest legal clock at `vcc_v`; 0 if there is none.
    #[must_use]
    pub fn mclk_max_hz(&self, vcc_v: f64) -> f64 {
        if vcc_v > self.vcc_max_v {
            return 0.0;
        }
        let legal = self.levels.iter().filter(|l| vcc_v >= l.vcc_min_v);
        legal.map(|l| f64::from(l.mclk_max_hz)).fold(0.0, f64::max)
    }
}

#[cfg(test)]
pub(crate) fn f5438a() -> Limits {
    // SLAS655H 8.3, Mane 2014 table 3.1.
    let level =
        |vcore, mhz: u32, vcc_min_v| Level { vcore, mclk_max_hz: mhz * 1_000_000, vcc_min_v };
    Limits {
        levels: vec![level(0, 8, 1.8), level(1, 12, 2.0), level(2, 20, 2.2), level(3, 25, 2.4)],
        vcc_max_v: 3.6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_boundary_is_legal_and_what_lies_beyond_is_not() {
        let l = f5438a();
        for (vcc_v, mhz, vcore) in
            [(1.8, 8.0, 0), (2.0, 12.0, 1), (2.2, 20.0, 2), (2.4, 25.0, 3), (3.6, 8.0, 0)]
        {
            assert_eq!(l.level_for(vcc_v, mhz * 1e6), Ok(vcore));
            assert!(l.level_for(vcc_v, mhz * 1e6 + 1.0).is_err() || vcc_v > 2.0);
        }
        let err = l.level_for(2.0, 14e6).unwrap_err().to_string();
        assert!(
            err.contains("level 2 needs at least 2.2 V") && err.contains("12 MHz or slower"),
            "{err}"
        );
        assert!(
            l.level_for(3.0, 25e6 + 1.0).unwrap_err().to_string().contains("fastest is 25 MHz")
        );
        assert!(l.level_for(3.61, 1e6).unwrap_err().to_string().contains("3.6 V"));
        let err = l.level_for(1.79, 1e6).unwrap_err().to_string();
        assert_eq!(err, "1.79 V is below the lowest supply voltage, 1.8 V");
        assert!(l.level_for(f64::NAN, 1e6).is_err());
        assert!(l.level_for(3.0, -1.0).is_err());
        assert_eq!(l.mclk_max_hz(1.79), 0.0);
    }

    proptest! {
        #[test]
        fn more_voltage_never_makes_a_clock_illegal(v in 1.8f64..3.6, dv in 0.0f64..1.0, f in 1e3f64..25e6) {
            let l = f5438a();
            let w = (v + dv).min(3.6);
            prop_assert!(l.level_for(v, f).is_err() || l.level_for(w, f) == l.level_for(v, f));
        }
    }
}
