// SPDX-License-Identifier: MIT OR Apache-2.0
//! A supply under a load by profile: which step is under way, and what starts and cuts there were. No record of it.

use std::sync::Arc;

use sunseal_power::{Boundary, Cycle, Light, Load, Supply, SupplyState};

use super::{LoadStep, draw};
use crate::record::Activity;

/// After a cut the output comes back without load for so long, assumed: a store that rests above its restart voltage
/// would else be cut off and come back without end in no time.
const START_S: f64 = 1e-3;

/// Counts since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub starts: u64,
    pub brown_outs: u64,
    /// Rounds that came to their end.
    pub rounds: u64,
}

impl Counts {
    pub fn since(self, before: Self) -> Self {
        Self {
            starts: self.starts - before.starts,
            brown_outs: self.brown_outs - before.brown_outs,
            rounds: self.rounds - before.rounds,
        }
    }

    pub fn plus(self, more: Self, times: u64) -> Self {
        Self {
            starts: self.starts + times * more.starts,
            brown_outs: self.brown_outs + times * more.brown_outs,
            rounds: self.rounds + times * more.rounds,
        }
    }
}

/// Event that ends a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    Nothing,
    /// The output came on.
    Start,
    /// The cut-off ended this step.
    Cut(usize),
    /// The last step of a round ended.
    Round,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub gone_s: f64,
    pub vcc_w: f64,
    /// The store's terminal at its beginning and at its end.
    pub v_v: (f64, f64),
    pub doing: Activity,
    pub met: Met,
}

/// A load by profile under way.
#[derive(Clone)]
pub(super) struct Course {
    pub supply: Supply,
    pub steps: Arc<[LoadStep]>,
    pub counts: Counts,
    /// The step under way, and what is left of it.
    at: usize,
    left_s: f64,
    /// Time that is left of a start.
    start_s: f64,
    /// Lowest terminal under load.
    pub terminal_min_v: f64,
}

/// Outcome of one cycle: from a start to the next, or one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub cycle: Cycle,
    pub counts: Counts,
    pub time_s: f64,
    /// Time for which the output was on.
    pub on_s: f64,
    /// Lowest and highest terminal.
    pub low_v: f64,
    pub high_v: f64,
    pub terminal_min_v: f64,
}

impl Course {
    pub fn new(supply: Supply, steps: Arc<[LoadStep]>) -> Self {
        Self {
            supply,
            steps,
            counts: Counts::default(),
            at: 0,
            left_s: 0.0,
            start_s: 0.0,
            terminal_min_v: f64::INFINITY,
        }
    }

    /// Lets `dt_s` go by, or less: up to the next step, start or cut.
    pub fn step(&mut self, dt_s: f64, light: &Light) -> Stretch {
        if self.supply.is_on() { self.step_on(dt_s, light) } else { self.step_off(dt_s, light) }
    }

    fn step_on(&mut self, dt_s: f64, light: &Light) -> Stretch {
        let supply = &mut self.supply;
        let starting = self.start_s > 0.0;
        let step = if starting {
            LoadStep { lasts_s: self.start_s, current_a: 0.0 }
        } else {
            self.steps[self.at]
        };
        let dt_s = dt_s.min(if starting { self.start_s } else { self.left_s });
        let load = step.at(supply);
        let before_v = supply.terminal_v(load, light);
        let (gone_s, cut) = draw(supply, step, dt_s, light);
        let after_v = supply.terminal_v(step.at(supply), light);
        self.terminal_min_v = self.terminal_min_v.min(before_v).min(after_v);
        if starting {
            let left_s = self.start_s - gone_s;
            self.start_s = if left_s > 1e-12 { left_s } else { 0.0 };
        } else {
            self.left_s -= gone_s;
        }
        let mut met = Met::Nothing;
        let mut end_v = after_v;
        if cut {
            supply.switch_off();
            end_v = supply.terminal_v(Load::default(), light);
            self.counts.brown_outs += 1;
            met = Met::Cut(self.at);
        } else if self.left_s <= 1e-12 {
            self.at = (self.at + 1) % self.steps.len();
            self.left_s = self.steps[self.at].lasts_s;
            if self.at == 0 {
                self.counts.rounds += 1;
                met = Met::Round;
            }
        }
        let v_v = (before_v, end_v);
        Stretch { gone_s, vcc_w: load.vcc_w, v_v, doing: Activity::Compute, met }
    }

    fn step_off(&mut self, dt_s: f64, light: &Light) -> Stretch {
        let supply = &mut self.supply;
        let before_v = supply.v_v();
        let advance = supply.advance(dt_s, Load::default(), light);
        let mut met = Met::Nothing;
        if advance.boundary == Some(Boundary::Restart) {
            supply.switch_on();
            self.counts.starts += 1;
            (self.at, self.left_s) = (0, self.steps[0].lasts_s);
            self.start_s = if self.counts.brown_outs > 0 { START_S } else { 0.0 };
            met = Met::Start;
        }
        let after_v = supply.terminal_v(Load::default(), light);
        let (gone_s, v_v) = (advance.elapsed_s, (before_v, after_v));
        Stretch { gone_s, vcc_w: 0.0, v_v, doing: Activity::Off, met }
    }

    /// State in which the next cycle of a kind begins: everything that its course depends on but the store.
    pub fn mark(&self) -> SupplyState {
        self.supply.state()
    }

    /// Plays one cycle up to what `ends` it, so long and in so many stretches at the most, from a store so many cycles on.
    pub fn one(
        &self,
        along: &[(f64, &Cycle)],
        ends: Met,
        light: &Light,
        (most_s, most): (f64, usize),
    ) -> Option<Done> {
        let mut course = self.clone();
        course.supply = self.supply.ahead(along);
        let from = course.mark();
        let (mut time_s, mut on_s, mut low_v, mut high_v) = (0.0, 0.0, f64::INFINITY, 0.0);
        course.terminal_min_v = f64::INFINITY;
        for _ in 0..most {
            let s = course.step(most_s - time_s, light);
            time_s += s.gone_s;
            on_s += if s.doing == Activity::Off { 0.0 } else { s.gone_s };
            low_v = f64::min(low_v, s.v_v.0.min(s.v_v.1));
            high_v = f64::max(high_v, s.v_v.0.max(s.v_v.1));
            let other = course.start_s != self.start_s;
            if course.supply.unclosed().is_some() || (s.met == ends && other) {
                return None;
            }
            if s.met == ends {
                let counts = course.counts.since(self.counts);
                let cycle = from.cycle_to(&course.mark())?;
                let terminal_min_v = course.terminal_min_v;
                return Some(Done { cycle, counts, time_s, on_s, low_v, high_v, terminal_min_v });
            }
            if time_s >= most_s {
                return None;
            }
        }
        None
    }

    /// Lets cycles go by at once, each like the mean of them.
    #[must_use]
    pub fn repeat(&mut self, done: &Done, times: u64) -> bool {
        let goes = self.supply.repeat(&done.cycle, times as f64);
        if goes {
            self.counts = self.counts.plus(done.counts, times);
            self.terminal_min_v = self.terminal_min_v.min(done.terminal_min_v);
        }
        goes
    }
}
