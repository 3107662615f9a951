// SPDX-License-Identifier: MIT OR Apache-2.0
//! The joules of a supply, and whether they add up.

use serde::{Deserialize, Serialize};

use super::Supply;

/// Declares joules by cause: a cause stands once, as a field and as what is added up.
macro_rules! joules {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $cause:ident: f64,)+ }) => {
        $(#[$about])*
        pub struct $name { $($(#[$doc])* pub $cause: f64,)+ }

        impl $name {
            /// Adds so many times others.
            pub(super) fn plus(&self, other: &Self, times: f64) -> Self {
                Self { $($cause: self.$cause + times * other.$cause,)+ }
            }
        }
    };
}

joules! {
    /// Joules since the beginning. In = out + losses + change of the store.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct SupplySums {
        /// Energy that the panel offered at its maximum power point.
        pub panel_j: f64,
        /// Energy offered and not taken: too little to start the charger.
        pub unused_j: f64,
        /// Energy offered and not taken: the store was full.
        pub curtailed_j: f64,
        /// Energy offered and not taken: the source was not held at its maximum power point.
        pub mppt_j: f64,
        /// Lost in the charger.
        pub charger_j: f64,
        /// Lost in the store's leakage.
        pub leak_j: f64,
        /// Lost in the store's series resistance.
        pub esr_j: f64,
        /// Taken by the harvester itself.
        pub quiescent_j: f64,
        /// Taken by switching the output on.
        pub overhead_j: f64,
        /// Lost in the output converter.
        pub converter_j: f64,
        /// Left on the rail's capacitance when the chip stopped, and lost in charging it.
        pub decoupling_j: f64,
        /// Delivered at the rail.
        pub load_j: f64,
        /// Taken from the store past the converter.
        pub store_load_j: f64,
    }
}

impl SupplySums {
    /// All that was lost on the way, curtailed light included.
    #[must_use]
    pub fn lost_j(&self) -> f64 {
        self.unused_j
            + self.curtailed_j
            + self.mppt_j
            + self.charger_j
            + self.leak_j
            + self.esr_j
            + self.quiescent_j
            + self.overhead_j
            + self.converter_j
            + self.decoupling_j
    }

    /// All that reached the node.
    #[must_use]
    pub fn out_j(&self) -> f64 {
        self.load_j + self.store_load_j
    }
}

/// An interval in which the energies do not add up: a fault of the engine, never of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the energy balance does not close between {from_s} s and {to_s} s: {rest_j:e} J of {moved_j:e} J are unaccounted for"
)]
pub struct Unclosed {
    /// Its beginning, in seconds of the supply.
    pub from_s: f64,
    /// End of the stretch.
    pub to_s: f64,
    /// Energy that no book holds.
    pub rest_j: f64,
    /// All energy that moved meanwhile.
    pub moved_j: f64,
}

impl Supply {
    /// Joules by cause, so far.
    #[must_use]
    pub fn sums(&self) -> &SupplySums {
        &self.at.sums
    }

    /// Energy in the store, and on the rail.
    #[must_use]
    pub fn stored_j(&self) -> f64 {
        self.config.store.energy_j(&self.at.x) + self.rail_j()
    }

    /// Energy in the store now less that at the beginning.
    #[must_use]
    pub fn stored_delta_j(&self) -> f64 {
        self.stored_j() - self.at.stored_begin_j
    }

    /// In - out - lost - change of the store.
    pub(super) fn rest_j(&self) -> f64 {
        let s = &self.at.sums;
        s.panel_j - s.out_j() - s.lost_j() - self.stored_delta_j()
    }

    /// In - out - lost - change of the store, over the larger of in and out.
    #[must_use]
    pub fn balance_rel(&self) -> f64 {
        let s = &self.at.sums;
        let scale = s.panel_j.max(s.out_j() + s.lost_j());
        if scale == 0.0 { 0.0 } else { self.rest_j().abs() / scale }
    }

    /// The first interval whose energies did not add up, if there was one.
    #[must_use]
    pub fn unclosed(&self) -> Option<Unclosed> {
        self.unclosed
    }

    /// Compares the books of the time since the last look.
    pub(super) fn audit(&mut self, elapsed_s: f64, moved_before_j: f64) {
        let from_s = self.at.time_s;
        self.at.time_s += elapsed_s;
        let rest_j = self.rest_j();
        let moved_j =
            self.at.sums.panel_j + self.at.sums.out_j() + self.at.sums.lost_j() - moved_before_j;
        // What is booked and stored is rounded at every step.
        let rounding = 64.0
            * f64::EPSILON
            * (self.stored_j()
                + self.at.sums.panel_j
                + self.at.sums.lost_j()
                + self.at.sums.out_j());
        let off_j = rest_j - self.at.balanced_j;
        if self.unclosed.is_none() && off_j.abs() > 1e-6 * moved_j.abs() + rounding {
            self.unclosed = Some(Unclosed { from_s, to_s: self.at.time_s, rest_j: off_j, moved_j });
        }
        self.at.balanced_j = rest_j;
    }

    pub(super) fn moved_j(&self) -> f64 {
        self.at.sums.panel_j + self.at.sums.out_j() + self.at.sums.lost_j()
    }
}
