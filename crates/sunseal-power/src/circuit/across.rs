// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a step in which something is crossed.
//!
//! A single branch moves as its own voltage says: time and energies up to a state are integrals over the state, so the
//! crossing is looked for among states, where a look costs a fraction of a step, and integrated to once. Where branches
//! act on each other, or a bend lies in between, the step itself is taken again until its end is the crossing.

use std::cell::Cell;

use super::Q;
use super::flow::{Stretch, crossing};
use super::rosenbrock::{Jacobian, Start, Step};
use crate::quadrature::{AGREE, integrals};

/// A step across something, from the state `x` of a stretch.
pub(super) struct Across<'a, const N: usize> {
    pub stretch: &'a Stretch<'a, N>,
    pub here: &'a Jacobian<N>,
    pub x: &'a [f64; N],
    /// Width to which the crossing is found, as a share of the step.
    pub near: f64,
}

impl<const N: usize> Across<'_, N> {
    /// Last time before the crossing, first time behind it, and the step up to there, by steps of other lengths.
    pub fn by_steps(
        &self,
        above: f64,
        (done_s, end): (f64, Step<N>),
        below: f64,
        margin: &impl Fn([f64; N]) -> f64,
    ) -> (f64, f64, Step<N>) {
        let Self { stretch, here, x, near } = *self;
        // The end of the crossing is a step that was taken on the way to it.
        let behind = Cell::new((done_s, end));
        let (low_s, high_s) = crossing((0.0, above), (done_s, below), near * done_s, |h_s| {
            let step = here.step(Start { net: stretch.net, branches: &stretch.branches, x }, h_s);
            let here = margin(stretch.at(&step.dx));
            if here.is_nan() || here <= 0.0 {
                behind.set((h_s, step));
            }
            here
        });
        debug_assert_eq!(behind.get().0, high_s);
        (low_s, high_s, behind.get().1)
    }

    /// The same of a single branch, by integrals over its state; none where those do not agree.
    pub fn by_quadrature(
        &self,
        above: f64,
        (done_s, end): (f64, Step<N>),
        below: f64,
        margin: &impl Fn([f64; N]) -> f64,
    ) -> Option<(f64, f64, Step<N>)> {
        let whole = end.dx[0];
        if N != 1 || whole == 0.0 || below.is_nan() {
            return None;
        }
        let part = |share: f64| [share * whole; N];
        let (low, high) = crossing((0.0, above), (1.0, below), self.near, |share| {
            margin(self.stretch.at(&part(share)))
        });
        let (time_s, dq, slowest) = self.integrals(high * whole)?;
        if time_s > done_s * (1.0 + AGREE) {
            return None;
        }
        let high_s = time_s.min(done_s);
        // Apart by what the slowest rate takes for it, and by what a double can tell.
        let apart_s = 1.01 * (high - low) * (whole / slowest).abs();
        let least_s = 4.0 * f64::EPSILON * (self.stretch.t + high_s);
        let low_s = (high_s - apart_s.max(least_s)).max(0.0);
        Some((low_s, high_s, Step { dx: part(high), dq, ..end }))
    }

    /// Time and energies that a change of the single branch's state takes, and the slowest rate on the way.
    fn integrals(&self, dx: f64) -> Option<(f64, [f64; Q], f64)> {
        let mut slowest = f64::INFINITY;
        let of = |x: f64| {
            let (rate, q, _) = self.stretch.net.rates(&self.stretch.branches, &[x; N]);
            slowest = f64::min(slowest, rate[0] * dx.signum());
            let per_x = 1.0 / rate[0];
            let mut all = [per_x; Q + 1];
            (0..Q).for_each(|i| all[i] = q[i] * per_x);
            all
        };
        let of_energy = |all: &[f64; Q + 1]| all[..Q].iter().map(|j| j.abs()).sum();
        let scale = |all: &[f64; Q + 1], i: usize| if i == Q { all[Q] } else { of_energy(all) };
        let all = integrals((self.x[0], dx), of, scale)?;
        // It only comes here if it moves all the way.
        (slowest > 0.0).then(|| (all[Q], std::array::from_fn(|i| all[i]), slowest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Efficiency;
    use crate::circuit::tests::bare;
    use crate::circuit::{Converter, Draw, Feed, Net, Pace, Rated, TOLERANCE};
    use crate::store::Store;
    use crate::{Load, Turn};
    use proptest::prelude::*;

    fn table() -> Efficiency {
        let share = vec![vec![0.7, 0.85], vec![0.8, 0.95]];
        Efficiency::new(&[1.0, 4.5], &[1e-4, 1e-2], &share).unwrap()
    }

    proptest! {
        #[test]
        fn integrals_over_the_state_end_where_steps_do(
            capacitance_f in 1e-6f64..1.0, esr_ohm in 1e-3f64..10.0, leak_ohm in 1e5f64..1e8, v_v in 2.0f64..3.5,
            load_w in 0.0f64..5e-3, feed_w in 0.0f64..1e-2, share in 0.02f64..0.9,
        ) {
            let store = Store::capacitor(capacitance_f, esr_ohm, leak_ohm);
            let table = table();
            let turns: [Turn; 1] = [Load { vcc_w: load_w, store_w: 0.0 }.always()];
            let converter = Some(Converter::new(&table, 1.8, &turns));
            let draw = Draw { converter, ..Draw::default() };
            let net = Net { feed: Feed::Power(feed_w), draw, own_s: 2e-7, ..bare(&store) };
            let x = [v_v];
            let mut stretch = Stretch::<1>::new(&net, &store.branches, &store.at_rest(v_v), Pace::new(TOLERANCE));
            let branches = [Rated::of(&store.branches[0])];
            let here = Jacobian::of(&net, &branches, &x);
            prop_assume!(here.moves_in_s(&branches, &x) < 1e6);
            // A step as the solver takes it: both ways err by less than it does.
            let (mut done_s, mut next_s) = (0.1 * here.moves_in_s(&branches, &x), 0.0);
            let end = stretch.step(&here, &x, &mut done_s, &mut next_s);
            let margin = |at: [f64; 1]| (share * end.dx[0] - (at[0] - v_v)) * end.dx[0].signum();
            let (above, below) = (margin([v_v]), margin([v_v + end.dx[0]]));
            let across = Across { stretch: &stretch, here: &here, x: &x, near: 1e-14 };
            let (_, slow_s, slow) = across.by_steps(above, (done_s, end), below, &margin);
            let fast = across.by_quadrature(above, (done_s, end), below, &margin);
            let (low_s, fast_s, fast) = fast.expect("nothing bends between 1 and 4.5 V");
            prop_assert!(low_s < fast_s && low_s > fast_s * (1.0 - 1e-11), "{low_s} {fast_s}");
            prop_assert!((fast_s / slow_s - 1.0).abs() < 1e-5, "{fast_s} {slow_s}");
            prop_assert!((fast.dx[0] / slow.dx[0] - 1.0).abs() < 1e-6);
            for k in 0..Q {
                let off_j = (fast.dq[k] - slow.dq[k]).abs();
                prop_assert!(off_j <= 1e-5 * here.moved_w * fast_s, "{k}: {:?} {:?}", fast.dq, slow.dq);
            }
        }
    }
}
