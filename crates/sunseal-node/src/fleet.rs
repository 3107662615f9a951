// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nodes from profiles: years of a node's work without executing an instruction.
//!
//! What a node's firmware costs is measured once ([`NodeProfile`]); here its supply is played against
//! light, its tasks are done when they are due and the store has enough, and it browns out and starts
//! again as it would. Time jumps from event to event: a change of the light, a task that falls due, a
//! boundary of the supply. A stretch in which the store surely stays above what every task wants is one
//! jump, with the energy of the tasks in it spread over it.

mod coupons;

use serde::{Deserialize, Serialize};
use sunseal_power::{Alternation, Boundary, HarvestTrace, Load, Supply, SupplySums, Turn};

use self::coupons::Pool;
pub use self::coupons::{CouponFate, CouponProfile, Work};

/// Something a node does again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Name that it goes by.
    pub name: String,
    /// From one time it falls due to the next.
    pub period_s: f64,
    /// Energy at the regulated output, all that flows while it runs.
    pub energy_j: f64,
    /// Time for which it runs.
    pub time_s: f64,
    /// Energy that the store must hold above the cut-off before the node begins it (equation 6.1 of Mane 2014: a margin
    /// times the energy, and an overhead).
    pub gate_j: f64,
    /// Up to when it must be done after it fell due to be done in time; the next time it falls due if absent.
    #[serde(default)]
    pub deadline_s: Option<f64>,
}

/// A node as its firmware was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeProfile {
    /// Power at the regulated output between tasks, looks at the store included.
    pub sleep_w: f64,
    /// Energy of a start, at the regulated output.
    pub start_j: f64,
    /// Time of a start.
    pub start_s: f64,
    /// Time between two looks of a node that waits for energy at its store.
    pub poll_s: f64,
    /// Tasks of the node. One that waits for energy when it falls due again has missed once.
    pub tasks: Vec<Task>,
    /// Part of one of them that is done ahead.
    #[serde(default)]
    pub coupons: Option<CouponProfile>,
}

/// Differences of one node of a fleet from another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Individual {
    /// Share of the trace's light that this node gets.
    pub light_scale: f64,
    /// Time from the beginning to the first time that its tasks fall due.
    pub phase_s: f64,
}

/// Number of times that a task was done, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Times it fell due.
    pub due: u64,
    /// Times it was done.
    pub done: u64,
    /// Number of these within the deadline.
    pub in_time: u64,
    /// Times it was begun and the supply gave out.
    pub lost: u64,
}

/// Outcome of a node's life.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Fate {
    /// Counts of each task.
    pub tasks: Vec<Done>,
    /// Books of the coupons, of a profile that has some.
    pub coupons: Option<CouponFate>,
    /// Times the output came on.
    pub starts: u64,
    /// Times it gave out.
    pub brown_outs: u64,
    /// Time without output of the supply.
    pub off_s: f64,
    /// Number of whole days played.
    pub days: u64,
    /// Number of these days with output from end to end and every task done that fell due.
    pub days_survived: u64,
    /// Lowest and highest voltage of the store at events.
    pub v_min_v: f64,
    /// Highest voltage, as `v_min_v` is the lowest.
    pub v_max_v: f64,
    /// Voltage at the end.
    pub v_end_v: f64,
    /// Energy by cause, in joules.
    pub sums: SupplySums,
    /// Remainder of the energy balance, relative.
    pub balance_rel: f64,
}

/// A profile, or a node of a fleet, that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("fleet: {key} is {value}; {must}")]
pub struct FleetError {
    /// Name of the figure.
    pub key: String,
    /// Value that was given.
    pub value: f64,
    /// Clause that tells what would be right.
    pub must: &'static str,
}

/// A day: what survival is counted in.
const DAY_S: f64 = 86_400.0;
/// Local error of the solver. What spreading tasks leaves out is more; a test holds both against tasks
/// done one by one at the solver's own tolerance.
const TOLERANCE: f64 = 3e-5;

impl NodeProfile {
    /// Checks every figure.
    ///
    /// # Errors
    /// The first that cannot be.
    pub fn check(&self) -> Result<(), FleetError> {
        let bad = |key: String, value, must| Err(FleetError { key, value, must });
        let zero_or_more =
            [("sleep_w", self.sleep_w), ("start_j", self.start_j), ("start_s", self.start_s)];
        for (key, value) in zero_or_more {
            if !(value.is_finite() && value >= 0.0) {
                return bad(key.into(), value, "it must be a number, zero or more");
            }
        }
        if self.start_j > 0.0 && self.start_s == 0.0 {
            return bad("start_s".into(), 0.0, "a start that takes energy takes time");
        }
        if !(self.poll_s.is_finite() && self.poll_s > 0.0) {
            return bad("poll_s".into(), self.poll_s, "it must be a number above zero");
        }
        for task in &self.tasks {
            for (key, value) in
                [("period_s", task.period_s), ("energy_j", task.energy_j), ("time_s", task.time_s)]
            {
                if !(value.is_finite() && value > 0.0) {
                    return bad(
                        format!("{}.{key}", task.name),
                        value,
                        "it must be a number above zero",
                    );
                }
            }
            if !(task.gate_j.is_finite() && task.gate_j >= 0.0) {
                return bad(
                    format!("{}.gate_j", task.name),
                    task.gate_j,
                    "it must be a number, zero or more",
                );
            }
            if let Some(deadline_s) = task.deadline_s.filter(|d| !(d.is_finite() && *d > 0.0)) {
                return bad(
                    format!("{}.deadline_s", task.name),
                    deadline_s,
                    "it must be a number above zero",
                );
            }
            if task.time_s >= task.period_s {
                return bad(
                    format!("{}.period_s", task.name),
                    task.period_s,
                    "it must be longer than the task itself",
                );
            }
        }
        self.coupons.as_ref().map_or(Ok(()), |c| c.check(self))
    }
}

/// A node at work.
struct Play<'a> {
    supply: Supply,
    profile: &'a NodeProfile,
    harvest: &'a HarvestTrace,
    individual: Individual,
    duration_s: f64,
    t_s: f64,
    /// Number of times each task has fallen due; the next is at phase + this x period.
    due: Vec<u64>,
    /// True for each task that waits to be done.
    waits: Vec<bool>,
    /// Coupons, if its profile has any.
    pool: Option<Pool>,
    /// True if tasks may be spread over a stretch; a test asks what that changes.
    spreads: bool,
    /// Days that were not survived so far, and the day that this was last said of.
    bad_days: u64,
    last_bad: Option<u64>,
    fate: Fate,
}

/// Plays a node for `duration_s` from the store's state in `supply`; a trace that is shorter is repeated.
///
/// # Errors
/// If a figure of the profile or of the individual cannot be.
pub fn play(
    supply: Supply,
    profile: &NodeProfile,
    harvest: &HarvestTrace,
    individual: Individual,
    duration_s: f64,
) -> Result<Fate, FleetError> {
    let supply = supply.with_tolerance(TOLERANCE);
    play_with(supply, profile, harvest, individual, duration_s, true)
}

fn play_with(
    supply: Supply,
    profile: &NodeProfile,
    harvest: &HarvestTrace,
    individual: Individual,
    duration_s: f64,
    spreads: bool,
) -> Result<Fate, FleetError> {
    profile.check()?;
    for (key, value) in [
        ("light_scale", individual.light_scale),
        ("phase_s", individual.phase_s),
        ("duration_s", duration_s),
    ] {
        if !(value.is_finite() && value >= 0.0) {
            return Err(FleetError {
                key: key.into(),
                value,
                must: "it must be a number, zero or more",
            });
        }
    }
    let tasks = profile.tasks.len();
    let v_v = supply.v_v();
    let pool = profile.coupons.as_ref().map(|c| Pool::new(c, &supply)).transpose()?;
    let mut play = Play {
        supply,
        profile,
        harvest,
        individual,
        duration_s,
        t_s: 0.0,
        due: vec![0; tasks],
        waits: vec![false; tasks],
        pool,
        spreads,
        bad_days: 0,
        last_bad: None,
        fate: Fate {
            tasks: vec![Done::default(); tasks],
            v_min_v: v_v,
            v_max_v: v_v,
            ..Fate::default()
        },
    };
    while play.t_s < duration_s {
        if play.supply.is_on() { play.awake() } else { play.dark() }
    }
    Ok(play.closed())
}

impl Play<'_> {
    /// Light now and until when it stays so, a whole night long.
    fn light(&self) -> (f64, f64) {
        let (power_w, mut until_s) = self.light_at(self.t_s);
        while until_s < self.duration_s {
            let (next_w, next_s) = self.light_at(until_s);
            if next_w != power_w || until_s - self.t_s > DAY_S {
                break;
            }
            until_s = next_s;
        }
        (power_w, until_s)
    }

    /// Light at a time and until when the trace says so; the trace is repeated without end.
    fn light_at(&self, t_s: f64) -> (f64, f64) {
        let length = self.harvest.duration_s();
        let (round, within) = if t_s < length {
            (0.0, t_s)
        } else {
            let round = (t_s / length).floor();
            (round * length, (t_s - round * length).min(length))
        };
        let (power_w, until_s) = self.harvest.at(within);
        let until_s = round + until_s.min(length);
        // At the very seam, rounding must not leave a stretch of no length.
        let until_s = if until_s <= t_s { t_s + 1e-6 } else { until_s };
        (power_w * self.individual.light_scale, until_s)
    }

    fn due_at_s(&self, task: usize, count: u64) -> f64 {
        self.individual.phase_s + count as f64 * self.profile.tasks[task].period_s
    }

    fn due_s(&self, task: usize) -> f64 {
        self.due_at_s(task, self.due[task])
    }

    fn next_due_s(&self) -> f64 {
        (0..self.due.len()).map(|i| self.due_s(i)).fold(f64::INFINITY, f64::min)
    }

    fn sleep(&self) -> Load {
        Load { vcc_w: self.profile.sleep_w, store_w: 0.0 }
    }

    /// Counts a task that is done, so many seconds after it fell due.
    fn count_done(&mut self, task: usize, count: u64, after_s: f64) {
        let task_s = &self.profile.tasks[task];
        let done = &mut self.fate.tasks[task];
        done.done += count;
        if after_s <= task_s.deadline_s.unwrap_or(task_s.period_s) {
            done.in_time += count;
        }
    }

    fn bad_day(&mut self, t_s: f64) {
        let day = (t_s / DAY_S) as u64;
        if self.last_bad != Some(day) {
            // Days are told in order, but for one that a long stretch has begun: never twice.
            self.bad_days += u64::from(self.last_bad.is_none_or(|last| day > last));
            self.last_bad = Some(self.last_bad.map_or(day, |last| last.max(day)));
        }
    }

    fn bad_span(&mut self, from_s: f64, to_s: f64) {
        let mut day = (from_s / DAY_S).floor();
        while day * DAY_S < to_s {
            self.bad_day(day * DAY_S);
            day += 1.0;
        }
    }

    /// Marks the tasks that have fallen due; one that still waits has missed.
    fn fall_due(&mut self) {
        for i in 0..self.due.len() {
            while self.due_s(i) <= self.t_s && self.due_s(i) < self.duration_s {
                if self.waits[i] {
                    self.bad_day(self.due_s(i));
                }
                self.due[i] += 1;
                self.waits[i] = true;
            }
        }
    }

    /// Lets time go by under a load, across changes of the light, up to `until_s`.
    fn flow(&mut self, until_s: f64, load: Load) -> Option<Boundary> {
        let until_s = until_s.min(self.duration_s);
        while self.t_s < until_s {
            let (power_w, light_s) = self.light();
            let end_s = until_s.min(light_s);
            let a = self.supply.advance(end_s - self.t_s, load, power_w);
            self.t_s = if a.boundary.is_none() { end_s } else { self.t_s + a.elapsed_s };
            let v_v = self.supply.v_v();
            self.fate.v_min_v = self.fate.v_min_v.min(v_v);
            self.fate.v_max_v = self.fate.v_max_v.max(v_v);
            if a.boundary.is_some() {
                return a.boundary;
            }
        }
        None
    }

    /// Without output: charge until it comes on, then start.
    fn dark(&mut self) {
        let from_s = self.t_s;
        let boundary = self.flow(self.duration_s, Load::default());
        self.fate.off_s += self.t_s - from_s;
        self.bad_span(from_s, self.t_s);
        // What fell due in the dark was missed; the node starts anew with what comes next.
        for i in 0..self.due.len() {
            while self.due_s(i) < self.t_s.min(self.duration_s) {
                self.due[i] += 1;
            }
            self.waits[i] = false;
        }
        if boundary == Some(Boundary::Restart) {
            self.supply.switch_on();
            self.fate.starts += 1;
            if self.profile.start_s > 0.0 {
                let load =
                    Load { vcc_w: self.profile.start_j / self.profile.start_s, store_w: 0.0 };
                let end_s = self.t_s + self.profile.start_s;
                if self.flow(end_s, load) == Some(Boundary::Cut) {
                    self.cut();
                }
            }
        }
    }

    fn cut(&mut self) {
        self.supply.switch_off();
        self.fate.brown_outs += 1;
        self.bad_day(self.t_s.min(self.duration_s));
    }

    /// With output: do what is due and affordable, else let time go by to the next event.
    fn awake(&mut self) {
        self.fall_due();
        let mut wanting = false;
        for i in 0..self.waits.len() {
            if !self.waits[i] {
                continue;
            }
            let work = self.work(i);
            let (power_w, _) = self.light();
            if self.supply.above_cut_j(work.load(), power_w) < work.gate_j {
                wanting = true;
                continue;
            }
            let (end_s, since_s) = (self.t_s + work.time_s, self.due_at_s(i, self.due[i] - 1));
            self.waits[i] = false;
            let from_coupon = self.claim(i);
            let cut = self.flow(end_s, work.load()) == Some(Boundary::Cut);
            self.claimed(i, from_coupon, !cut && self.t_s >= end_s);
            if cut {
                self.fate.tasks[i].lost += 1;
                self.cut();
            } else if self.t_s >= end_s {
                self.count_done(i, 1, end_s - since_s);
            }
            return; // meanwhile others may have fallen due
        }
        if !wanting && self.make() {
            return;
        }
        let until_s =
            if wanting { self.next_look_s() } else { self.next_due_s().min(self.next_make_s()) };
        if self.spreads && !wanting && self.spread() {
            return;
        }
        if self.flow(until_s, self.sleep()) == Some(Boundary::Cut) {
            self.cut();
        }
    }

    /// Time at which a waiting task may first find enough: looks that surely find too little are not taken.
    fn next_look_s(&self) -> f64 {
        let (power_w, light_s) = self.light();
        let next_s = self.next_due_s().min(light_s);
        let mut soonest_s = f64::INFINITY;
        for i in (0..self.waits.len()).filter(|i| self.waits[*i]) {
            let work = self.work(i);
            let lacking_j = work.gate_j - self.supply.above_cut_j(work.load(), power_w);
            // All the light, without a loss, and no load.
            let looks =
                (lacking_j / (power_w.max(1e-30) * self.profile.poll_s)).floor().max(0.0) + 1.0;
            soonest_s = soonest_s.min(self.t_s + looks * self.profile.poll_s);
        }
        // At a change of the light the question is asked again, at the next look after it.
        if soonest_s <= next_s {
            soonest_s
        } else {
            let polls = ((next_s - self.t_s) / self.profile.poll_s).ceil().max(1.0);
            (self.t_s + polls * self.profile.poll_s).max(next_s)
        }
    }

    /// Jumps to the next change of light, or to a task that would run across it, with the tasks till then
    /// spread over the time, if the store surely stays above what each of them wants; if it would not so long,
    /// half as far, and again.
    fn spread(&mut self) -> bool {
        let (power_w, light_s) = self.light();
        let mut end_s = light_s.min(self.duration_s);
        loop {
            match self.spread_to(end_s, power_w) {
                Alternation::Gone => return true,
                Alternation::TooLong => end_s = self.t_s + (end_s - self.t_s) / 2.0,
                Alternation::Never => return false,
            }
        }
    }

    fn spread_to(&mut self, mut end_s: f64, power_w: f64) -> Alternation {
        let surplus;
        match self.alike_until(end_s, power_w) {
            Some(alike) => (surplus, end_s) = alike,
            None => return Alternation::Never,
        }
        let tasks = &self.profile.tasks;
        let mut counts = vec![0u64; tasks.len()];
        let mut whole = false;
        while !whole {
            whole = true;
            for (i, task) in tasks.iter().enumerate() {
                let room = ((end_s - self.due_s(i)) / task.period_s).ceil().max(0.0) as u64;
                // Those that begin before the end; rounding must not count one at the end itself.
                let at_s = |count: u64| self.due_at_s(i, self.due[i] + count);
                let count = if room > 0 && at_s(room - 1) >= end_s { room - 1 } else { room };
                if count > 0 && at_s(count - 1) + task.time_s > end_s {
                    (end_s, whole) = (at_s(count - 1), false);
                }
                counts[i] = count;
            }
        }
        let span_s = end_s - self.t_s;
        let made = self.made_in(surplus, span_s, &counts);
        let works: Vec<Work> = (0..tasks.len()).map(|i| self.work(i)).collect();
        let share = |i: usize| counts[i] as f64 * works[i].time_s / span_s;
        let making = self.making(surplus);
        let make_share = making.map_or(0.0, |(work, _)| made as f64 * work.time_s / span_s);
        let busy: f64 = (0..tasks.len()).map(share).sum::<f64>() + make_share;
        if counts.iter().sum::<u64>() + made < 2 || busy > 0.5 {
            return Alternation::Never;
        }
        let mut turns = vec![Turn { share: 1.0 - busy, ..self.sleep().always() }];
        let mut gate_j = 0.0f64;
        for (i, work) in works.iter().enumerate().filter(|(i, _)| counts[*i] > 0) {
            turns.push(Turn { load: work.load(), share: share(i), lasts_s: work.time_s });
            gate_j = gate_j.max(work.gate_j);
        }
        if let Some((work, least_j)) = making {
            turns.push(Turn { load: work.load(), share: make_share, lasts_s: work.time_s });
            gate_j = gate_j.max(least_j);
        }
        let before = self.pool.is_some().then(|| (self.supply.clone(), self.t_s));
        let turned = self.supply.advance_in_turns(span_s, &turns, gate_j, power_w);
        if turned == Alternation::Gone {
            self.t_s = end_s;
            if !self.settle(surplus, power_w, made, &counts) {
                (self.supply, self.t_s) = before.expect("there are coupons");
                return Alternation::TooLong;
            }
            let v_v = self.supply.v_v();
            self.fate.v_min_v = self.fate.v_min_v.min(v_v);
            self.fate.v_max_v = self.fate.v_max_v.max(v_v);
            for (i, count) in counts.into_iter().enumerate() {
                self.due[i] += count;
                self.count_done(i, count, works[i].time_s);
            }
        }
        turned
    }

    fn closed(mut self) -> Fate {
        // What still waits at the end was not done.
        for i in 0..self.due.len() {
            if self.waits[i] {
                self.bad_day((self.duration_s - 1e-9).max(0.0));
            }
            self.fate.tasks[i].due = self.due[i];
        }
        self.fate.days = (self.duration_s / DAY_S) as u64;
        self.fate.days_survived = self.fate.days.saturating_sub(self.bad_days);
        self.fate.v_end_v = self.supply.v_v();
        self.fate.sums = *self.supply.sums();
        self.fate.balance_rel = self.supply.balance_rel();
        self.fate.coupons = self.pool.map(Pool::closed);
        self.fate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sunseal_power::{Branch, Charger, Curve, Efficiency, Element, Output, Store, SupplyConfig};

    use crate::coupons::tests::plain_supply;

    pub(super) fn config() -> SupplyConfig {
        SupplyConfig {
            store: Store::capacitor(0.47, 0.08, 2.75e6),
            charger: Charger::Constant { efficiency: 0.8, min_w: 5e-6 },
            output: Output::Regulated {
                efficiency: Efficiency::constant(0.85),
                quiescent_w: 5e-6,
                quiescent_a: 0.0,
            },
            quiescent_off_w: 1e-6,
            start_overhead_j: 0.125,
            ..plain_supply()
        }
    }

    /// Stores that no plain capacitor is: branches, a cell behind a linear regulator, a ceramic beside it.
    fn others() -> [SupplyConfig; 3] {
        let growing = Branch {
            element: Element::Capacitor { c0_f: 0.24, c1_f_per_v: 0.085 },
            r_ohm: 1.0,
            leak_ohm: 6.75e5,
            self_discharge_per_s: 0.0,
        };
        let slow = |c: f64, r: f64| Branch::capacitor(c, r, f64::INFINITY);
        let cell = Branch {
            element: Element::Cell {
                capacity_c: 432.0,
                ocv_v: Curve::new(&[[0.0, 2.75], [0.1, 3.6], [0.5, 3.82], [1.0, 4.2]]).unwrap(),
                r_ohm: Curve::new(&[[0.0, 1.2], [0.1, 0.6], [1.0, 0.4]]).unwrap(),
            },
            r_ohm: 0.0,
            leak_ohm: f64::INFINITY,
            self_discharge_per_s: 6e-9,
        };
        let ldo = Output::Linear { dropout_v: 0.02, quiescent_a: 25e-9 };
        let beside = Branch::capacitor(0.05, 0.1, 1e7);
        let with = |branches: Vec<Branch>| SupplyConfig {
            store: Store { branches },
            start_overhead_j: 0.01,
            ..config()
        };
        let at_cell = |branches: Vec<Branch>| SupplyConfig {
            output: ldo.clone(),
            v_max_v: 4.2,
            v_on_v: 2.9,
            v_cut_v: 2.8,
            ..with(branches)
        };
        [
            with(vec![growing, slow(0.089, 1008.0), slow(0.196, 5825.0)]),
            at_cell(vec![cell.clone()]),
            at_cell(vec![cell, beside]),
        ]
    }

    fn signer(period_s: f64) -> NodeProfile {
        let sign = Task {
            name: "sign".into(),
            period_s,
            energy_j: 2e-3,
            time_s: 0.2,
            gate_j: 4e-3,
            deadline_s: None,
        };
        let report = Task {
            name: "report".into(),
            period_s: 3.0 * period_s,
            energy_j: 5e-4,
            time_s: 0.05,
            gate_j: 1e-3,
            deadline_s: None,
        };
        NodeProfile {
            sleep_w: 2e-5,
            start_j: 3e-3,
            start_s: 0.5,
            poll_s: 30.0,
            tasks: vec![sign, report],
            coupons: None,
        }
    }

    /// Hours of light, midnight first; the same every day.
    pub(super) fn days(peak_w: f64) -> HarvestTrace {
        let hour = |h: f64| (peak_w * ((h - 6.0) / 12.0 * std::f64::consts::PI).sin()).max(0.0);
        let time_s = (0..=24).map(|h| f64::from(h) * 3600.0).collect();
        HarvestTrace::from_arrays(time_s, (0..=24).map(|h| hour(f64::from(h))).collect()).unwrap()
    }

    pub(super) fn alone() -> Individual {
        Individual { light_scale: 1.0, phase_s: 60.0 }
    }

    pub(super) fn begun(config: SupplyConfig, v_v: f64) -> Supply {
        Supply::new(config, v_v).unwrap()
    }

    /// Distance at which two ways may end: a millivolt; and where the store was full, what a round of the signer's
    /// tasks takes out of it, for the light may end before the last round is made up for.
    pub(super) fn near_v(slow: &Fate, full_v: f64, capacitance_f: f64) -> f64 {
        let round_j = (2e-3 + 5e-4) / 0.85;
        let was_full = slow.v_max_v >= full_v - 1e-6;
        1e-3 + if was_full { round_j / (capacitance_f * slow.v_end_v) } else { 0.0 }
    }

    #[test]
    fn the_last_round_before_dusk_may_be_missing_in_a_full_store() {
        let c = SupplyConfig { store: Store::capacitor(0.2, 0.08, 2.75e6), ..config() };
        let who = Individual { light_scale: 1.0, phase_s: 37.36 };
        let [fast, slow] = [true, false].map(|spreads| {
            let (supply, light) = (begun(c.clone(), 2.0), days(1.0435e-3));
            play_with(supply, &signer(1186.65), &light, who, 4.0 * DAY_S, spreads).unwrap()
        });
        let apart_v = fast.v_end_v - slow.v_end_v;
        assert_eq!(
            (fast.tasks[0].done, fast.tasks[1].done),
            (slow.tasks[0].done, slow.tasks[1].done)
        );
        assert!(apart_v > 1e-3 && apart_v < near_v(&slow, 5.0, 0.2), "{apart_v}");
    }

    #[test]
    fn in_plenty_everything_is_done() {
        let fate =
            play(begun(config(), 4.0), &signer(600.0), &days(5e-3), alone(), 10.0 * DAY_S).unwrap();
        assert_eq!((fate.starts, fate.brown_outs, fate.days, fate.days_survived), (1, 0, 10, 10));
        assert_eq!(fate.tasks[0], Done { due: 1440, done: 1440, in_time: 1440, lost: 0 });
        assert_eq!(fate.tasks[1], Done { due: 480, done: 480, in_time: 480, lost: 0 });
        let spent = 1440.0 * 2e-3 + 480.0 * 5e-4 + 2e-5 * 10.0 * DAY_S;
        assert!((fate.sums.load_j / spent - 1.0).abs() < 1e-3, "{} {spent}", fate.sums.load_j);
        assert!(fate.balance_rel < 1e-6);
    }

    #[test]
    fn in_the_dark_it_runs_down_and_stays_off() {
        let dark = HarvestTrace::constant(0.0, DAY_S).unwrap();
        let fate =
            play(begun(config(), 3.0), &signer(600.0), &dark, alone(), 30.0 * DAY_S).unwrap();
        assert_eq!((fate.starts, fate.brown_outs), (1, 1));
        assert!(fate.days_survived < 10 && fate.off_s > 10.0 * DAY_S, "{fate:?}");
        assert_eq!(
            fate.tasks[0].lost, 0,
            "the gate keeps a node from beginning what it cannot end"
        );
        assert!(fate.v_end_v < 1.9 && fate.balance_rel < 1e-6);
    }

    #[test]
    fn without_a_gate_operations_are_lost() {
        let mut profile = signer(20.0);
        profile.tasks.iter_mut().for_each(|t| (t.gate_j, t.energy_j) = (0.0, 0.4));
        let mut c = config();
        c.start_overhead_j = 1e-3;
        let fate = play(begun(c, 2.7), &profile, &days(5e-3), alone(), 3.0 * DAY_S).unwrap();
        assert!(fate.tasks[0].lost > 0 && fate.brown_outs > 0, "{fate:?}");
    }

    #[test]
    fn figures_that_cannot_be_are_named() {
        let mut profile = signer(600.0);
        profile.tasks[0].time_s = 700.0;
        let told = play(begun(config(), 3.0), &profile, &days(1e-3), alone(), DAY_S)
            .unwrap_err()
            .to_string();
        assert_eq!(told, "fleet: sign.period_s is 600; it must be longer than the task itself");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn spreading_changes_neither_counts_nor_the_voltage(
            peak_w in 0.0f64..6e-3, v in 2.0f64..5.0, period_s in 60.0f64..2000.0, phase_s in 0.0f64..600.0,
            capacitance_f in 0.2f64..2.0,
        ) {
            let c = SupplyConfig { store: Store::capacitor(capacitance_f, 0.08, 2.75e6), ..config() };
            let who = Individual { light_scale: 1.0, phase_s };
            let fates = [true, false].map(|spreads| {
                play_with(begun(c.clone(), v), &signer(period_s), &days(peak_w), who, 4.0 * DAY_S, spreads).unwrap()
            });
            let [fast, slow] = &fates;
            let most_v = near_v(slow, 5.0, capacitance_f);
            prop_assert!((fast.v_end_v - slow.v_end_v).abs() < most_v, "{} {}", fast.v_end_v, slow.v_end_v);
            prop_assert_eq!(fast.brown_outs, slow.brown_outs);
            for (a, b) in fast.tasks.iter().zip(&slow.tasks) {
                prop_assert_eq!(a.due, b.due);
                prop_assert!(a.done.abs_diff(b.done) <= 1, "{:?} {:?}", a, b);
            }
            for f in &fates {
                prop_assert!(f.balance_rel < 1e-6);
                prop_assert!(f.tasks.iter().all(|t| t.done + t.lost <= t.due));
            }
        }

        #[test]
        fn spreading_and_a_loose_solver_change_no_store_by_a_millivolt(
            store in 0usize..3, peak_w in 1e-4f64..6e-3, v in 3.0f64..4.0, period_s in 60.0f64..2000.0, phase_s in 0.0f64..600.0,
        ) {
            let who = Individual { light_scale: 1.0, phase_s };
            let c = others()[store].clone();
            let most_v = |slow: &Fate| near_v(slow, c.v_max_v, 0.24);
            let fast = play(begun(c.clone(), v), &signer(period_s), &days(peak_w), who, 2.0 * DAY_S).unwrap();
            let slow = play_with(begun(c.clone(), v), &signer(period_s), &days(peak_w), who, 2.0 * DAY_S, false).unwrap();
            prop_assert!((fast.v_end_v - slow.v_end_v).abs() < most_v(&slow), "{} {}", fast.v_end_v, slow.v_end_v);
            prop_assert_eq!(fast.brown_outs, slow.brown_outs);
            prop_assert!(fast.balance_rel < 1e-6, "{}", fast.balance_rel);
            for (a, b) in fast.tasks.iter().zip(&slow.tasks) {
                prop_assert_eq!(a.due, b.due);
                prop_assert!(a.done.abs_diff(b.done) <= 1, "{:?} {:?}", a, b);
            }
        }

        #[test]
        fn more_light_never_does_less(peak_w in 0.0f64..3e-3, more_w in 0.0f64..3e-3) {
            let [less, more] = [peak_w, peak_w + more_w].map(|w| {
                play(begun(config(), 2.7), &signer(300.0), &days(w), alone(), 5.0 * DAY_S).unwrap()
            });
            prop_assert!(more.tasks[0].done + 1 >= less.tasks[0].done, "{:?} {:?}", less, more);
            prop_assert!(more.off_s <= less.off_s + 1.0);
        }
    }
}
