// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rail of a supply: one that follows the store, and what its capacitance carries on after the cut-off.

use super::mode::Mode;
use super::{Advance, Boundary, Load, Supply};
use crate::circuit::{Probe, crossing};
use crate::store::State;
use crate::{Light, Output};

/// A rail that follows the store is told in steps of this.
const RAIL_STEP_V: f64 = 0.01;
/// A moving rail is told so far ahead, and so many steps at most.
const RAIL_SPAN_S: f64 = 20e-3;
const RAIL_STEPS_MOST: f64 = 16.0;
/// Over such a moment its speed is seen, and so closely its end.
const RAIL_MOMENT_S: f64 = 1e-5;
/// Bend away from a straight line that a voltage told ahead may have.
const RAIL_BEND_V: f64 = 0.5 * RAIL_STEP_V;

/// Forecast of a rail that follows the store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RailAhead {
    /// For so long this tells it.
    pub time_s: f64,
    /// Voltage of the rail at the start of the stretch.
    pub from_v: f64,
    /// Voltage of the rail at the end of the stretch.
    pub to_v: f64,
}

impl RailAhead {
    /// In so many steps of 10 mV it is told.
    #[must_use]
    pub fn steps(&self) -> u32 {
        ((self.to_v - self.from_v).abs() / RAIL_STEP_V).round().max(1.0) as u32
    }

    /// The rail in the middle of a share of its time, on a step.
    #[must_use]
    pub fn at_v(&self, share: f64) -> f64 {
        on_a_step(self.from_v + (self.to_v - self.from_v) * share)
    }
}

/// A rail as it is told.
fn on_a_step(rail_v: f64) -> f64 {
    ((rail_v / RAIL_STEP_V).round() * RAIL_STEP_V).max(RAIL_STEP_V)
}

impl Supply {
    pub(super) fn rail_j(&self) -> f64 {
        self.config.decoupling_f * self.at.rail_c_v * self.at.rail_c_v / 2.0
    }

    /// Follows the store with the rail.
    pub(super) fn settle_rail(&mut self, load: Load, light: &Light) {
        let rail_v = if self.at.coasting {
            self.at.rail_c_v
        } else {
            match &self.config.output {
                Output::Regulated { .. } => {
                    self.at.rail_v = self.config.vcc_v;
                    return;
                }
                Output::Linear { dropout_v, .. } => {
                    let v = self.probe(load, light).terminal_v - dropout_v;
                    if v >= self.config.vcc_v {
                        self.at.rail_v = self.config.vcc_v;
                        return;
                    }
                    v
                }
                Output::Direct { drop_v } => self.probe(load, light).terminal_v - drop_v,
                Output::Assisted { boost_v, .. } if self.at.mode.boost => {
                    self.at.rail_v = *boost_v;
                    return;
                }
                Output::Assisted { .. } => self.probe(load, light).terminal_v,
            }
        };
        // Kept while it is near, so that a rail on the edge of a step does not toggle.
        if (rail_v - self.at.rail_v).abs() > 0.6 * RAIL_STEP_V {
            self.at.rail_v = on_a_step(rail_v);
        }
    }

    /// Energy that the rail's capacitance holds for the node after a cut.
    pub(super) fn tail_j(&self) -> f64 {
        if self.config.decoupling_f == 0.0 || !self.at.on {
            return 0.0;
        }
        self.above_rail_end_j().max(0.0)
    }

    /// The rail of a state of the store, where it follows that.
    pub(super) fn rail_of_v(&self, mode: Mode, p: &Probe) -> Option<f64> {
        match &self.config.output {
            Output::Direct { drop_v } => Some(p.terminal_v - drop_v),
            Output::Linear { dropout_v, .. } => {
                Some((p.terminal_v - dropout_v).min(self.config.vcc_v))
            }
            Output::Assisted { .. } if !mode.boost => Some(p.terminal_v),
            _ => None,
        }
    }

    /// Between which voltages a rail that follows the store counts as the one that was told, or as near as so many
    /// steps. Told by another load it may be off by more than a step already, as behind 75 ohm: then what counts is
    /// how it moves.
    pub(super) fn near_rail_v(&self, mode: Mode, now: &Probe, steps: f64) -> (f64, f64) {
        let Some(now_v) = self.rail_of_v(mode, now) else {
            return (f64::NEG_INFINITY, f64::INFINITY);
        };
        let (told_v, moved_v) = (0.6 * RAIL_STEP_V, (steps - 0.6) * RAIL_STEP_V);
        (
            (self.at.rail_v - told_v).min(now_v - moved_v),
            (self.at.rail_v + told_v).max(now_v + moved_v),
        )
    }

    /// Margin of a state to the cut-off, to the next change of mode, and to the ends of a range of the rail.
    pub(super) fn margin(
        &self,
        mode: Mode,
        p: &Probe,
        fed: Option<(f64, f64)>,
        near_v: (f64, f64),
    ) -> f64 {
        let within_v = self
            .rail_of_v(mode, p)
            .map_or(f64::INFINITY, |rail_v| (rail_v - near_v.0).min(near_v.1 - rail_v));
        self.mode_margin(mode, p, fed).min(self.cut_margin_v(p)).min(within_v)
    }

    /// Foretells what a rail that follows the store will do under a load, as far as the rates of the store's state
    /// tell: up to a step, or several where it moves by as much soon and nearly straight, and not beyond a cut-off or a
    /// change of mode. No bound: what is booked is what was drawn.
    #[must_use]
    pub fn rail_ahead(&self, load: Load, light: impl Into<Light>, most_s: f64) -> RailAhead {
        let light = light.into();
        if self.at.coasting {
            let time_s = self.sure_time_up_to_s(load, light, most_s).min(most_s);
            return RailAhead { time_s, from_v: self.at.rail_v, to_v: self.at.rail_v };
        }
        let turns = [load.always()];
        let (mode, now) = self.settled_mode(&turns, &light);
        let net = self.net(mode, &turns, &light);
        let Some(from_v) = self.rail_of_v(mode, &now) else {
            let time_s = self.sure_time_up_to_s(load, light, most_s).min(most_s);
            return RailAhead { time_s, from_v: self.at.rail_v, to_v: self.at.rail_v };
        };
        let rates = net.state_rates(&self.at.x);
        let at = |t_s: f64| -> State { std::array::from_fn(|k| self.at.x[k] + rates[k] * t_s) };
        let rail_v = |t_s: f64| self.rail_of_v(mode, &net.probe(&at(t_s))).unwrap_or(from_v);
        let moment_s = RAIL_MOMENT_S.min(most_s);
        let begins_v_per_s = (rail_v(moment_s) - from_v) / moment_s;
        let moves_v_per_s = begins_v_per_s.abs();
        let steps = (moves_v_per_s * RAIL_SPAN_S / RAIL_STEP_V).clamp(1.0, RAIL_STEPS_MOST);
        let near_v = self.near_rail_v(mode, &now, steps);
        let fed = self.feed(&light, mode.cold);
        let margin = |t_s: f64| self.margin(mode, &net.probe(&at(t_s)), fed, near_v);
        let reach_s = (1.5 * steps * RAIL_STEP_V / moves_v_per_s).min(most_s);
        let end = margin(reach_s);
        let time_s = if end > 0.0 {
            reach_s
        } else {
            crossing((0.0, margin(0.0)), (reach_s, end), RAIL_MOMENT_S.min(0.01 * reach_s), margin)
                .1
        };
        if steps == 1.0 {
            return RailAhead { time_s, from_v, to_v: rail_v(time_s) };
        }
        // The line bends as far as the speed at its end is another one than at its beginning.
        let there = at(time_s);
        let rates = net.state_rates(&there);
        let moment = std::array::from_fn(|k| there[k] + rates[k] * moment_s);
        let moved_v = |x: &State| self.rail_of_v(mode, &net.probe(x)).unwrap_or(from_v);
        let ends_v_per_s = (moved_v(&moment) - moved_v(&there)) / moment_s;
        let bend_v = (ends_v_per_s - begins_v_per_s) * time_s / 2.0;
        let share = (RAIL_BEND_V / bend_v.abs()).sqrt().min(1.0);
        let to_v = from_v + begins_v_per_s * time_s * share + bend_v * share * share;
        RailAhead { time_s: time_s * share, from_v, to_v }
    }

    /// Prices the load at another rail from now on: the mean of what it will be.
    pub fn tell_rail(&mut self, rail_v: f64) {
        self.at.rail_v = on_a_step(rail_v);
    }

    /// True while the converter is on that lifts a rail which otherwise follows the store.
    #[must_use]
    pub fn helps(&self) -> bool {
        self.at.mode.boost
    }

    /// The node on the rail's capacitance alone, the store meanwhile without it.
    pub(super) fn coast(&mut self, dt_s: f64, load: Load, light: &Light) -> Advance {
        let most_s = self.coasts_s(load, self.config.rail_end_v);
        let t = dt_s.min(most_s);
        self.coast_on(t, load, light);
        let boundary = (t >= most_s).then_some(Boundary::Cut);
        Advance { elapsed_s: t, boundary }
    }

    pub(super) fn coast_on(&mut self, t_s: f64, load: Load, light: &Light) {
        let before = self.rail_j();
        let current_a = load.vcc_w / self.at.rail_v;
        self.at.rail_c_v = (self.at.rail_c_v - current_a * t_s / self.config.decoupling_f).max(0.0);
        self.at.sums.load_j += before - self.rail_j();
        // The store goes on as it does while the output is off; a restart waits until the rail is down.
        self.at.on = false;
        let store = Load { vcc_w: 0.0, ..load };
        let solver = self.solver;
        let mut left = t_s;
        while left > 0.0 {
            self.restart_v = f64::INFINITY;
            let a = solver.get().advance(self, left, store, light);
            self.restart_v = self.config.v_on_v;
            left -= a.elapsed_s;
            if a.elapsed_s == 0.0 {
                break;
            }
        }
        self.at.on = true;
    }

    /// Energy that the rail's capacitance holds above the chip's end.
    pub(super) fn above_rail_end_j(&self) -> f64 {
        let end = self.config.rail_end_v;
        self.rail_j() - self.config.decoupling_f * end * end / 2.0
    }

    /// Time for which the rail's capacitance carries a load until its voltage has moved by a step.
    pub(super) fn coasts_a_step_s(&self, load: Load) -> f64 {
        let to_v = (self.at.rail_v - RAIL_STEP_V).max(self.config.rail_end_v);
        self.coasts_s(load, to_v)
    }

    fn coasts_s(&self, load: Load, to_v: f64) -> f64 {
        let current_a = load.vcc_w / self.at.rail_v;
        let fall_v = (self.at.rail_c_v - to_v).max(0.0);
        if current_a > 0.0 { self.config.decoupling_f * fall_v / current_a } else { f64::INFINITY }
    }
}
