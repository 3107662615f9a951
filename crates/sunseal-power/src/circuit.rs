// SPDX-License-Identifier: MIT OR Apache-2.0
//! Store, source and load at one terminal, solved over the store's state.
//!
//! Branches with microseconds stand beside branches with hours, so the equations are stiff: they are
//! integrated by an L-stable Rosenbrock method of fourth order with its own error estimate (RODAS,
//! Hairer and Wanner, Solving Ordinary Differential Equations II, 1996, section VI.4). Losses and
//! deliveries are integrated beside the state, so that the balance of energy is a real check.
// Small matrices read best by their indices.
#![allow(clippy::needless_range_loop)]

use crate::IvCurve;
use crate::converter::Efficiency;
use crate::store::{State, Store};

const N: usize = Store::MOST;
/// Integrals beside the state.
const Q: usize = 7;

/// What flows in from the source.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Feed<'a> {
    /// A power at the terminal.
    Power(f64),
    /// A curve through a diode: current and voltages follow the terminal.
    Curve { curve: &'a IvCurve, drop_v: f64 },
    /// Whatever keeps the terminal at this voltage.
    Hold(f64),
}

/// What the rail takes from the terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Draw<'a> {
    /// A constant current, of which `rail_drop_v` is lost before the rail...
    pub current_a: f64,
    /// ...or everything above this voltage, if the rail is regulated.
    pub rail_v: Option<f64>,
    /// Voltage lost between terminal and rail, unless regulated.
    pub rail_drop_v: f64,
    /// A power delivered by a converter, with its efficiency at the open voltage and this current.
    pub converter: Option<(&'a Efficiency, f64, f64)>,
}

/// All that acts on the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Net<'a> {
    pub store: &'a Store,
    pub feed: Feed<'a>,
    pub draw: Draw<'a>,
    /// Taken past the converter.
    pub store_w: f64,
    /// The electronics' own power, current, and conductance.
    pub own_w: f64,
    pub own_a: f64,
    pub own_s: f64,
}

/// The terminal at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Probe {
    /// Without a current.
    pub open_v: f64,
    /// With it.
    pub terminal_v: f64,
    /// Whether the store can give what is drawn.
    pub able: bool,
    /// Power that flows in from the source.
    pub charge_w: f64,
}

/// What became of a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gone {
    pub time_s: f64,
    /// Change of the state.
    pub dx: State,
    pub leak_j: f64,
    pub esr_j: f64,
    /// Into the terminal from the source's side.
    pub charged_j: f64,
    /// Out of the source, in front of the diode.
    pub source_j: f64,
    /// Out of the terminal into the output.
    pub drawn_j: f64,
    /// Of that, delivered at the rail.
    pub rail_j: f64,
    /// Taken by the electronics themselves.
    pub own_j: f64,
}

/// Local error, of volts and of the energy moved.
const TOLERANCE: f64 = 1e-8;

impl Net<'_> {
    fn converter_w(&self, open_v: f64) -> f64 {
        self.draw.converter.map_or(0.0, |(eta, rail_w, rail_a)| {
            if rail_w == 0.0 { 0.0 } else { rail_w / eta.at(open_v, rail_a) }
        })
    }

    /// Terminal voltage behind `open_v` and `r_ohm` with `a + s V` flowing in beside the powers:
    /// V = open + r (P / V + A - G V), the larger root; where there is none, half of what it would be
    /// without P, and false.
    fn solve(&self, open_v: f64, r_ohm: f64, feed_w: f64, line: (f64, f64)) -> (f64, bool) {
        let p = feed_w - self.converter_w(open_v) - self.store_w - self.own_w;
        let a = line.0 - self.draw.current_a - self.own_a;
        let g = 1.0 + r_ohm * (self.own_s - line.1);
        let b = open_v + r_ohm * a;
        let root = b * b + 4.0 * g * r_ohm * p;
        if root < 0.0 || b <= 0.0 && p <= 0.0 {
            return ((b / (2.0 * g)).max(1e-9), false);
        }
        (((b + root.sqrt()) / (2.0 * g)).max(1e-9), true)
    }

    fn terminal(&self, open_v: f64, r_ohm: f64) -> (f64, bool) {
        match self.feed {
            Feed::Hold(v) => (v, true),
            Feed::Power(w) => self.solve(open_v, r_ohm, w, (0.0, 0.0)),
            Feed::Curve { curve, drop_v } => {
                // On which of the curve's lines: the current falls with the voltage that it raises.
                let (mut low, mut high) = (0, curve.lines());
                while low < high {
                    let mid = (low + high) / 2;
                    let (end_v, line) = curve.line(mid, drop_v);
                    if self.solve(open_v, r_ohm, 0.0, line).0 > end_v {
                        low = mid + 1
                    } else {
                        high = mid
                    }
                }
                // Beyond the last line there is no current.
                self.solve(open_v, r_ohm, 0.0, curve.line(low, drop_v).1)
            }
        }
    }

    pub fn probe(&self, x: &State) -> Probe {
        let (open_v, r_ohm) = self.store.open(x);
        let (terminal_v, able) = self.terminal(open_v, r_ohm);
        let charge_w = match self.feed {
            Feed::Power(w) => w,
            Feed::Curve { curve, drop_v } => terminal_v * curve.current_a(terminal_v + drop_v),
            Feed::Hold(v) => v * (v - open_v) / r_ohm + self.out_w(open_v, v),
        };
        Probe { open_v, terminal_v, able, charge_w }
    }

    /// All that leaves the terminal in a state.
    pub fn taken_w(&self, x: &State) -> f64 {
        let p = self.probe(x);
        self.out_w(p.open_v, p.terminal_v)
    }

    /// All that leaves the terminal.
    fn out_w(&self, open_v: f64, v: f64) -> f64 {
        self.converter_w(open_v)
            + self.store_w
            + self.own_w
            + v * (self.draw.current_a + self.own_a + self.own_s * v)
    }

    /// Rates of state and integrals, and the power that moves.
    fn rates(&self, x: &State) -> ([f64; N], [f64; Q], f64) {
        let n = self.store.branches.len();
        let (mut g, mut u) = ([0.0; N], [0.0; N]);
        let mut sum_g = 0.0;
        for (k, b) in self.store.branches.iter().enumerate() {
            g[k] = 1.0 / b.resistance_ohm(x[k]);
            u[k] = b.open_v(x[k]);
            sum_g += g[k];
        }
        let open_v = (0..n).map(|k| g[k] * u[k]).sum::<f64>() / sum_g;
        let v = self.terminal(open_v, 1.0 / sum_g).0;
        let conv_w = self.converter_w(open_v);
        let own_w = self.own_w + v * (self.own_a + self.own_s * v);
        let (charged_w, source_w, net_a) = match self.feed {
            Feed::Power(w) => (w, w, (w - self.out_w(open_v, v)) / v),
            Feed::Curve { curve, drop_v } => {
                let i = curve.current_a(v + drop_v);
                (i * v, i * (v + drop_v), i - self.out_w(open_v, v) / v)
            }
            Feed::Hold(_) => {
                let i = (v - open_v) * sum_g;
                let w = v * i + self.out_w(open_v, v);
                (w, w, i)
            }
        };
        let drawn_w = conv_w + self.draw.current_a * v;
        let rail_v = self.draw.rail_v.unwrap_or(v - self.draw.rail_drop_v);
        let rail_w =
            self.draw.converter.map_or(0.0, |c| c.1) + self.draw.current_a * rail_v.max(0.0);
        let mut dx = [0.0; N];
        let (mut leak_w, mut esr_w, mut moved_w) =
            (0.0, 0.0, charged_w.abs() + drawn_w + own_w + self.store_w);
        for k in 0..n {
            let b = &self.store.branches[k];
            // Differences of voltages, not voltages: small currents keep their digits.
            let apart: f64 = (0..n).map(|j| g[j] * (u[j] - u[k])).sum::<f64>() / sum_g;
            let i = g[k] * (net_a / sum_g + apart);
            let leak_a = b.leak_a(x[k]);
            dx[k] = (i - leak_a) / b.dq_dx(x[k]);
            leak_w += u[k] * leak_a;
            esr_w += i * i / g[k];
            moved_w += (u[k] * i).abs();
        }
        (dx, [leak_w, esr_w, charged_w, source_w, drawn_w, rail_w, own_w], moved_w + leak_w)
    }

    /// Lets `dt_s` go by from `x`, or less if `stop` is met; the crossing is found to the last bit.
    pub fn flow(&self, x: &State, dt_s: f64, stop: impl Fn(&Probe) -> bool) -> Gone {
        self.flow_with(x, dt_s, TOLERANCE, stop)
    }

    pub fn flow_with(
        &self,
        x0: &State,
        dt_s: f64,
        tolerance: f64,
        stop: impl Fn(&Probe) -> bool,
    ) -> Gone {
        let n = self.store.branches.len();
        let held_j = self.store.energy_j(x0);
        let at = |dx: &State| -> State { std::array::from_fn(|k| x0[k] + dx[k]) };
        let (mut dx, mut q) = ([0.0; N], [0.0; Q]);
        let (mut t, mut h) = (0.0, dt_s);
        while t < dt_s {
            let x = at(&dx);
            let here = Jacobian::of(self, &x);
            let mut h_now = h.min(dt_s - t);
            // Rejected steps whose error did not fall with their length: it is rounding, not truncation.
            let (mut before, mut vain) = (f64::INFINITY, 0);
            let step = loop {
                let step = here.step(self, &x, h_now);
                let moved_j = here.moved_w * h_now + f64::MIN_POSITIVE;
                let floor_j = f64::EPSILON * held_j;
                let mut bad: f64 = 0.0;
                for k in 0..n {
                    let b = &self.store.branches[k];
                    let (c, u) = (b.dq_dx(x[k]), b.open_v(x[k]));
                    let volts =
                        step.error_x[k].abs() * if b.scale() > 1.0 { u / b.scale() } else { 1.0 };
                    bad = bad.max(volts / (tolerance * u.abs().max(0.1)));
                    bad = bad.max(
                        (step.error_x[k] * c * u).abs() / (10.0 * tolerance * moved_j + floor_j),
                    );
                }
                for e in step.error_q {
                    bad = bad.max(e.abs() / (10.0 * tolerance * moved_j + floor_j));
                }
                vain += u32::from(bad < 1e2 && bad > before / 2.0);
                before = bad;
                let last = vain > 3 || h_now < 1e-13;
                if (bad.is_nan() || bad > 1.0) && !last {
                    let shrink =
                        if bad.is_nan() { 0.1 } else { (0.9 * bad.powf(-0.25)).clamp(0.05, 0.9) };
                    h_now *= shrink;
                    continue;
                }
                h = h_now * (0.9 * bad.max(1e-10).powf(-0.25)).clamp(1.0, 6.0);
                break step;
            };
            let mut end = step;
            let mut done_s = h_now;
            let mut stopped = false;
            let moved = |s: &Step| at(&std::array::from_fn(|k| dx[k] + s.dx[k]));
            if stop(&self.probe(&moved(&end))) {
                let (mut low, mut high) = (0.0, h_now);
                for _ in 0..200 {
                    let mid = low + (high - low) / 2.0;
                    if mid <= low || mid >= high {
                        break;
                    }
                    if stop(&self.probe(&moved(&here.step(self, &x, mid)))) {
                        high = mid
                    } else {
                        low = mid
                    }
                }
                end = here.step(self, &x, high);
                (done_s, stopped) = (high, true);
            }
            for k in 0..n {
                dx[k] += end.dx[k];
            }
            for k in 0..Q {
                q[k] += end.dq[k];
            }
            t += done_s;
            if stopped {
                break;
            }
        }
        Gone {
            time_s: t.min(dt_s),
            dx,
            leak_j: q[0],
            esr_j: q[1],
            charged_j: q[2],
            source_j: q[3],
            drawn_j: q[4],
            rail_j: q[5],
            own_j: q[6],
        }
    }
}

/// Slopes of the rates at a point: all that the steps from it share.
struct Jacobian {
    n: usize,
    /// d(rate of state k) / d(state j).
    x: [[f64; N]; N],
    /// d(rate of integral k) / d(state j).
    q: [[f64; N]; Q],
    moved_w: f64,
}

/// A step and its error estimate.
#[derive(Clone, Copy)]
struct Step {
    dx: [f64; N],
    dq: [f64; Q],
    error_x: [f64; N],
    error_q: [f64; Q],
}

const GAMMA: f64 = 0.25;
/// Stage arguments; the sixth is the fifth plus its increment.
const A: [&[f64]; 6] = [
    &[],
    &[1.544],
    &[0.9466785280815826, 0.2557011698983284],
    &[3.314825187068521, 2.896124015972201, 0.9986419139977817],
    &[1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895],
    &[1.221224509226641, 6.019134481288629, 12.53708332932087, -0.687886036105895, 1.0],
];
const C: [&[f64]; 6] = [
    &[],
    &[-5.6688],
    &[-2.430093356833875, -0.2063599157091915],
    &[-0.1073529058151375, -9.594562251023355, -20.47028614809616],
    &[7.496443313967647, -10.24680431464352, -33.99990352819905, 11.7089089320616],
    &[
        8.083246795921522,
        -7.981132988064893,
        -31.52159432874371,
        16.31930543123136,
        -6.058818238834054,
    ],
];

impl Jacobian {
    fn of(net: &Net<'_>, x: &State) -> Self {
        let n = net.store.branches.len();
        let (f0, q0, moved_w) = net.rates(x);
        let (mut jx, mut jq) = ([[0.0; N]; N], [[0.0; N]; Q]);
        for j in 0..n {
            let scale = net.store.branches[j].scale();
            let d = 1e-7 * x[j].abs().max(0.1 * scale);
            let mut there = *x;
            there[j] += d;
            let d = there[j] - x[j];
            let (f1, q1, _) = net.rates(&there);
            for k in 0..n {
                jx[k][j] = (f1[k] - f0[k]) / d;
            }
            for k in 0..Q {
                jq[k][j] = (q1[k] - q0[k]) / d;
            }
        }
        Self { n, x: jx, q: jq, moved_w }
    }

    fn step(&self, net: &Net<'_>, x: &State, h_s: f64) -> Step {
        let n = self.n;
        let mut w = [[0.0; N]; N];
        for k in 0..n {
            for j in 0..n {
                w[k][j] = -self.x[k][j];
            }
            w[k][k] += 1.0 / (GAMMA * h_s);
        }
        let solve = Factors::of(w, n);
        let (mut kx, mut kq) = ([[0.0; N]; 6], [[0.0; Q]; 6]);
        let (mut sum_x, mut sum_q) = ([0.0; N], [0.0; Q]);
        for stage in 0..6 {
            (sum_x, sum_q) = ([0.0; N], [0.0; Q]);
            for (i, a) in A[stage].iter().enumerate() {
                for k in 0..n {
                    sum_x[k] += a * kx[i][k];
                }
                for k in 0..Q {
                    sum_q[k] += a * kq[i][k];
                }
            }
            let (mut fx, mut fq, _) = net.rates(&std::array::from_fn(|k| x[k] + sum_x[k]));
            for (i, c) in C[stage].iter().enumerate() {
                for k in 0..n {
                    fx[k] += c / h_s * kx[i][k];
                }
                for k in 0..Q {
                    fq[k] += c / h_s * kq[i][k];
                }
            }
            kx[stage] = solve.solve(fx);
            for k in 0..Q {
                let slope: f64 = (0..n).map(|j| self.q[k][j] * kx[stage][j]).sum();
                kq[stage][k] = GAMMA * h_s * (fq[k] + slope);
            }
        }
        Step {
            dx: std::array::from_fn(|k| sum_x[k] + kx[5][k]),
            dq: std::array::from_fn(|k| sum_q[k] + kq[5][k]),
            error_x: kx[5],
            error_q: kq[5],
        }
    }
}

/// A small matrix as the product of two triangles, rows exchanged.
struct Factors {
    n: usize,
    lu: [[f64; N]; N],
    order: [usize; N],
}

impl Factors {
    fn of(mut m: [[f64; N]; N], n: usize) -> Self {
        let mut order: [usize; N] = std::array::from_fn(|k| k);
        for c in 0..n {
            let best = (c..n).max_by(|&a, &b| m[a][c].abs().total_cmp(&m[b][c].abs())).unwrap_or(c);
            m.swap(c, best);
            order.swap(c, best);
            for r in c + 1..n {
                m[r][c] /= m[c][c];
                for k in c + 1..n {
                    m[r][k] -= m[r][c] * m[c][k];
                }
            }
        }
        Self { n, lu: m, order }
    }

    fn solve(&self, b: [f64; N]) -> [f64; N] {
        let mut x = [0.0; N];
        for r in 0..self.n {
            x[r] = b[self.order[r]] - (0..r).map(|k| self.lu[r][k] * x[k]).sum::<f64>();
        }
        for r in (0..self.n).rev() {
            let rest: f64 = (r + 1..self.n).map(|k| self.lu[r][k] * x[k]).sum();
            x[r] = (x[r] - rest) / self.lu[r][r];
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Branch, Curve, Element};
    use proptest::prelude::*;

    fn bare(store: &Store) -> Net<'_> {
        Net {
            store,
            feed: Feed::Power(0.0),
            draw: Draw::default(),
            store_w: 0.0,
            own_w: 0.0,
            own_a: 0.0,
            own_s: 0.0,
        }
    }

    fn two_branches() -> Store {
        // A fast and a slow one: 50 ms and 500 s.
        Store {
            branches: vec![Branch::capacitor(0.5, 0.1, 1e12), Branch::capacitor(1.0, 500.0, 1e12)],
        }
    }

    #[test]
    fn charge_redistributes_as_the_exponential_has_it() {
        let s = two_branches();
        let mut x = s.at_rest(1.0);
        x[0] = 3.0;
        let gone = bare(&s).flow(&x, 200.0, |_| false);
        // C1 C2 / (C1 + C2) behind R1 + R2; the charge ends at (0.5 * 3 + 1) / 1.5 V.
        let tau_s: f64 = 500.1 * 0.5 / 1.5;
        let k = (-200.0 / tau_s).exp();
        let end = 2.5 / 1.5 + (3.0 - 2.5 / 1.5) * k;
        assert!((x[0] + gone.dx[0] - end).abs() < 1e-7, "{} {end}", x[0] + gone.dx[0]);
        let lost = 2.0 * 2.0 / 2.0 * (0.5 / 1.5) * (1.0 - k * k);
        assert!((gone.esr_j - lost).abs() < 1e-7, "{} {lost}", gone.esr_j);
    }

    #[test]
    fn the_method_is_of_fourth_order() {
        let s = two_branches();
        let mut x = s.at_rest(2.0);
        x[1] = 1.5;
        let net = Net { feed: Feed::Power(-5e-3), ..bare(&s) };
        let exact = net.flow_with(&x, 40.0, 1e-13, |_| false).dx[0];
        let off = |pieces: u32| {
            let mut y = x;
            for _ in 0..pieces {
                let step = Jacobian::of(&net, &y).step(&net, &y, 40.0 / f64::from(pieces));
                y = std::array::from_fn(|k| y[k] + step.dx[k]);
            }
            (y[0] - x[0] - exact).abs()
        };
        let order = (off(8) / off(16)).log2();
        assert!((3.5..5.5).contains(&order), "{order}");
    }

    #[test]
    fn a_plain_capacitor_does_as_the_other_solver_says() {
        // Two methods, two codes: the explicit one of `Storage` and this one.
        let s = Store::capacitor(0.47, 30.0, 1e6);
        for (v, p, dt) in [(2.0, -1e-5, 36_000.0), (3.0, -20e-3, 30.0), (1.0, 5e-3, 600.0)] {
            let (t, other) = s.plain().unwrap().flow(v, p, dt, |_| false);
            let ours = Net { feed: Feed::Power(p), ..bare(&s) }.flow(&s.at_rest(v), dt, |_| false);
            assert_eq!(t, ours.time_s);
            assert!((v + ours.dx[0] - other.v_v).abs() < 1e-7, "{} {}", v + ours.dx[0], other.v_v);
            assert!((ours.leak_j - other.leak_j).abs() < 1e-7 * (p.abs() * dt + other.leak_j));
            assert!((ours.esr_j - other.esr_j).abs() < 1e-7 * (p.abs() * dt + other.leak_j));
        }
    }

    fn circuits() -> impl Strategy<Value = Store> {
        let plain = (1e-5f64..2.0, 0.01f64..5.0, 1e5f64..1e8)
            .prop_map(|(c, r, l)| Branch::capacitor(c, r, l));
        let growing =
            (0.01f64..1.0, 0.0f64..0.5, 0.01f64..5.0).prop_map(|(c0_f, c1_f_per_v, r_ohm)| {
                Branch {
                    element: Element::Capacitor { c0_f, c1_f_per_v },
                    r_ohm,
                    leak_ohm: 1e6,
                    self_discharge_per_s: 0.0,
                }
            });
        let cell = (50.0f64..9000.0, 0.1f64..20.0).prop_map(|(capacity_c, r)| Branch {
            element: Element::Cell {
                capacity_c,
                ocv_v: Curve::new(&[[0.0, 1.0], [0.1, 2.0], [1.0, 3.2]]).unwrap(),
                r_ohm: Curve::new(&[[0.0, 2.0 * r], [1.0, r]]).unwrap(),
            },
            r_ohm: 0.0,
            leak_ohm: f64::INFINITY,
            self_discharge_per_s: 1e-9,
        });
        prop::collection::vec(prop_oneof![plain, growing, cell], 1..4)
            .prop_map(|branches| Store { branches })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn energy_closes_in_any_circuit(
            s in circuits(), v in 2.2f64..3.1, p in -5e-3f64..5e-3, a in 0.0f64..2e-3, own_s in 0.0f64..1e-6, dt in 1e-4f64..3e4,
        ) {
            let x = s.at_rest(v);
            let draw = Draw { current_a: a, rail_drop_v: 0.1, ..Draw::default() };
            let net = Net { feed: Feed::Power(p.max(0.0)), draw, store_w: (-p).max(0.0), own_s, ..bare(&s) };
            let gone = net.flow(&x, dt, |p| p.terminal_v < 1.8 || !p.able || p.terminal_v > 4.0);
            let end: State = std::array::from_fn(|k| x[k] + gone.dx[k]);
            let delta = s.energy_j(&end) - s.energy_j(&x);
            let rest = gone.charged_j - gone.drawn_j - gone.own_j - net.store_w * gone.time_s - gone.leak_j - gone.esr_j - delta;
            let moved = gone.charged_j + gone.drawn_j + gone.own_j + net.store_w * gone.time_s + gone.leak_j;
            prop_assert!(rest.abs() <= 1e-6 * moved + 8.0 * f64::EPSILON * s.energy_j(&x), "{rest} of {moved} in {}", gone.time_s);
            prop_assert!(gone.rail_j <= gone.drawn_j + 1e-12);
        }

        #[test]
        fn halves_of_a_step_end_at_the_same_voltage(s in circuits(), v in 2.5f64..3.1, p in -2e-3f64..2e-3, dt in 1.0f64..1e4) {
            let net = Net { feed: Feed::Power(p), ..bare(&s) };
            let x = s.at_rest(v);
            let whole = net.flow(&x, dt, |p| p.terminal_v < 1.8 || p.terminal_v > 4.0);
            let dt = whole.time_s;
            let half = net.flow(&x, dt / 2.0, |_| false);
            let mid: State = std::array::from_fn(|k| x[k] + half.dx[k]);
            let rest = net.flow(&mid, dt / 2.0, |_| false);
            let end: State = std::array::from_fn(|k| mid[k] + rest.dx[k]);
            let other: State = std::array::from_fn(|k| x[k] + whole.dx[k]);
            let (a, b) = (s.open(&end).0, s.open(&other).0);
            prop_assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }

    #[test]
    fn a_cell_of_the_sun_charges_through_a_diode_until_their_voltages_meet() {
        let curve = crate::SingleDiode {
            photocurrent_a: 25e-3,
            saturation_a: 2e-10,
            series_ohm: 8.0,
            shunt_ohm: 200e3,
            n_ns_vth_v: 0.2,
        }
        .curve();
        let s = Store::capacitor(0.1, 0.1, 1e9);
        let net = Net { feed: Feed::Curve { curve: &curve, drop_v: 0.3 }, ..bare(&s) };
        let x = s.at_rest(1.0);
        // Far below the knee the cell is a source of current.
        let first = net.flow(&x, 4.0, |_| false);
        assert!((first.dx[0] / (25e-3 * 4.0 / 0.1) - 1.0).abs() < 2e-3, "{}", first.dx[0]);
        assert!((first.source_j - first.charged_j - 0.3 * 0.1).abs() < 1e-3 * 0.03);
        let long = net.flow(&x, 3e4, |_| false);
        let end = 1.0 + long.dx[0];
        assert!((end - (curve.v_oc_v() - 0.3)).abs() < 1e-3, "{end} {}", curve.v_oc_v());
        let rest = long.charged_j - long.leak_j - long.esr_j - 0.05 * (end * end - 1.0);
        assert!(rest.abs() < 1e-6 * long.charged_j, "{rest}");
    }
}
