// SPDX-License-Identifier: MIT OR Apache-2.0
//! One step with its error estimate: of RODAS or, where it is short beside the circuit's time constants, of the explicit
//! method of Dormand and Prince, whose steps are several times longer there.

use super::{Feed, Net, Q, Rated};
use crate::dormand_prince;

/// Slopes of the rates at a point: all that the steps from it share.
pub(super) struct Jacobian<const N: usize> {
    /// d(rate of state k) / d(state j).
    x: [[f64; N]; N],
    /// d(rate of integral k) / d(state j).
    q: [[f64; N]; Q],
    pub moved_w: f64,
    /// Rates of states and integrals at the point.
    rates: ([f64; N], [f64; Q]),
    /// A bound of what dies away or grows fastest.
    fastest_per_s: f64,
}

/// Circuit, its branches and the state from which a step sets out.
#[derive(Clone, Copy)]
pub(super) struct Start<'a, const N: usize> {
    pub net: &'a Net<'a>,
    pub branches: &'a [Rated<'a>; N],
    pub x: &'a [f64; N],
}

/// A step and its error estimate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<const N: usize> {
    pub dx: [f64; N],
    pub dq: [f64; Q],
    pub error_x: [f64; N],
    pub error_q: [f64; Q],
    /// True if it is longer than what grows: an implicit method then lands on the balance from which the store in truth
    /// departs, and its error estimate says nothing.
    pub outran: bool,
    /// One over the order in which the error estimate falls with the step.
    pub per_order: f64,
}

/// A step is short below this share of the fastest time constant.
const SHORT: f64 = 0.5;
/// The explicit method's estimate counts so many times: its books then close as well as those of RODAS.
const STRICT: f64 = 4.0;
const GAMMA: f64 = 0.25;
/// Relative rounding of the Jacobian's slopes: that of a double over the difference of 1e-7.
const SLOPE_NOISE: f64 = 1e-8;
/// Stage arguments; the sixth is the fifth plus its increment.
const A: [[f64; 5]; 6] = [
    [0.0; 5],
    [1.544, 0.0, 0.0, 0.0, 0.0],
    [0.9466785280815826, 0.2557011698983284, 0.0, 0.0, 0.0],
    [3.314825187068521, 2.896124015972201, 0.9986419139977817, 0.0, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 0.0],
    [1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0],
];
const C: [[f64; 5]; 6] = [
    [0.0; 5],
    [-5.6688, 0.0, 0.0, 0.0, 0.0],
    [-2.430093356833875, -0.2063599157091915, 0.0, 0.0, 0.0],
    [-0.1073529058151375, -9.594562251023355, -20.47028614809616, 0.0, 0.0],
    [7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616, 0.0],
    [
        8.083246795921522,
        -7.981132988064893,
        -31.52159432874371,
        16.31930543123136,
        -6.058818238834054,
    ],
];

impl<const N: usize> Jacobian<N> {
    pub fn of(net: &Net<'_>, branches: &[Rated<'_>; N], x: &[f64; N]) -> Self {
        let (f0, q0, moved_w) = net.rates(branches, x);
        let (mut jx, mut jq) = ([[0.0; N]; N], [[0.0; N]; Q]);
        for j in 0..N {
            let scale = branches[j].branch.scale();
            let d = 1e-7 * x[j].abs().max(0.1 * scale);
            let mut there = *x;
            there[j] += d;
            let per_d = 1.0 / (there[j] - x[j]);
            let (f1, q1, _) = net.rates(branches, &there);
            for k in 0..N {
                jx[k][j] = (f1[k] - f0[k]) * per_d;
            }
            for k in 0..Q {
                jq[k][j] = (q1[k] - q0[k]) * per_d;
            }
        }
        // Of a network of capacitors the slopes across are alike once each is counted in its own measure.
        let across = |k: usize, j: usize| match k == j {
            true => jx[k][k].abs(),
            false => (jx[k][j] * jx[j][k]).abs().sqrt(),
        };
        let row = |k: usize| (0..N).map(|j| across(k, j)).sum::<f64>();
        let fastest_per_s = (0..N).map(row).fold(0.0, f64::max);
        Self { x: jx, q: jq, moved_w, rates: (f0, q0), fastest_per_s }
    }

    /// Time in which the branch that moves fastest would be empty, or as full again.
    pub fn moves_in_s(&self, branches: &[Rated<'_>; N], x: &[f64; N]) -> f64 {
        let lasts =
            |k: usize| x[k].abs().max(0.1 * branches[k].branch.scale()) / self.rates.0[k].abs();
        (0..N).map(lasts).fold(f64::INFINITY, f64::min)
    }

    pub fn step(&self, from: Start<'_, N>, h_s: f64) -> Step<N> {
        // The bends of a source's curve deceive an estimate of high order.
        let smooth = !matches!(from.net.feed, Feed::Curve { .. });
        match smooth && h_s * self.fastest_per_s < SHORT {
            true => self.explicit(from, h_s),
            false => self.implicit(from, h_s),
        }
    }

    fn explicit(&self, Start { net, branches, x }: Start<'_, N>, h_s: f64) -> Step<N> {
        use dormand_prince::{A, LOW};
        let (mut kx, mut kq) = ([[0.0; N]; 7], [[0.0; Q]; 7]);
        (kx[0], kq[0]) = self.rates;
        let mut dx = [0.0; N];
        for stage in 1..7 {
            dx = std::array::from_fn(|k| {
                h_s * (0..stage).map(|i| A[stage][i] * kx[i][k]).sum::<f64>()
            });
            let there = std::array::from_fn(|k| x[k] + dx[k]);
            (kx[stage], kq[stage], _) = net.rates(branches, &there);
        }
        let (mut error_x, mut dq, mut error_q) = ([0.0; N], [0.0; Q], [0.0; Q]);
        for i in 0..7 {
            let high = if i < 6 { h_s * A[6][i] } else { 0.0 };
            let off = STRICT * (high - h_s * LOW[i]);
            for k in 0..N {
                error_x[k] += off * kx[i][k];
            }
            for k in 0..Q {
                dq[k] += high * kq[i][k];
                error_q[k] += off * kq[i][k];
            }
        }
        Step { dx, dq, error_x, error_q, outran: false, per_order: 0.2 }
    }

    fn implicit(&self, Start { net, branches, x }: Start<'_, N>, h_s: f64) -> Step<N> {
        let per_h = 1.0 / h_s;
        let mut w = [[0.0; N]; N];
        for k in 0..N {
            for j in 0..N {
                w[k][j] = -self.x[k][j];
            }
            w[k][k] += per_h / GAMMA;
        }
        let factors = Factors::of(w);
        let outran = factors.turned && {
            // Slopes are differences: those of a small capacitor hide a slow growth in their rounding.
            let noise = (0..N).fold(0.0f64, |a, k| a.max(self.x[k][k].abs())) * SLOPE_NOISE;
            (0..N).for_each(|k| w[k][k] += noise);
            Factors::of(w).turned
        };
        let (mut kx, mut kq) = ([[0.0; N]; 6], [[0.0; Q]; 6]);
        let (mut sum_x, mut sum_q) = ([0.0; N], [0.0; Q]);
        for stage in 0..6 {
            (sum_x, sum_q) = ([0.0; N], [0.0; Q]);
            let (mut fx, mut fq) = ([0.0; N], [0.0; Q]);
            for i in 0..stage {
                let (a, c) = (A[stage][i], C[stage][i] * per_h);
                for k in 0..N {
                    sum_x[k] += a * kx[i][k];
                    fx[k] += c * kx[i][k];
                }
                for k in 0..Q {
                    sum_q[k] += a * kq[i][k];
                    fq[k] += c * kq[i][k];
                }
            }
            let (rates_x, rates_q) = if stage == 0 {
                self.rates
            } else {
                let there = std::array::from_fn(|k| x[k] + sum_x[k]);
                let (x, q, _) = net.rates(branches, &there);
                (x, q)
            };
            for k in 0..N {
                fx[k] += rates_x[k];
            }
            kx[stage] = factors.solve(fx);
            for k in 0..Q {
                let slope: f64 = (0..N).map(|j| self.q[k][j] * kx[stage][j]).sum();
                kq[stage][k] = GAMMA * h_s * (fq[k] + rates_q[k] + slope);
            }
        }
        Step {
            dx: std::array::from_fn(|k| sum_x[k] + kx[5][k]),
            dq: std::array::from_fn(|k| sum_q[k] + kq[5][k]),
            error_x: kx[5],
            error_q: kq[5],
            outran,
            per_order: 0.25,
        }
    }
}

/// A small matrix as the product of two triangles, rows exchanged.
struct Factors<const N: usize> {
    lu: [[f64; N]; N],
    /// One over the diagonal.
    per_pivot: [f64; N],
    order: [usize; N],
    /// True if its determinant is negative.
    turned: bool,
}

impl<const N: usize> Factors<N> {
    fn of(mut m: [[f64; N]; N]) -> Self {
        let mut order: [usize; N] = std::array::from_fn(|k| k);
        let mut per_pivot = [0.0; N];
        let mut turned = false;
        for c in 0..N {
            let mut best = c;
            for r in c + 1..N {
                if m[r][c].abs() > m[best][c].abs() {
                    best = r;
                }
            }
            m.swap(c, best);
            order.swap(c, best);
            per_pivot[c] = 1.0 / m[c][c];
            turned ^= (best != c) ^ (m[c][c] < 0.0);
            for r in c + 1..N {
                m[r][c] *= per_pivot[c];
                for k in c + 1..N {
                    m[r][k] -= m[r][c] * m[c][k];
                }
            }
        }
        Self { lu: m, per_pivot, order, turned }
    }

    #[inline]
    fn solve(&self, b: [f64; N]) -> [f64; N] {
        let mut x = [0.0; N];
        for r in 0..N {
            x[r] = b[self.order[r]] - (0..r).map(|k| self.lu[r][k] * x[k]).sum::<f64>();
        }
        for r in (0..N).rev() {
            let rest: f64 = (r + 1..N).map(|k| self.lu[r][k] * x[k]).sum();
            x[r] = (x[r] - rest) * self.per_pivot[r];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{bare, two_branches};
    use super::*;
    use crate::circuit::Pace;
    use crate::store::Store;

    #[test]
    fn the_method_is_of_fourth_order() {
        let s = two_branches();
        let mut x = s.at_rest(2.0);
        x[1] = 1.5;
        let net = Net { feed: Feed::Power(-5e-3), ..bare(&s) };
        let exact = net.flow(&x, 40.0, &mut Pace::new(1e-13), |_| f64::INFINITY).dx[0];
        let off = |pieces: u32| {
            let branches = &[0, 1].map(|k| Rated::of(&s.branches[k]));
            let mut y = [x[0], x[1]];
            for _ in 0..pieces {
                let here = Jacobian::of(&net, branches, &y);
                let step =
                    here.implicit(Start { net: &net, branches, x: &y }, 40.0 / f64::from(pieces));
                y = std::array::from_fn(|k| y[k] + step.dx[k]);
            }
            (y[0] - x[0] - exact).abs()
        };
        let order = (off(8) / off(16)).log2();
        assert!((3.5..5.5).contains(&order), "{order}");
    }

    #[test]
    fn the_explicit_method_is_of_fifth_order_and_knows_its_error() {
        let s = Store::capacitor(1e-3, 10.0, 1e12);
        let net = Net { own_s: 1e-3, ..bare(&s) };
        let per_s = 1e-3 / 1.01 / 1e-3;
        let branches = &[Rated::of(&s.branches[0])];
        let off = |h_s: f64| {
            let step = Jacobian::of(&net, branches, &[3.0])
                .explicit(Start { net: &net, branches, x: &[3.0] }, h_s);
            let off_v = (3.0 + step.dx[0] - 3.0 * (-per_s * h_s).exp()).abs();
            assert!(
                step.error_x[0].abs() > off_v && step.error_x[0].abs() < 1e3 * off_v,
                "{step:?}"
            );
            let own_j =
                9.0 * per_s / 1.01 * 1e-3 * (1.0 - (-2.0 * per_s * h_s).exp()) / (2.0 * per_s);
            assert!((step.dq[6] / own_j - 1.0).abs() < 1e-4, "{} {own_j}", step.dq[6]);
            off_v
        };
        let order = (off(0.4) / off(0.2)).log2();
        assert!((5.5..6.5).contains(&order), "of one step: {order}");
    }

    #[test]
    fn slopes_are_those_of_the_equations() {
        // Between the branches 0.1 + 500 ohm; each in its own measure they are as fast as both together.
        let s = two_branches();
        let here = Jacobian::of(&bare(&s), &[0, 1].map(|k| Rated::of(&s.branches[k])), &[3.0, 1.0]);
        let per_s = 1.0 / 500.1;
        for (k, j, slope) in
            [(0, 0, -per_s / 0.5), (0, 1, per_s / 0.5), (1, 0, per_s), (1, 1, -per_s)]
        {
            assert!((here.x[k][j] - slope).abs() < 1e-7 * slope.abs(), "{k} {j}: {}", here.x[k][j]);
        }
        let across = per_s / 0.5f64.sqrt();
        assert!(
            (here.fastest_per_s / (per_s / 0.5 + across) - 1.0).abs() < 1e-6,
            "{}",
            here.fastest_per_s
        );
        // 2 V lie at 500.1 ohm: their square, and its slopes.
        for (j, slope) in [(0, 2.0 * 2.0 * per_s), (1, -2.0 * 2.0 * per_s)] {
            assert!((here.q[1][j] - slope).abs() < 1e-6 * slope.abs(), "{}", here.q[1][j]);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_small_matrix_is_solved_and_its_determinant_has_a_sign(
            m in proptest::array::uniform3(proptest::array::uniform3(-1.0f64..1.0)), b in proptest::array::uniform3(-1.0f64..1.0),
        ) {
            let [[a, d, g], [e, f, h], [i, j, k]] = m;
            let determinant = a * (f * k - h * j) - d * (e * k - h * i) + g * (e * j - f * i);
            proptest::prop_assume!(determinant.abs() > 1e-3);
            let factors = Factors::of(m);
            proptest::prop_assert_eq!(factors.turned, determinant < 0.0);
            let x = factors.solve(b);
            for r in 0..3 {
                let row: f64 = (0..3).map(|c| m[r][c] * x[c]).sum();
                proptest::prop_assert!((row - b[r]).abs() < 1e-9, "{row} {}", b[r]);
            }
        }
    }
}
