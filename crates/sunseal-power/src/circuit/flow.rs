// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lets a stretch of time go by in steps that are as long as their errors allow, up to a crossing.

use super::across::Across;
use super::rosenbrock::{Jacobian, Start, Step};
use super::{Gone, Net, Q, Rated};
use crate::store::{Branch, State, Store};

/// Local error, of volts and of the energy moved.
pub(crate) const TOLERANCE: f64 = 1e-8;
/// Share that a step may leave unaccounted for, at a looser pace the stretch, of the energy that comes, goes and is
/// lost.
const UNACCOUNTED: f64 = 3e-7;
/// The first step of a stretch is so long, as a share of the time in which its rates would empty a branch.
const FIRST: f64 = 0.1;

/// Pace at which a solver goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Local error, of volts and of the energy moved.
    pub tolerance: f64,
    /// Width to which a crossing is found, as a share of the step in which it lies.
    crossing: f64,
    /// Length of the first step that went well after the last change: the next is much like it.
    first_s: f64,
}

impl Pace {
    pub fn new(tolerance: f64) -> Self {
        // At the tight pace nearly to the last bit of time.
        let crossing = if tolerance > TOLERANCE { 0.1 * tolerance } else { 1e-14 };
        Self { tolerance, crossing, first_s: f64::INFINITY }
    }

    /// One that finds crossings only so closely, as a share of a step.
    pub fn near(self, crossing: f64) -> Self {
        Self { crossing, ..self }
    }

    /// One that is looser than [`TOLERANCE`] looks at the books of the whole stretch, and remembers its steps,
    /// which a checkpoint does not.
    fn is_loose(self) -> bool {
        self.tolerance > TOLERANCE
    }
}

impl Net<'_> {
    /// Lets `dt_s` go by from `x`, or less if `margin` falls to zero: the time just behind that crossing. At
    /// [`TOLERANCE`] it is found nearly to the last bit, at a loose pace to a tenth of the tolerance of its step.
    pub fn flow(
        &self,
        x: &State,
        dt_s: f64,
        pace: &mut Pace,
        margin: impl Fn(&State) -> f64,
    ) -> Gone {
        let b = self.store.branches.as_slice();
        // One code for each number of branches: its loops have fixed ends.
        match b.len() {
            1 => self.flow_in::<1>(b, x, dt_s, pace, margin),
            2 => self.flow_in::<2>(b, x, dt_s, pace, margin),
            3 => self.flow_in::<3>(b, x, dt_s, pace, margin),
            4 => self.flow_in::<4>(b, x, dt_s, pace, margin),
            _ => self.flow_in::<{ Store::MOST }>(b, x, dt_s, pace, margin),
        }
    }

    fn flow_in<const N: usize>(
        &self,
        branches: &[Branch],
        begin: &State,
        dt_s: f64,
        pace: &mut Pace,
        margin: impl Fn(&State) -> f64,
    ) -> Gone {
        let mut stretch = Stretch::<N>::new(self, branches, begin, *pace);
        let margin = |x: [f64; N]| {
            let mut all = [0.0; Store::MOST];
            all[..N].copy_from_slice(&x);
            margin(&all)
        };
        let mut h = pace.first_s.min(dt_s);
        let mut clear_s = None;
        while stretch.t < dt_s {
            let x: [f64; N] = std::array::from_fn(|k| stretch.x0[k] + stretch.dx[k]);
            let here = Jacobian::of(self, &stretch.branches, &x);
            if stretch.t == 0.0 && !stretch.loose {
                h = h.min(FIRST * here.moves_in_s(&stretch.branches, &x));
            }
            let mut done_s = h.min(dt_s - stretch.t);
            let mut end = stretch.step(&here, &x, &mut done_s, &mut h);
            if stretch.loose && stretch.t == 0.0 && (done_s < dt_s || h > pace.first_s) {
                pace.first_s = 0.8 * h;
            }
            let mut crossed = None;
            let margin_end = margin(stretch.at(&end.dx));
            if margin_end.is_nan() || margin_end <= 0.0 {
                let begun = (0.0, margin(stretch.at(&[0.0; N])));
                if stretch.t == 0.0 && begun.1 <= 0.0 {
                    // It has been crossed already.
                    clear_s = Some(0.0);
                    break;
                }
                let across = Across { stretch: &stretch, here: &here, x: &x, near: pace.crossing };
                let whole = (done_s, end);
                let (low_s, high_s);
                (low_s, high_s, end) = across
                    .by_quadrature(begun.1, whole, margin_end, &margin)
                    .unwrap_or_else(|| across.by_steps(begun.1, whole, margin_end, &margin));
                (done_s, crossed) = (high_s, Some(stretch.t + low_s));
            }
            stretch.goes_on(&here, &end, done_s);
            if crossed.is_some() {
                clear_s = crossed;
                break;
            }
        }
        stretch.gone(dt_s, clear_s)
    }
}

/// A stretch of time under way, from `x0`.
pub(super) struct Stretch<'a, const N: usize> {
    pub net: &'a Net<'a>,
    pub branches: [Rated<'a>; N],
    tolerance: f64,
    loose: bool,
    x0: [f64; N],
    /// Energy that the store held, and how finely a double tells it.
    held_j: f64,
    floor_j: f64,
    /// Sums of what has gone by: time, change of the state, integrals, and at a loose pace the energy that moved.
    pub t: f64,
    dx: [f64; N],
    q: [f64; Q],
    moved_j: f64,
    /// Length and error of the last step.
    last: (f64, f64),
}

impl<'a, const N: usize> Stretch<'a, N> {
    pub(super) fn new(net: &'a Net<'a>, branches: &'a [Branch], begin: &State, pace: Pace) -> Self {
        let mut x0 = [0.0; N];
        x0.copy_from_slice(&begin[..N]);
        let mut made = Self {
            net,
            branches: std::array::from_fn(|k| Rated::of(&branches[k])),
            tolerance: pace.tolerance,
            loose: pace.is_loose(),
            x0,
            held_j: 0.0,
            floor_j: 0.0,
            t: 0.0,
            dx: [0.0; N],
            q: [0.0; Q],
            moved_j: 0.0,
            last: (0.0, 1.0),
        };
        made.held_j = made.energy_j(&x0);
        made.floor_j = f64::EPSILON * made.held_j;
        made
    }

    #[inline]
    fn energy_j(&self, x: &[f64; N]) -> f64 {
        self.branches.iter().zip(x).map(|(b, x)| b.branch.energy_j(*x)).sum()
    }

    /// The state after a further change.
    #[inline]
    pub fn at(&self, more: &[f64; N]) -> [f64; N] {
        std::array::from_fn(|k| self.x0[k] + (self.dx[k] + more[k]))
    }

    /// Energy that came, went and was lost up to a time, and what that leaves unaccounted for.
    #[inline]
    fn books(&self, q: &[f64; Q], t: f64, x: &[f64; N]) -> (f64, f64) {
        let [leak, esr, charged, _, drawn, _, own] = q;
        let out_j = drawn + own + self.net.store_w * t + leak + esr;
        (charged.abs() + out_j, charged - out_j - (self.energy_j(x) - self.held_j))
    }

    /// The error of a step over the allowed one; `before` are the books at its start.
    #[inline]
    fn badness(
        &self,
        here: &Jacobian<N>,
        x: &[f64; N],
        step: &Step<N>,
        h_s: f64,
        (went_before_j, rest_before_j): (f64, f64),
    ) -> f64 {
        if step.outran {
            return f64::NAN;
        }
        let mut bad: f64 = 0.0;
        // Relative to what has moved; at a loose pace since the beginning of the stretch.
        let moved_j = self.moved_j + here.moved_w * h_s + f64::MIN_POSITIVE;
        // The largest error of an energy.
        let mut error_j = step.error_q.iter().fold(0.0, |a: f64, e| a.max(e.abs()));
        for (k, b) in self.branches.iter().enumerate() {
            let (u, scale) = (b.branch.open_v(x[k]), b.branch.scale());
            let volts = step.error_x[k].abs() * if scale > 1.0 { u / scale } else { 1.0 };
            bad = bad.max(volts / (self.tolerance * u.abs().max(0.1)));
            if !self.loose {
                error_j = error_j.max((step.error_x[k] * b.branch.dq_dx(x[k]) * u).abs());
            }
        }
        bad = bad.max(error_j / (10.0 * self.tolerance * moved_j + self.floor_j));
        // A bend in a curve, as of a derated capacitance, deceives the estimates but not the books.
        let after = std::array::from_fn(|k| self.q[k] + step.dq[k]);
        let (went_j, rest_j) = self.books(&after, self.t + h_s, &self.at(&step.dx));
        // This step's own share or, at a loose pace, what is left of the allowance: the sum keeps to it.
        let mut allowed_j = UNACCOUNTED * (went_j - went_before_j);
        if self.loose {
            allowed_j = allowed_j.max(UNACCOUNTED * went_j - rest_before_j.abs());
        }
        bad.max((rest_j - rest_before_j).abs() / (allowed_j + 8.0 * self.floor_j))
    }

    /// The bend that a change of the state meets first, as a share of that change.
    fn bend(&self, x: &[f64; N], dx: &[f64; N]) -> Option<f64> {
        let bends = self.branches.iter().zip(x).zip(dx);
        bends.filter_map(|((b, x), dx)| b.branch.bend(*x, *dx)).reduce(f64::min)
    }

    /// A step from `x` that is good enough, of `h_s` or, as that turns out, less; `next_s` becomes what the next might be.
    #[inline]
    pub(super) fn step(
        &mut self,
        here: &Jacobian<N>,
        x: &[f64; N],
        h_s: &mut f64,
        next_s: &mut f64,
    ) -> Step<N> {
        let books = self.books(&self.q, self.t, x);
        let mut tries = Tries::default();
        loop {
            let step = here.step(Start { net: self.net, branches: &self.branches, x }, *h_s);
            let bad = self.badness(here, x, &step, *h_s, books);
            let last = tries.only_rounding(bad) || *h_s < 1e-13;
            if (bad.is_nan() || bad > 1.0) && !last {
                // No method sees over a bend: the step ends there.
                let bend = if bad < 1e4 { self.bend(x, &step.dx) } else { None };
                *h_s *= match bend {
                    Some(share) => share,
                    None if bad.is_nan() => 0.1,
                    None => (0.8 / bad.powf(step.per_order)).clamp(0.05, 0.9),
                };
                continue;
            }
            let (before_s, bad_before) = self.last;
            let (bad, whole) = (bad.max(1e-10), before_s > 0.0);
            // As the last two errors foretell: where a transient dies away, steps grow.
            let trend = match whole {
                true => *h_s / before_s * (bad_before / bad).powf(step.per_order),
                false => 1.0,
            };
            let most = if self.loose { 50.0 } else { 6.0 };
            *next_s = *h_s * (0.9 / bad.powf(step.per_order) * trend).clamp(1.0, most);
            self.last = (*h_s, bad);
            return step;
        }
    }

    fn goes_on(&mut self, here: &Jacobian<N>, step: &Step<N>, done_s: f64) {
        for k in 0..N {
            self.dx[k] += step.dx[k];
        }
        for k in 0..Q {
            self.q[k] += step.dq[k];
        }
        self.t += done_s;
        if self.loose {
            self.moved_j += here.moved_w * done_s;
        }
    }

    fn gone(&self, dt_s: f64, clear_s: Option<f64>) -> Gone {
        let mut dx = [0.0; Store::MOST];
        dx[..N].copy_from_slice(&self.dx);
        let [leak_j, esr_j, charged_j, source_j, drawn_j, rail_j, own_j] = self.q;
        Gone {
            time_s: self.t.min(dt_s),
            clear_s: clear_s.unwrap_or(self.t).min(dt_s),
            dx,
            leak_j,
            esr_j,
            charged_j,
            source_j,
            drawn_j,
            rail_j,
            own_j,
        }
    }
}

/// Tries of one step, each shorter than the last.
#[derive(Default)]
struct Tries {
    /// The error of the last one over the allowed one.
    bad: Option<f64>,
    in_vain: u32,
}

impl Tries {
    /// True if with this one four errors did not halve as the steps shrank: that is rounding, not truncation, and no
    /// shorter step makes it better.
    fn only_rounding(&mut self, bad: f64) -> bool {
        let stayed = self.bad.is_some_and(|before| bad > before / 2.0);
        self.in_vain += u32::from(stayed && bad < 1e2);
        self.bad = Some(bad);
        self.in_vain > 3
    }
}

/// Finds where a margin falls to zero between two moments (time, margin), to within `near_s`: the last moment before it
/// and the first behind it. By the straight line between them, of which an end that stays counts for half each time
/// (the Illinois rule); halving where that does not get on. A margin may jump.
pub(crate) fn crossing(
    (mut low_s, mut above): (f64, f64),
    (mut high_s, mut below): (f64, f64),
    near_s: f64,
    margin: impl Fn(f64) -> f64,
) -> (f64, f64) {
    let near_s = near_s.max(4.0 * f64::EPSILON * high_s).max(1e-15);
    let (mut width_s, mut slow, mut was_above) = (high_s - low_s, 0, None);
    for _ in 0..200 {
        if high_s - low_s <= near_s {
            break;
        }
        let line_s = low_s + (high_s - low_s) * above / (above - below);
        let mid_s = if slow < 2 && above > 0.0 && line_s.is_finite() {
            line_s.clamp(low_s + 0.5 * near_s, high_s - 0.5 * near_s)
        } else {
            low_s + (high_s - low_s) / 2.0
        };
        let here = margin(mid_s);
        let stays = if was_above == Some(here > 0.0) { 0.5 } else { 1.0 };
        was_above = Some(here > 0.0);
        if here > 0.0 {
            (low_s, above, below) = (mid_s, here, below * stays);
        } else {
            (high_s, below, above) = (mid_s, here, above * stays);
        }
        slow = if high_s - low_s <= 0.5 * width_s { 0 } else { slow + 1 };
        if slow == 0 || slow > 2 {
            (width_s, slow) = (high_s - low_s, 0);
        }
    }
    (low_s, high_s)
}

#[cfg(test)]
mod tests;
