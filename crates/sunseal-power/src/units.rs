// SPDX-License-Identifier: MIT OR Apache-2.0
//! The few quantities of this room as types, so that a current cannot be taken for a charge.
//!
//! Only products that mean something exist: volts times amperes are watts, watts times seconds are joules.

use std::ops::{Add, Div, Mul, Sub};

macro_rules! quantity {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl Add for $name {
            type Output = Self;
            fn add(self, rhs: Self) -> Self {
                Self(self.0 + rhs.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, rhs: Self) -> Self {
                Self(self.0 - rhs.0)
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, rhs: f64) -> Self {
                Self(self.0 * rhs)
            }
        }
    )*};
}

quantity!(
    /// Electric potential, in volts.
    Volts,
    /// Electric current, in amperes.
    Amperes,
    /// Electric charge, in coulombs.
    Coulombs,
    /// Power drawn or given, in watts.
    Watts,
    /// Energy over some time, in joules.
    Joules,
    /// Length of time, in seconds.
    Seconds,
    /// Frequency of a clock, in hertz.
    Hertz,
    /// Electric resistance, in ohms.
    Ohms,
    /// Capacitance of a store, in farads.
    Farads,
);

macro_rules! product {
    ($($a:ident * $b:ident = $c:ident),* $(,)?) => {$(
        impl Mul<$b> for $a {
            type Output = $c;
            fn mul(self, rhs: $b) -> $c {
                $c(self.0 * rhs.0)
            }
        }

        impl Div<$b> for $c {
            type Output = $a;
            fn div(self, rhs: $b) -> $a {
                $a(self.0 / rhs.0)
            }
        }
    )*};
}

product!(
    Volts * Amperes = Watts,
    Watts * Seconds = Joules,
    Amperes * Seconds = Coulombs,
    Volts * Coulombs = Joules,
    Amperes * Ohms = Volts,
    Volts * Farads = Coulombs,
);

impl Seconds {
    /// The time of `cycles` at `clock`.
    #[must_use]
    pub fn of_cycles(cycles: u64, clock: Hertz) -> Self {
        Self(cycles as f64 / clock.0)
    }
}

impl Amperes {
    /// From a figure printed in milliampere.
    #[must_use]
    pub fn from_milli(value: f64) -> Self {
        Self(value * 1e-3)
    }

    /// From a figure printed in microampere.
    #[must_use]
    pub fn from_micro(value: f64) -> Self {
        Self(value * 1e-6)
    }

    /// From a figure printed in nanoampere.
    #[must_use]
    pub fn from_nano(value: f64) -> Self {
        Self(value * 1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_milliampere_at_three_volts_for_a_second_is_three_millijoules() {
        let e: Joules = Volts(3.0) * Amperes::from_milli(1.0) * Seconds(1.0);
        assert!((e.0 - 3e-3).abs() < 1e-18);
        let q: Coulombs = Amperes::from_milli(3.0) * Seconds(74.5e-6);
        assert!(((Volts(3.0) * q).0 - 670.5e-9).abs() < 1e-15);
    }
}
