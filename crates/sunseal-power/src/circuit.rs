// SPDX-License-Identifier: MIT OR Apache-2.0
//! Store, source and load at one terminal, solved over the store's state.
//!
//! Branches with microseconds stand beside branches with hours, so the equations are stiff: they are
//! integrated by an L-stable Rosenbrock method of fourth order with its own error estimate (RODAS,
//! Hairer and Wanner, Solving Ordinary Differential Equations II, 1996, section VI.4). Losses and
//! deliveries are integrated beside the state, so that the balance of energy is a real check.
// Small matrices read best by their indices.
#![allow(clippy::needless_range_loop)]

mod across;
mod flow;
mod rosenbrock;

pub(crate) use flow::{Pace, TOLERANCE, crossing};

use crate::converter::Efficiency;
use crate::store::{Branch, Element, State, Store};
use crate::{IvCurve, Turn};

/// Integrals beside the state.
const Q: usize = 7;

/// Inflow from the source.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Feed<'a> {
    /// A power at the terminal.
    Power(f64),
    /// A curve through a diode: current and voltages follow the terminal.
    Curve { curve: &'a IvCurve, drop_v: f64 },
    /// Whatever keeps the terminal at this voltage.
    Hold(f64),
}

/// Draw of the rail from the terminal. Of loads that take turns it is their mean, and the series resistance loses in
/// proportion to the variance too.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Draw<'a> {
    /// A current, of which `rail_drop_v` is lost before the rail...
    pub current_a: f64,
    /// Variance of that current.
    pub spread_a2: f64,
    /// ...or everything above this voltage, if the rail is regulated.
    pub rail_v: Option<f64>,
    /// Voltage lost between terminal and rail, unless regulated.
    pub rail_drop_v: f64,
    /// A power delivered by a converter.
    pub converter: Option<Converter<'a>>,
}

/// A converter to a rail, with its efficiency at the open voltage and each turn's current.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Converter<'a> {
    efficiency: &'a Efficiency,
    rail_v: f64,
    turns: &'a [Turn],
    /// Mean power that it delivers.
    rail_w: f64,
    /// Power and variance that it takes, where that is the same at every open voltage.
    taken_w: Option<(f64, f64)>,
    /// Place in the efficiency's table of the current of a load without turns.
    place: Option<(usize, f64)>,
}

impl<'a> Converter<'a> {
    pub fn new(efficiency: &'a Efficiency, rail_v: f64, turns: &'a [Turn]) -> Self {
        let rail_w = turns.iter().map(|t| t.share * t.load.vcc_w).sum();
        let mut made = Self { efficiency, rail_v, turns, rail_w, taken_w: None, place: None };
        made.taken_w = efficiency.is_constant().map(|_| made.taken_at(0.0));
        if let ([turn], None) = (turns, made.taken_w) {
            made.place = Some(efficiency.place_of(turn.load.vcc_w / rail_v));
        }
        made
    }

    /// Mean power that it takes, and the variance of that.
    #[inline]
    fn taken_w(&self, open_v: f64) -> (f64, f64) {
        self.taken_w.unwrap_or_else(|| self.taken_at(open_v))
    }

    fn taken_at(&self, open_v: f64) -> (f64, f64) {
        let of = |turn: &Turn| {
            let w = turn.load.vcc_w;
            let share = match self.place {
                Some(place) => self.efficiency.at_place(open_v, place),
                None => self.efficiency.at(open_v, w / self.rail_v),
            };
            if w == 0.0 { 0.0 } else { w / share }
        };
        if let [turn] = self.turns {
            return (of(turn), 0.0);
        }
        let (mut mean, mut square) = (0.0, 0.0);
        for turn in self.turns {
            let w = of(turn);
            mean += turn.share * w;
            square += turn.share * w * w;
        }
        (mean, (square - mean * mean).max(0.0))
    }
}

/// A branch with its constants as the rates need them.
#[derive(Clone, Copy)]
struct Rated<'a> {
    branch: &'a Branch,
    leak_s: f64,
    /// Resistance and conductance, unless they follow the state.
    fixed: Option<(f64, f64)>,
}

impl<'a> Rated<'a> {
    fn of(branch: &'a Branch) -> Self {
        let fixed = (!matches!(branch.element, Element::Cell { .. }))
            .then_some((branch.r_ohm, 1.0 / branch.r_ohm));
        Self { branch, leak_s: 1.0 / branch.leak_ohm, fixed }
    }

    #[inline]
    fn r_ohm_and_s(&self, x: f64) -> (f64, f64) {
        self.fixed.unwrap_or_else(|| {
            let r_ohm = self.branch.resistance_ohm(x);
            (r_ohm, 1.0 / r_ohm)
        })
    }
}

/// Draw of the output at an open voltage.
#[derive(Clone, Copy)]
struct Taken {
    converter_w: f64,
    /// Lost in the series resistance beyond what the mean current loses there.
    ripple_w: f64,
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
    /// Voltage of the store's terminal without a current.
    pub open_v: f64,
    /// Voltage of the terminal under the current.
    pub terminal_v: f64,
    /// True if the store can give what is drawn.
    pub able: bool,
    /// Power that flows in from the source.
    pub charge_w: f64,
}

/// Outcome of a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gone {
    pub time_s: f64,
    /// Part of that time after which nothing was crossed yet.
    pub clear_s: f64,
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
    /// Part of that energy which was delivered at the rail.
    pub rail_j: f64,
    /// Taken by the electronics themselves.
    pub own_j: f64,
}

impl Net<'_> {
    #[inline]
    fn taken(&self, open_v: f64, r_ohm: f64) -> Taken {
        let (converter_w, spread_w2) =
            self.draw.converter.map_or((0.0, 0.0), |c| c.taken_w(open_v));
        let spread_a2 = self.draw.spread_a2;
        let ripple_w = if spread_w2 == 0.0 && spread_a2 == 0.0 {
            0.0
        } else {
            r_ohm * (spread_w2 / (open_v * open_v) + spread_a2)
        };
        Taken { converter_w, ripple_w }
    }

    /// Terminal voltage behind `open_v` and `r_ohm` with `a + s V` flowing in beside the powers:
    /// V = open + r (P / V + A - G V), the larger root; where there is none, half of what it would be
    /// without P, and false.
    #[inline]
    fn solve(
        &self,
        open_v: f64,
        r_ohm: f64,
        taken: Taken,
        feed_w: f64,
        line: (f64, f64),
    ) -> (f64, bool) {
        let p = feed_w - taken.converter_w - self.store_w - self.own_w - taken.ripple_w;
        let a = line.0 - self.draw.current_a - self.own_a;
        let g = 1.0 + r_ohm * (self.own_s - line.1);
        let b = open_v + r_ohm * a;
        let root = b * b + 4.0 * g * r_ohm * p;
        if root < 0.0 || b <= 0.0 && p <= 0.0 {
            return ((b / (2.0 * g)).max(1e-9), false);
        }
        (((b + root.sqrt()) / (2.0 * g)).max(1e-9), true)
    }

    #[inline]
    fn terminal(&self, open_v: f64, r_ohm: f64, taken: Taken) -> (f64, bool) {
        match self.feed {
            Feed::Hold(v) => (v, true),
            Feed::Power(w) => self.solve(open_v, r_ohm, taken, w, (0.0, 0.0)),
            Feed::Curve { curve, drop_v } => self.on_curve(open_v, r_ohm, taken, curve, drop_v),
        }
    }

    fn on_curve(
        &self,
        open_v: f64,
        r_ohm: f64,
        taken: Taken,
        curve: &IvCurve,
        drop_v: f64,
    ) -> (f64, bool) {
        // On which of the curve's lines: the current falls with the voltage that it raises.
        let (mut low, mut high) = (0, curve.lines());
        while low < high {
            let mid = (low + high) / 2;
            let (end_v, line) = curve.line(mid, drop_v);
            if self.solve(open_v, r_ohm, taken, 0.0, line).0 > end_v {
                low = mid + 1
            } else {
                high = mid
            }
        }
        // Beyond the last line there is no current.
        self.solve(open_v, r_ohm, taken, 0.0, curve.line(low, drop_v).1)
    }

    pub fn probe(&self, x: &State) -> Probe {
        let (open_v, r_ohm) = self.store.open(x);
        let taken = self.taken(open_v, r_ohm);
        let (terminal_v, able) = self.terminal(open_v, r_ohm, taken);
        let charge_w = match self.feed {
            Feed::Power(w) => w,
            Feed::Curve { curve, drop_v } => terminal_v * curve.current_a(terminal_v + drop_v),
            Feed::Hold(v) => v * (v - open_v) / r_ohm + self.out_w(taken, v) + taken.ripple_w,
        };
        Probe { open_v, terminal_v, able, charge_w }
    }

    /// All that leaves the terminal in a state.
    pub fn taken_w(&self, x: &State) -> f64 {
        let (open_v, r_ohm) = self.store.open(x);
        let taken = self.taken(open_v, r_ohm);
        self.out_w(taken, self.terminal(open_v, r_ohm, taken).0)
    }

    /// All that leaves the terminal.
    fn out_w(&self, taken: Taken, v: f64) -> f64 {
        taken.converter_w
            + self.store_w
            + self.own_w
            + v * (self.draw.current_a + self.own_a + self.own_s * v)
    }

    /// Rates of state and integrals, and the power that moves.
    #[inline]
    fn rates<const N: usize>(
        &self,
        branches: &[Rated<'_>; N],
        x: &[f64; N],
    ) -> ([f64; N], [f64; Q], f64) {
        let (mut r, mut g, mut u) = ([0.0; N], [0.0; N], [0.0; N]);
        let mut sum_g = 0.0;
        for (k, b) in branches.iter().enumerate() {
            (r[k], g[k]) = b.r_ohm_and_s(x[k]);
            u[k] = b.branch.open_v(x[k]);
            sum_g += g[k];
        }
        let r_ohm = 1.0 / sum_g;
        let open_v = (0..N).map(|k| g[k] * u[k]).sum::<f64>() * r_ohm;
        let taken = self.taken(open_v, r_ohm);
        let (v, able) = self.terminal(open_v, r_ohm, taken);
        let own_w = self.own_w + v * (self.own_a + self.own_s * v);
        let out_w = self.out_w(taken, v) + taken.ripple_w;
        let (charged_w, source_w, net_a) = match self.feed {
            Feed::Power(w) => (w, w, (w - out_w) / v),
            Feed::Curve { curve, drop_v } => {
                let i = curve.current_a(v + drop_v);
                (i * v, i * (v + drop_v), i - out_w / v)
            }
            Feed::Hold(_) => {
                let i = (v - open_v) * sum_g;
                let w = v * i + out_w;
                (w, w, i)
            }
        };
        let mut drawn_w = taken.converter_w + self.draw.current_a * v;
        let rail_v = self.draw.rail_v.unwrap_or(v - self.draw.rail_drop_v);
        let mut rail_w =
            self.draw.converter.map_or(0.0, |c| c.rail_w) + self.draw.current_a * rail_v.max(0.0);
        let net_a = if able || drawn_w <= 0.0 {
            net_a
        } else {
            // More is asked for than the store can give: at this terminal it gives so much, and the output has less.
            let gives_a = (v - open_v) * sum_g;
            let short_w = out_w - (charged_w - v * gives_a);
            rail_w *= 1.0 - short_w / drawn_w;
            drawn_w -= short_w;
            gives_a
        };
        let mut dx = [0.0; N];
        let (mut leak_w, mut esr_w, mut moved_w) =
            (0.0, taken.ripple_w, charged_w.abs() + drawn_w + own_w + self.store_w);
        for k in 0..N {
            let b = &branches[k];
            // Differences of voltages, not voltages: small currents keep their digits.
            let apart: f64 = (0..N).map(|j| g[j] * (u[j] - u[k])).sum();
            let i = g[k] * r_ohm * (net_a + apart);
            let leak_a = u[k] * b.leak_s + b.branch.self_discharge_per_s * x[k].max(0.0);
            dx[k] = (i - leak_a) / b.branch.dq_dx(x[k]);
            leak_w += u[k] * leak_a;
            esr_w += i * i * r[k];
            moved_w += (u[k] * i).abs();
        }
        (dx, [leak_w, esr_w, charged_w, source_w, drawn_w, rail_w, own_w], moved_w + leak_w)
    }

    /// Rates of the state.
    pub fn state_rates(&self, x: &State) -> State {
        self.all_rates(x).0
    }

    /// Rates of the state and of the integrals: leakage, series resistance, charged, from the source, drawn, at the
    /// rail, taken by the electronics.
    pub fn all_rates(&self, x: &State) -> (State, [f64; Q]) {
        fn of<const N: usize>(net: &Net<'_>, x: &State) -> (State, [f64; Q]) {
            let branches: [Rated<'_>; N] =
                std::array::from_fn(|k| Rated::of(&net.store.branches[k]));
            let mut all = [0.0; Store::MOST];
            let (dx, q, _) = net.rates(&branches, &std::array::from_fn(|k| x[k]));
            all[..N].copy_from_slice(&dx);
            (all, q)
        }
        match self.store.branches.len() {
            1 => of::<1>(self, x),
            2 => of::<2>(self, x),
            3 => of::<3>(self, x),
            4 => of::<4>(self, x),
            _ => of::<{ Store::MOST }>(self, x),
        }
    }
}

#[cfg(test)]
mod tests {
    mod figures;

    use super::*;
    use crate::store::{Branch, Curve, Element};
    use proptest::prelude::*;

    pub fn bare(store: &Store) -> Net<'_> {
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

    pub fn sun_cell() -> crate::IvCurve {
        crate::SingleDiode {
            photocurrent_a: 25e-3,
            saturation_a: 2e-10,
            series_ohm: 8.0,
            shunt_ohm: 200e3,
            n_ns_vth_v: 0.2,
        }
        .curve()
    }

    pub fn two_branches() -> Store {
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
        let gone = bare(&s).flow(&x, 200.0, &mut Pace::new(TOLERANCE), |_| f64::INFINITY);
        // C1 C2 / (C1 + C2) behind R1 + R2; the charge ends at (0.5 * 3 + 1) / 1.5 V.
        let tau_s: f64 = 500.1 * 0.5 / 1.5;
        let k = (-200.0 / tau_s).exp();
        let end = 2.5 / 1.5 + (3.0 - 2.5 / 1.5) * k;
        assert!((x[0] + gone.dx[0] - end).abs() < 1e-7, "{} {end}", x[0] + gone.dx[0]);
        let lost = 2.0 * 2.0 / 2.0 * (0.5 / 1.5) * (1.0 - k * k);
        assert!((gone.esr_j - lost).abs() < 1e-7, "{} {lost}", gone.esr_j);
    }

    #[test]
    fn a_plain_capacitor_does_as_the_other_solver_says() {
        // Two methods, two codes: the explicit one of `Storage` and this one.
        let s = Store::capacitor(0.47, 30.0, 1e6);
        for (v, p, dt) in [(2.0, -1e-5, 36_000.0), (3.0, -20e-3, 30.0), (1.0, 5e-3, 600.0)] {
            let (t, other) = s.plain().unwrap().flow(v, p, dt, |_| false);
            let ours = Net { feed: Feed::Power(p), ..bare(&s) }.flow(
                &s.at_rest(v),
                dt,
                &mut Pace::new(TOLERANCE),
                |_| f64::INFINITY,
            );
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
            let ends = |p: &Probe| p.terminal_v < 1.8 || !p.able || p.terminal_v > 4.0;
            let gone = net.flow(&x, dt, &mut Pace::new(TOLERANCE), |x| if ends(&net.probe(x)) { -1.0 } else { 1.0 });
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
            let ends = |p: &Probe| p.terminal_v < 1.8 || p.terminal_v > 4.0;
            let whole = net.flow(&x, dt, &mut Pace::new(TOLERANCE), |x| if ends(&net.probe(x)) { -1.0 } else { 1.0 });
            let dt = whole.time_s;
            let half = net.flow(&x, dt / 2.0, &mut Pace::new(TOLERANCE), |_| f64::INFINITY);
            let mid: State = std::array::from_fn(|k| x[k] + half.dx[k]);
            let rest = net.flow(&mid, dt / 2.0, &mut Pace::new(TOLERANCE), |_| f64::INFINITY);
            let end: State = std::array::from_fn(|k| mid[k] + rest.dx[k]);
            let other: State = std::array::from_fn(|k| x[k] + whole.dx[k]);
            let (a, b) = (s.open(&end).0, s.open(&other).0);
            prop_assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }

    #[test]
    fn a_cell_of_the_sun_charges_through_a_diode_until_their_voltages_meet() {
        let curve = sun_cell();
        let s = Store::capacitor(0.1, 0.1, 1e9);
        let net = Net { feed: Feed::Curve { curve: &curve, drop_v: 0.3 }, ..bare(&s) };
        let x = s.at_rest(1.0);
        // Far below the knee the cell is a source of current.
        let first = net.flow(&x, 4.0, &mut Pace::new(TOLERANCE), |_| f64::INFINITY);
        assert!((first.dx[0] / (25e-3 * 4.0 / 0.1) - 1.0).abs() < 2e-3, "{}", first.dx[0]);
        assert!((first.source_j - first.charged_j - 0.3 * 0.1).abs() < 1e-3 * 0.03);
        let long = net.flow(&x, 3e4, &mut Pace::new(TOLERANCE), |_| f64::INFINITY);
        let end = 1.0 + long.dx[0];
        assert!((end - (curve.v_oc_v() - 0.3)).abs() < 1e-3, "{end} {}", curve.v_oc_v());
        let rest = long.charged_j - long.leak_j - long.esr_j - 0.05 * (end * end - 1.0);
        assert!(rest.abs() < 1e-6 * long.charged_j, "{rest}");
    }
}
