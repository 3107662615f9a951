// SPDX-License-Identifier: MIT OR Apache-2.0
//! A typical value between two ends.

use std::ops::{Add, AddAssign, Mul};

use serde::Serialize;

/// Figure with its uncertainty: what is most likely, and how low and how high it may be.
///
/// Sums add the ends: coefficients of one datasheet err together, so no end is averaged away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end of the interval.
    pub low: f64,
    /// Typical, most likely value.
    pub typ: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Interval {
    /// Zero that is exact at both ends.
    pub const ZERO: Self = Self { low: 0.0, typ: 0.0, high: 0.0 };

    /// `typ` give or take `rel` of it.
    #[must_use]
    pub fn around(typ: f64, rel: f64) -> Self {
        Self { low: (typ * (1.0 - rel)).min(typ), typ, high: (typ * (1.0 + rel)).max(typ) }
    }

    /// `typ` with a printed maximum; the lower end is as far away.
    #[must_use]
    pub fn typ_max(typ: f64, max: f64) -> Self {
        Self { low: (2.0 * typ - max).max(0.0).min(typ), typ, high: max.max(typ) }
    }

    /// Both ends moved out by `rel` of the typical value.
    #[must_use]
    pub fn widened(self, rel: f64) -> Self {
        let by = self.typ.abs() * rel.abs();
        Self { low: (self.low - by).max(0.0), typ: self.typ, high: self.high + by }
    }

    /// The point `t` of the way from `self` to `other` (beyond either if outside 0..1).
    #[must_use]
    pub fn lerp(self, other: Self, t: f64) -> Self {
        let f = |a: f64, b: f64| a + (b - a) * t;
        let (a, m, b) = (f(self.low, other.low), f(self.typ, other.typ), f(self.high, other.high));
        Self { low: a.min(m), typ: m, high: b.max(m) }
    }

    /// Half the width as a share of the typical value.
    #[must_use]
    pub fn rel(self) -> f64 {
        if self.typ == 0.0 { 0.0 } else { (self.high - self.low) / 2.0 / self.typ.abs() }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self { low: self.low + rhs.low, typ: self.typ + rhs.typ, high: self.high + rhs.high }
    }
}

impl AddAssign for Interval {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

/// By a factor that is not negative.
impl Mul<f64> for Interval {
    type Output = Self;
    fn mul(self, rhs: f64) -> Self {
        Self { low: self.low * rhs, typ: self.typ * rhs, high: self.high * rhs }
    }
}

impl std::iter::Sum for Interval {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_stay_in_order(typ in 0.0f64..10.0, rel in 0.0f64..2.0, max in 0.0f64..20.0, t in -1.0f64..2.0) {
            let (a, b) = (Interval::around(typ, rel), Interval::typ_max(typ, max));
            for i in [a, b, a + b, a * 3.0, a.widened(rel), a.lerp(b, t)] {
                prop_assert!(i.low <= i.typ && i.typ <= i.high, "{i:?}");
            }
        }
    }
}
