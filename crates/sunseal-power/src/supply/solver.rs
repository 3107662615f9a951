// SPDX-License-Identifier: MIT OR Apache-2.0
//! Solvers of a supply's store: what they are asked, and which of the two follows a store.

use super::general::General;
use super::plain::Plain;
use super::{Advance, Alternation, Load, Supply, SupplyConfig, Turn};
use crate::Light;

/// A way to follow the store of a supply whose output is not coasting on the rail's capacitance.
pub(super) trait Solver {
    /// Voltage of the store without a load.
    fn open_v(&self, s: &Supply) -> f64;

    /// Takes energy from the store at once, as much as there is, and says how much that was.
    fn take_j(&self, s: &mut Supply, energy_j: f64) -> f64;

    /// Power that a load, and the electronics for it, takes from the store.
    fn drawn_w(&self, s: &Supply, load: Load) -> f64;

    /// Voltage at the store's terminal under a load.
    fn terminal_v(&self, s: &Supply, load: Load, light: &Light) -> f64;

    /// Energy above the cut-off that this load meets, with what the rail's capacitance holds; zero or negative below.
    fn above_cut_j(&self, s: &Supply, load: Load, light: &Light) -> f64;

    /// A lower bound of the time for which a load is covered and a rail that follows the store moves by no more than
    /// a step, looked for up to `most_s`.
    fn sure_time_s(&self, s: &Supply, load: Load, light: &Light, most_s: f64) -> f64;

    /// Lets time go by up to a boundary.
    fn advance(&self, s: &mut Supply, dt_s: f64, load: Load, light: &Light) -> Advance;

    /// Lets time go by under the mean of turns while the store, which stands as it does in
    /// `before`, bears the heaviest. Of any other answer than [`Alternation::Gone`] the state that it leaves is to be thrown
    /// away.
    fn advance_in_turns(&self, s: &mut Supply, before: &Supply, under: Turning<'_>) -> Alternation;

    /// Lets time go by with the terminal beyond the cut-off, whatever the store can still give.
    fn finish(&self, s: &mut Supply, dt_s: f64, load: Load, light: &Light);
}

/// Time that goes by under loads that take turns.
#[derive(Clone, Copy)]
pub(super) struct Turning<'a> {
    pub dt_s: f64,
    pub turns: &'a [Turn],
    pub heaviest: Heaviest,
    pub light: &'a Light,
}

/// The heaviest load of several that take turns, and what the store must hold for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heaviest {
    pub load: Load,
    /// Energy above the cut-off that must stay.
    pub least_j: f64,
    /// Energy that one turn takes at most.
    pub most_j: f64,
}

/// Loads take turns on paper only while the heaviest pulls the terminal down by less than this share.
/// The loss in the resistance is counted to first order: what is left out is twice this share of it.
pub(super) const SAG: f64 = 1e-2;

/// The solver of a supply.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    Plain(Plain),
    General,
}

impl Choice {
    pub fn of(config: &SupplyConfig) -> Self {
        Plain::of(config).map_or(Self::General, Self::Plain)
    }

    #[inline]
    pub fn get(&self) -> &dyn Solver {
        match self {
            Self::Plain(plain) => plain,
            Self::General => &General,
        }
    }
}
