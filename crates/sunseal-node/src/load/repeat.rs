// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles of a load that are alike, many at once: a duty cycle on a cell of years, a loop of starts and cuts.

use serde::Serialize;
use sunseal_power::{Cycle, Light, SupplyState};

use super::course::{Counts, Course, Done, Met};

/// So few cycles are played one by one.
const LEAST: u64 = 16;
/// Largest move of a store at once, in volts or in shares of a cell.
const FAR: f64 = 0.02;
/// Largest bend of the way, absolute and as a share of it: what a parabola does not show of it is of fourth order.
const NEAR: (f64, f64) = (1e-8, 3e-4);
/// A cycle that is tried may be so many times as long as the last one, and take so many more stretches.
const LONGER: (f64, usize) = (4.0, 16);
/// After cycles that were not alike, so many more are played before they are looked at again; at most, as it doubles.
const PATIENCE: u64 = 1 << 12;

/// Cycles that were not played one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Repeated {
    /// Number of these cycles.
    pub cycles: u64,
    /// Time that they took.
    pub time_s: f64,
}

/// Many cycles at once.
pub(super) struct Leap {
    pub done: Done,
    pub times: u64,
    pub time_s: f64,
}

/// The last cycles, and whether they are alike: of a life that goes on its rounds, of one that ends in cuts its lives.
#[derive(Default)]
pub(super) struct Alike {
    rounds: Track,
    lives: Track,
}

/// Cycles of one kind.
#[derive(Default)]
struct Track {
    /// Beginning of the present cycle: the supply's state, what had been counted there, and when.
    mark: Option<(SupplyState, Counts, f64)>,
    /// Counts and duration of the cycle before it.
    before: Option<(Counts, f64)>,
    /// Stretches that it has taken so far.
    stretches: usize,
    /// Number of cycles made at once the last time.
    times: u64,
    wait: u64,
    patience: u64,
}

/// Limit to which a cycle is tried: so long, in so many stretches.
type Most = (f64, usize);

impl Alike {
    /// Told of what each stretch met; where the last two cycles were alike, as many more are made at once as fit in
    /// `left_s` of the same light.
    pub fn met(
        &mut self,
        met: Met,
        course: &mut Course,
        light: &Light,
        now_s: f64,
        left_s: f64,
    ) -> Option<Leap> {
        self.rounds.stretches += 1;
        self.lives.stretches += 1;
        let track = match met {
            Met::Start => &mut self.lives,
            Met::Round => &mut self.rounds,
            Met::Cut(_) => {
                self.rounds.forget();
                return None;
            }
            Met::Nothing => return None,
        };
        let leap = track.ended(met, course, light, now_s, left_s);
        if leap.is_some() && met == Met::Round {
            self.lives.forget();
        }
        leap
    }

    /// Forgets: the light is another one.
    pub fn interrupted(&mut self) {
        self.rounds.forget();
        self.lives.forget();
    }
}

impl Track {
    fn forget(&mut self) {
        (self.mark, self.before) = (None, None);
    }

    fn ended(
        &mut self,
        met: Met,
        course: &mut Course,
        light: &Light,
        now_s: f64,
        left_s: f64,
    ) -> Option<Leap> {
        let here = course.mark();
        let stretches = std::mem::take(&mut self.stretches);
        let (from, counts, from_s) = self.mark.replace((here.clone(), course.counts, now_s))?;
        let (counted, time_s) = (course.counts.since(counts), now_s - from_s);
        let near = |t_s: f64| (t_s - time_s).abs() <= 1e-3 * time_s + 1e-9;
        let alike =
            self.before.replace((counted, time_s)).is_some_and(|b| b.0 == counted && near(b.1));
        self.wait = self.wait.saturating_sub(1);
        if !alike || self.wait > 0 || left_s <= LEAST as f64 * time_s {
            return None;
        }
        let cycle = from.cycle_to(&here)?;
        let most = (left_s.min(LONGER.0 * time_s), 2 * stretches + LONGER.1);
        let hoped = if self.times == 0 { f64::INFINITY } else { 4.0 * self.times as f64 };
        let first = course.one(&[(0.0, &cycle)], met, light, most);
        let leap = first.and_then(|first| leap(course, &first, met, light, (left_s, hoped), most));
        self.times = leap.as_ref().map_or(0, |l| l.times);
        match &leap {
            Some(leap) => {
                (self.wait, self.patience) = (0, 0);
                self.mark = Some((course.mark(), course.counts, now_s + leap.time_s));
            }
            None => {
                self.patience = (2 * self.patience).clamp(1, PATIENCE);
                self.wait = self.patience;
            }
        }
        leap
    }
}

/// As many cycles at once as the store's way allows, `hoped` at first: the one in the middle, which is found in two steps,
/// and those at both ends, by which the way is a parabola.
fn leap(
    course: &mut Course,
    first: &Done,
    met: Met,
    light: &Light,
    (left_s, hoped): (f64, f64),
    most: Most,
) -> Option<Leap> {
    let moves = course.supply.moved_by(&[(1.0, &first.cycle)]);
    let fits = (left_s / first.time_s * (1.0 - 1e-9)).floor().min(1e15);
    let far = if moves * fits > FAR { (FAR / moves).floor().min(hoped) } else { fits };
    let mut times = far.min(fits);
    while times >= LEAST as f64 {
        let at = |along: &[(f64, &Cycle)]| {
            course.one(along, met, light, most).filter(|d| d.counts == first.counts)
        };
        let half = (times - 1.0) / 2.0;
        let tried = at(&[(half, &first.cycle)])
            .and_then(|near| at(&[(half / 2.0, &first.cycle), (half / 2.0, &near.cycle)]))
            .and_then(|mid| Some((mid, at(&[(times - 1.0, &mid.cycle)])?)));
        if let Some((mid, end)) = tried {
            let bends = [
                (times / 6.0, &first.cycle),
                (times / 6.0, &end.cycle),
                (-times / 3.0, &mid.cycle),
            ];
            let way = course.supply.moved_by(&[(times, &mid.cycle)]);
            let near = course.supply.moved_by(&bends) <= NEAR.0 + NEAR.1 * way;
            let [w, m, _] = Cycle::weights(times);
            let mean = |of: fn(&Done) -> f64| w * (of(first) + of(&end)) + m * of(&mid);
            let done = Done {
                cycle: Cycle::mean([&first.cycle, &mid.cycle, &end.cycle], times),
                time_s: mean(|d| d.time_s),
                on_s: mean(|d| d.on_s),
                low_v: mid.low_v.min(first.low_v).min(end.low_v),
                high_v: mid.high_v.max(first.high_v).max(end.high_v),
                terminal_min_v: mid.terminal_min_v.min(end.terminal_min_v),
                ..mid
            };
            let time_s = times * done.time_s;
            if near && time_s <= left_s && course.repeat(&done, times as u64) {
                return Some(Leap { done, times: times as u64, time_s });
            }
        }
        times = (times / 2.0).floor();
    }
    None
}
