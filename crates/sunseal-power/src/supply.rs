// SPDX-License-Identifier: MIT OR Apache-2.0
//! Source, charger, store, output with cut-off and restart; what is left on the rail after the cut.
//!
//! The store is followed by one of two solvers: a plain capacitor behind converters of constant efficiency has one of
//! its own, which is a few times faster; everything else goes through the circuit. A test holds them beside each other.

mod books;
mod charging;
mod config;
mod general;
mod lasting;
mod mode;
mod plain;
mod rail;
mod repeat;
mod solver;
#[cfg(test)]
mod tests;
mod yearly;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use books::{SupplySums, Unclosed};
pub use config::{SupplyConfig, SupplyError};
pub use lasting::Lasting;
pub use rail::RailAhead;
pub use repeat::Cycle;
pub use yearly::{LitYear, Yearly};

use crate::circuit::{Pace, TOLERANCE};
use crate::store::State;
use crate::{Light, Store};
use mode::Mode;
use solver::{Choice, Heaviest, Turning};

/// Consumption of the node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// From the rail, at [`Supply::rail_v`]; unless it is regulated, the current of that power.
    pub vcc_w: f64,
    /// From the store itself, past the converter.
    pub store_w: f64,
}

impl Load {
    /// As what goes on without turns.
    #[must_use]
    pub fn always(self) -> Turn {
        Turn { load: self, share: 1.0, lasts_s: 0.0 }
    }
}

/// A load among others that it takes turns with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Consumption of the node.
    pub load: Load,
    /// Share of the time; those of all turns are one.
    pub share: f64,
    /// Time for which it lasts at a stretch, where that is short; 0 for what goes on between.
    pub lasts_s: f64,
}

/// Event for which time stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// The output is off and the store has risen to the restart voltage.
    Restart,
    /// The output is on and the terminal has fallen to the cut-off.
    Cut,
}

/// Outcome of alternating loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alternation {
    /// The time has gone by.
    Gone,
    /// The store would not hold what it must all the while.
    TooLong,
    /// It does not hold that now.
    Never,
}

/// Advance of time, and what ended it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// Time that has gone by.
    pub elapsed_s: f64,
    /// Set if it is less than asked for, or a boundary was met at its end.
    pub boundary: Option<Boundary>,
}

/// The mean of loads that take turns.
fn mean(turns: &[Turn]) -> Load {
    let of = |power_w: fn(&Load) -> f64| turns.iter().map(|t| t.share * power_w(&t.load)).sum();
    Load { vcc_w: of(|l| l.vcc_w), store_w: of(|l| l.store_w) }
}

/// A supply in operation.
#[derive(Clone, Debug)]
pub struct Supply {
    config: Arc<SupplyConfig>,
    solver: Choice,
    /// Pace of the circuit's solver.
    pace: Pace,
    /// Voltage at which the output switches on; nowhere while the rail's capacitance still carries the node.
    restart_v: f64,
    /// Energy of the store at rest at the cut-off.
    cut_j: f64,
    unclosed: Option<Unclosed>,
    at: SupplyState,
}

/// State of a supply, without the figures that it was built of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SupplyState {
    x: State,
    /// Remainder that rounding took from the state.
    rest: State,
    stored_begin_j: f64,
    on: bool,
    mode: Mode,
    /// Voltage of the rail's capacitance.
    rail_c_v: f64,
    /// The output is cut off and the node lives on that.
    coasting: bool,
    /// The rail that the load is priced at.
    rail_v: f64,
    time_s: f64,
    balanced_j: f64,
    sums: SupplySums,
}

/// Horizon within which a time that is surely covered is looked for.
const SURE_LOOK_S: f64 = 3600.0;

impl Supply {
    /// A supply whose store stands at `v_v`, output off.
    ///
    /// # Errors
    /// If a figure cannot be.
    pub fn new(config: SupplyConfig, v_v: f64) -> Result<Self, SupplyError> {
        config.check()?;
        if !(0.0..=config.v_max_v).contains(&v_v) {
            let must = format!("the store lies between 0 and {} V", config.v_max_v);
            return Err(SupplyError { key: "initial_v", value: v_v, must });
        }
        Ok(Self::unchecked(config, v_v))
    }

    /// The same of figures that were checked.
    fn unchecked(config: SupplyConfig, v_v: f64) -> Self {
        let x = config.store.at_rest(v_v);
        let at = SupplyState {
            x,
            rest: [0.0; Store::MOST],
            stored_begin_j: config.store.energy_j(&x),
            on: false,
            mode: Mode::default(),
            rail_c_v: 0.0,
            coasting: false,
            rail_v: config.vcc_v,
            time_s: 0.0,
            balanced_j: 0.0,
            sums: SupplySums::default(),
        };
        Self {
            solver: Choice::of(&config),
            pace: Pace::new(TOLERANCE),
            restart_v: config.v_on_v,
            cut_j: config.store.energy_j(&config.store.at_rest(config.v_cut_v)),
            unclosed: None,
            config: Arc::new(config),
            at,
        }
    }

    /// True if it is a plain capacitor between converters of constant efficiency.
    fn is_plain(&self) -> bool {
        matches!(self.solver, Choice::Plain(_))
    }

    /// Saves its state, to go back to.
    #[must_use]
    pub fn state(&self) -> SupplyState {
        self.at.clone()
    }

    /// Goes back to where a supply of the same figures stood.
    pub fn set_state(&mut self, s: &SupplyState) {
        self.at = s.clone();
        self.unclosed = None;
    }

    /// Solves circuits to another local error, of volts and of the energy moved, than 1e-8. If it is
    /// larger, every stretch still leaves less than 3e-7 of the energy in it unaccounted for.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: f64) -> Self {
        self.pace = Pace::new(tolerance);
        self
    }

    /// Solves the general circuit even where the plain solver would do.
    #[cfg(test)]
    fn without_shortcut(mut self) -> Self {
        self.solver = Choice::General;
        self
    }

    /// Figures that it was built of.
    #[must_use]
    pub fn config(&self) -> &SupplyConfig {
        &self.config
    }

    /// Voltage of the store without a load.
    #[must_use]
    pub fn v_v(&self) -> f64 {
        self.solver.get().open_v(self)
    }

    /// True if the rail is up.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.at.on
    }

    /// The rail's voltage: what the load must be priced at, and the chip be told. One that is not
    /// regulated is told in steps of 10 mV.
    #[must_use]
    pub fn rail_v(&self) -> f64 {
        self.at.rail_v
    }

    /// True if the rail follows the store.
    #[must_use]
    pub fn rail_follows(&self) -> bool {
        self.at.coasting || !self.config.output.is_regulated()
    }

    /// Takes energy from the store at once, as much as there is.
    fn take(&mut self, energy_j: f64) -> f64 {
        if energy_j <= 0.0 {
            return 0.0;
        }
        let solver = self.solver;
        solver.get().take_j(self, energy_j)
    }

    /// Switches the output on; its overhead, and the charge of the rail's capacitance, leave the store
    /// at once.
    pub fn switch_on(&mut self) {
        let spent = self.take(self.config.start_overhead_j);
        self.at.sums.overhead_j += spent;
        self.at.on = true;
        self.at.coasting = false;
        if self.config.decoupling_f > 0.0 {
            // Through a converter or a resistor: of what leaves the store at most half arrives.
            let c = self.config.decoupling_f;
            let up_v = self.config.vcc_v;
            let want_j = c * (up_v * up_v - self.at.rail_c_v * self.at.rail_c_v) / 2.0;
            let took = self.take(2.0 * want_j);
            let arrived = want_j.min(took / 2.0);
            self.at.rail_c_v = (self.at.rail_c_v * self.at.rail_c_v + 2.0 * arrived / c).sqrt();
            self.at.sums.decoupling_j += took - arrived;
        }
        self.settle_rail(Load::default(), &Light::default());
    }

    /// Switches the rail off; what is left on its capacitance is lost.
    pub fn switch_off(&mut self) {
        self.at.on = false;
        self.at.coasting = false;
        self.at.sums.decoupling_j += self.rail_j();
        self.at.rail_c_v = 0.0;
        self.at.rail_v = self.config.vcc_v;
        self.at.mode.boost = false;
    }

    /// Power that a load, and the electronics for it, takes from the store.
    #[must_use]
    pub fn drawn_w(&self, load: Load) -> f64 {
        self.solver.get().drawn_w(self, load)
    }

    /// Voltage at the store's terminal under a load.
    #[must_use]
    pub fn terminal_v(&self, load: Load, light: impl Into<Light>) -> f64 {
        self.solver.get().terminal_v(self, load, &light.into())
    }

    /// Energy between the present voltage and the one at which this load meets the cut-off; zero or
    /// negative if below.
    #[must_use]
    pub fn above_cut_j(&self, load: Load, light: impl Into<Light>) -> f64 {
        match self.at.coasting {
            true => self.above_rail_end_j(),
            false => self.solver.get().above_cut_j(self, load, &light.into()),
        }
    }

    /// A time for which this load is surely covered, and in which a rail that follows the store moves
    /// by no more than a step: a lower bound, infinite if the light alone covers it.
    #[must_use]
    pub fn sure_time_s(&self, load: Load, light: impl Into<Light>) -> f64 {
        self.sure_time_up_to_s(load, light, SURE_LOOK_S)
    }

    /// As [`sure_time_s`](Self::sure_time_s), looking no further ahead than `most_s` where it has to
    /// be looked for; a longer answer means no more than that.
    #[must_use]
    pub fn sure_time_up_to_s(&self, load: Load, light: impl Into<Light>, most_s: f64) -> f64 {
        match self.at.coasting {
            true => self.coasts_a_step_s(load),
            false => self.solver.get().sure_time_s(self, load, &light.into(), most_s),
        }
    }

    /// Lets `dt_s` go by under a constant load and light, or less if a boundary comes first.
    pub fn advance(&mut self, dt_s: f64, load: Load, light: impl Into<Light>) -> Advance {
        let light = light.into();
        let solver = self.solver;
        let moved = self.moved_j();
        let mut gone = 0.0;
        let mut advance = loop {
            let left = dt_s - gone;
            let mut advance = match self.at.coasting {
                true => self.coast(left, load, &light),
                false => solver.get().advance(self, left, load, &light),
            };
            gone += advance.elapsed_s;
            // The output is cut off and the rail's capacitance carries on.
            if advance.boundary == Some(Boundary::Cut) && !self.at.coasting && self.tail_j() > 0.0 {
                self.at.coasting = true;
                advance.boundary = None;
            }
            if advance.boundary.is_some() || gone >= dt_s {
                break advance;
            }
        };
        advance.elapsed_s = gone;
        if self.at.on && self.rail_follows() {
            self.settle_rail(load, &light);
        }
        self.audit(gone, moved);
        advance
    }

    /// Lets `dt_s` go by under loads that take turns faster than the store follows, if it holds all the
    /// while `least_j` and two rounds of turns more above what the heaviest of them needs, and if their
    /// mean tells what they do; if not, nothing has happened, and it says whether less time might do.
    pub fn advance_in_turns(
        &mut self,
        dt_s: f64,
        turns: &[Turn],
        least_j: f64,
        light: impl Into<Light>,
    ) -> Alternation {
        let light = light.into();
        let Some(peak) = turns.iter().max_by(|a, b| a.load.vcc_w.total_cmp(&b.load.vcc_w)) else {
            return Alternation::Never;
        };
        if self.at.coasting {
            return Alternation::Never;
        }
        let of = |t: &Turn| self.drawn_w(t.load) * t.lasts_s;
        let heaviest = Heaviest {
            load: peak.load,
            least_j: least_j + 2.0 * turns.iter().map(of).sum::<f64>(),
            most_j: turns.iter().map(of).fold(0.0, f64::max),
        };
        let before = self.clone();
        let moved = self.moved_j();
        let under = Turning { dt_s, turns, heaviest, light: &light };
        let turned = before.solver.get().advance_in_turns(self, &before, under);
        if turned != Alternation::Gone {
            *self = before;
            return turned;
        }
        if self.rail_follows() {
            self.settle_rail(mean(turns), &light);
        }
        self.audit(dt_s, moved);
        turned
    }

    /// Lets `dt_s` go by although the terminal is at the cut-off: an instruction that has begun ends.
    pub fn finish_beyond_cut(&mut self, dt_s: f64, load: Load, light: impl Into<Light>) {
        let light = light.into();
        let solver = self.solver;
        let moved = self.moved_j();
        match self.at.coasting {
            true => self.coast_on(dt_s, load, &light),
            false => solver.get().finish(self, dt_s, load, &light),
        }
        self.audit(dt_s, moved);
    }
}
