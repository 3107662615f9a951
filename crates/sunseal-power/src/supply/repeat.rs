// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many cycles that are alike at once, by three of them.
//!
//! A duty cycle moves a large store by little, a loop of starts and cuts by nothing at all. The first, the middle and the
//! last of many cycles give their sum exactly where they change on the way as a parabola; what does not close its books
//! under that is refused.

use super::{Supply, SupplyState, SupplySums};
use crate::Store;
use crate::store::State;

/// Share of the energy that moved which many cycles at once may leave unaccounted for.
const UNACCOUNTED: f64 = 3e-7;

/// Effect of one cycle of loads on a supply.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    dx: State,
    sums: SupplySums,
    /// Duration of the cycle.
    pub time_s: f64,
}

impl SupplyState {
    /// Effect of what happened up to `end`; nothing that could happen again, if the electronics are at something else
    /// there.
    #[must_use]
    pub fn cycle_to(&self, end: &Self) -> Option<Cycle> {
        let alike = self.mode == end.mode && self.on == end.on && self.coasting == end.coasting;
        let moved = |k: usize| (end.x[k] - self.x[k]) + (end.rest[k] - self.rest[k]);
        alike.then(|| Cycle {
            dx: std::array::from_fn(moved),
            sums: end.sums.plus(&self.sums, -1.0),
            time_s: end.time_s - self.time_s,
        })
    }
}

impl Cycle {
    /// The mean of so many cycles by the first, the middle one and the last, whose shares [`Cycle::weights`] gives.
    #[must_use]
    pub fn mean([first, mid, last]: [&Self; 3], times: f64) -> Self {
        let [w, m, _] = Self::weights(times);
        Self {
            dx: std::array::from_fn(|k| w * (first.dx[k] + last.dx[k]) + m * mid.dx[k]),
            sums: SupplySums::default().plus(&first.sums, w).plus(&mid.sums, m).plus(&last.sums, w),
            time_s: w * (first.time_s + last.time_s) + m * mid.time_s,
        }
    }

    /// Shares of the first, the middle and the last of so many cycles in their mean, exact for a parabola: Simpson's
    /// rule for a sum, 1/6 (n + 1) / (n - 1) at the ends.
    #[must_use]
    pub fn weights(times: f64) -> [f64; 3] {
        let end = (times + 1.0) / (6.0 * (times - 1.0));
        [end, 1.0 - 2.0 * end, end]
    }

    /// Energy that the node got in it.
    #[must_use]
    pub fn out_j(&self) -> f64 {
        self.sums.out_j()
    }

    /// Energy that the source offered in it.
    #[must_use]
    pub fn panel_j(&self) -> f64 {
        self.sums.panel_j
    }
}

impl Supply {
    /// Distance that so many cycles move the store, each a change as large as this combination of others' changes: in
    /// volts or, where that is more, in shares of a cell's charge.
    #[must_use]
    pub fn moved_by(&self, cycles: &[(f64, &Cycle)]) -> f64 {
        let all = self.config.store.branches.iter().enumerate();
        let moves = all.map(|(k, b)| {
            let dx: f64 = cycles.iter().map(|(times, c)| times * c.dx[k]).sum();
            let x = self.at.x[k];
            (b.open_v(x + dx) - b.open_v(x)).abs().max(dx.abs() / b.scale().max(1.0))
        });
        moves.fold(0.0, f64::max)
    }

    /// This supply with its store so many cycles on and its books empty, to try one there.
    #[must_use]
    pub fn ahead(&self, cycles: &[(f64, &Cycle)]) -> Self {
        let mut there = self.clone();
        cycles.iter().for_each(|(times, cycle)| there.shift(cycle, *times));
        there.at.stored_begin_j = there.stored_j();
        (there.at.sums, there.at.time_s) = (SupplySums::default(), 0.0);
        there.at.balanced_j = there.rest_j();
        there
    }

    /// Lets cycles go by at once, each as `cycle`, the mean of them. Where the books would not close,
    /// it says so, and nothing has happened.
    #[must_use]
    pub fn repeat(&mut self, cycle: &Cycle, times: f64) -> bool {
        let before = self.at.clone();
        self.shift(cycle, times);
        self.at.sums = self.at.sums.plus(&cycle.sums, times);
        self.at.time_s += times * cycle.time_s;
        let rest_j = self.rest_j();
        let moved_j = times * (cycle.sums.panel_j + cycle.sums.out_j() + cycle.sums.lost_j());
        let closes = (rest_j - before.balanced_j).abs() <= UNACCOUNTED * moved_j;
        match closes {
            true => self.at.balanced_j = rest_j,
            false => self.at = before,
        }
        closes
    }

    fn shift(&mut self, cycle: &Cycle, times: f64) {
        for k in 0..Store::MOST {
            self.at.x[k] += times * cycle.dx[k];
        }
    }
}
