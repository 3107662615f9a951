// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles, picoseconds and the operating point.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};

/// A count of CPU clock (MCLK) cycles.
pub type Cycles = u64;

const PICOS_PER_SECOND: u128 = 1_000_000_000_000;

/// Machine time since power-on in picoseconds; 64 bits would hold 213 days only.
///
/// A clock is described by its origin and frequency and its tick `k` lies at
/// [`origin + Picos::of_ticks(k, f)`](Picos::of_ticks): rounding never accumulates.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Picos(pub u128);

impl Picos {
    /// Moment at which the machine was made.
    pub const ZERO: Self = Self(0);
    /// Moment that never comes.
    pub const MAX: Self = Self(u128::MAX);

    /// The time of `ticks` periods of a clock at `freq_hz`, rounded to the nearest picosecond.
    ///
    /// # Panics
    /// If `freq_hz` is zero.
    #[must_use]
    pub fn of_ticks(ticks: u64, freq_hz: u32) -> Self {
        assert!(freq_hz != 0, "a clock at 0 Hz has no ticks; give its frequency in Hz");
        let freq_hz = u128::from(freq_hz);
        Self((u128::from(ticks) * PICOS_PER_SECOND + freq_hz / 2) / freq_hz)
    }

    /// How many ticks of a clock at `freq_hz` that started at zero have happened by this time:
    /// the largest `k` with `Picos::of_ticks(k, freq_hz) <= self`.
    #[must_use]
    pub fn ticks(self, freq_hz: u32) -> u64 {
        if freq_hz == 0 {
            return 0;
        }
        // The tick behind the quotient may have been rounded down onto this very picosecond.
        let guess = (self.0 * u128::from(freq_hz) / PICOS_PER_SECOND) as u64;
        guess + u64::from(Self::of_ticks(guess + 1, freq_hz) <= self)
    }

    /// The time in seconds, for display and for physics.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// The whole microseconds of the time.
    #[must_use]
    pub fn as_micros(self) -> u64 {
        (self.0 / 1_000_000) as u64
    }

    /// The nearest picosecond to a time in seconds; `None` if negative, not finite or too late.
    #[must_use]
    pub fn from_seconds(time_s: f64) -> Option<Self> {
        let picos = (time_s * 1e12).round();
        (picos >= 0.0 && picos < u128::MAX as f64).then_some(Self(picos as u128))
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Picos {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign for Picos {
    fn add_assign(&mut self, rhs: Self) {
        self.0 += rhs.0;
    }
}

impl Sub for Picos {
    type Output = Self;
    fn sub(self, rhs: Self) -> Self {
        Self(self.0 - rhs.0)
    }
}

/// A span so many times.
impl Mul<u64> for Picos {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * u128::from(times))
    }
}

impl fmt::Display for Picos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}

/// What the coefficients of a state depend on: its clocks and the core voltage level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperatingPoint {
    pub mclk_hz: u32,
    pub smclk_hz: u32,
    pub aclk_hz: u32,
    /// Core voltage level (PMMCOREV).
    pub vcore: u8,
}

impl fmt::Display for OperatingPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "MCLK {} Hz, SMCLK {} Hz, ACLK {} Hz, VCORE {}",
            self.mclk_hz, self.smclk_hz, self.aclk_hz, self.vcore
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_tick_of_the_watch_crystal_is_rounded_not_truncated() {
        // 1e12 / 32768 = 30517578.125
        assert_eq!(Picos::of_ticks(1, 32_768), Picos(30_517_578));
        assert_eq!(Picos::of_ticks(4, 32_768), Picos(122_070_313));
        assert_eq!(Picos::of_ticks(32_768, 32_768), Picos(1_000_000_000_000));
    }

    #[test]
    fn seconds_that_are_no_machine_time_are_none() {
        assert_eq!(Picos::from_seconds(1.5), Some(Picos(1_500_000_000_000)));
        assert_eq!(Picos::from_seconds(-1.0), None);
        assert_eq!(Picos::from_seconds(f64::NAN), None);
        assert_eq!(Picos::from_seconds(1e9), Some(Picos(1_000_000_000_000_000_000_000)));
        assert_eq!(Picos::from_seconds(1e30), None);
    }

    proptest! {
        #[test]
        fn ticks_inverts_of_ticks(ticks in 0u64..1 << 40, freq_hz in 1_000_000u32..40_000_000) {
            let time = Picos::of_ticks(ticks, freq_hz);
            prop_assert_eq!(time.ticks(freq_hz), ticks);
            if time.0 > 0 {
                prop_assert!(Picos(time.0 - 1).ticks(freq_hz) < ticks);
            }
        }

        #[test]
        fn rounding_does_not_accumulate(ticks in 0u64..1 << 40, freq_hz in 1u32..40_000_000) {
            let exact = ticks as f64 * 1e12 / f64::from(freq_hz);
            let got = Picos::of_ticks(ticks, freq_hz).0 as f64;
            prop_assert!((got - exact).abs() <= 1.0 + exact * 1e-15);
        }
    }
}
