// SPDX-License-Identifier: MIT OR Apache-2.0
//! Store, source and load at one terminal, solved over the store's state.
//!
//! Branches with microseconds stand beside branches with hours, so the equations are stiff: they are
//! integrated by an L-stable Rosenbrock method of fourth order with its own error estimate (RODAS,
//! Hairer and Wanner, Solving Ordinary Differential Equations II, 1996, section VI.4). Losses and
//! deliveries are integrated beside the state, so that the balance of energy is a real check.
// Small matrices read best by their indices.
#![allow(clippy::needless_range_loop)]

use crate::converter::Efficiency;
use crate::store::{Branch, Element, State, Store};
use crate::{IvCurve, Turn};

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

/// What the rail takes from the terminal. Of loads that take turns it is their mean, and the series
/// resistance loses in proportion to the variance too.
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
    /// What it takes, where that is the same at every open voltage.
    taken_w: Option<(f64, f64)>,
}

impl<'a> Converter<'a> {
    pub fn new(efficiency: &'a Efficiency, rail_v: f64, turns: &'a [Turn]) -> Self {
        let rail_w = turns.iter().map(|t| t.share * t.load.vcc_w).sum();
        let mut made = Self { efficiency, rail_v, turns, rail_w, taken_w: None };
        made.taken_w = efficiency.is_constant().map(|_| made.taken_at(0.0));
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
            if w == 0.0 { 0.0 } else { w / self.efficiency.at(open_v, w / self.rail_v) }
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

/// What the output takes at an open voltage.
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
    /// Of that, the time after which nothing was crossed yet.
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
    /// Of that, delivered at the rail.
    pub rail_j: f64,
    /// Taken by the electronics themselves.
    pub own_j: f64,
}

/// Local error, of volts and of the energy moved.
pub(crate) const TOLERANCE: f64 = 1e-8;
/// What a step may leave unaccounted for, at a looser one the stretch, of the energy that comes, goes and is lost.
const UNACCOUNTED: f64 = 3e-7;

/// How a solver goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Local error, of volts and of the energy moved.
    pub tolerance: f64,
    /// How closely a crossing is found, as a share of the step in which it lies.
    crossing: f64,
    /// How long the first step was that went well after the last change: the next is much like it.
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
        fn of<const N: usize>(net: &Net<'_>, x: &State) -> State {
            let branches: [Rated<'_>; N] =
                std::array::from_fn(|k| Rated::of(&net.store.branches[k]));
            let mut all = [0.0; Store::MOST];
            all[..N].copy_from_slice(&net.rates(&branches, &std::array::from_fn(|k| x[k])).0);
            all
        }
        match self.store.branches.len() {
            1 => of::<1>(self, x),
            2 => of::<2>(self, x),
            3 => of::<3>(self, x),
            4 => of::<4>(self, x),
            _ => of::<{ Store::MOST }>(self, x),
        }
    }

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
        let branches: [Rated<'_>; N] = std::array::from_fn(|k| Rated::of(&branches[k]));
        let mut x0 = [0.0; N];
        x0.copy_from_slice(&begin[..N]);
        let energy_j = |x: &[f64; N]| -> f64 {
            branches.iter().zip(x).map(|(b, x)| b.branch.energy_j(*x)).sum()
        };
        let held_j = energy_j(&x0);
        let floor_j = f64::EPSILON * held_j;
        let (loose, tolerance) = (pace.is_loose(), pace.tolerance);
        let (mut dx, mut q) = ([0.0; N], [0.0f64; Q]);
        let mut moved_before_j = 0.0;
        let at = |dx: &[f64; N], more: &[f64; N]| -> [f64; N] {
            std::array::from_fn(|k| x0[k] + (dx[k] + more[k]))
        };
        let margin = |x: [f64; N]| {
            let mut all = [0.0; Store::MOST];
            all[..N].copy_from_slice(&x);
            margin(&all)
        };
        // What came, went and was lost up to a time, and what that leaves unaccounted for.
        let books = |q: &[f64; Q], t: f64, x: &[f64; N]| {
            let [leak, esr, charged, _, drawn, _, own] = q;
            let out_j = drawn + own + self.store_w * t + leak + esr;
            (charged.abs() + out_j, charged - out_j - (energy_j(x) - held_j))
        };
        let (mut t, mut h) = (0.0, pace.first_s.min(dt_s));
        let (mut before_s, mut bad_before) = (0.0, 1.0);
        let mut clear_s = None;
        while t < dt_s {
            let x: [f64; N] = std::array::from_fn(|k| x0[k] + dx[k]);
            let here = Jacobian::of(self, &branches, &x);
            let mut h_now = h.min(dt_s - t);
            let (went_before_j, rest_before_j) = books(&q, t, &x);
            // Rejected steps whose error did not fall with their length: it is rounding, not truncation.
            let (mut before, mut vain) = (f64::INFINITY, 0);
            let step = loop {
                let step = here.step(self, &branches, &x, h_now);
                let mut bad: f64 = 0.0;
                // Relative to what has moved; at a loose pace since the beginning of the stretch.
                let moved_j = moved_before_j + here.moved_w * h_now + f64::MIN_POSITIVE;
                // The largest error of an energy.
                let mut error_j = step.error_q.iter().fold(0.0, |a: f64, e| a.max(e.abs()));
                for (k, b) in branches.iter().enumerate() {
                    let (u, scale) = (b.branch.open_v(x[k]), b.branch.scale());
                    let volts = step.error_x[k].abs() * if scale > 1.0 { u / scale } else { 1.0 };
                    bad = bad.max(volts / (tolerance * u.abs().max(0.1)));
                    if !loose {
                        error_j = error_j.max((step.error_x[k] * b.branch.dq_dx(x[k]) * u).abs());
                    }
                }
                bad = bad.max(error_j / (10.0 * tolerance * moved_j + floor_j));
                // A bend in a curve, as of a derated capacitance, deceives the estimates but not the books.
                let after = std::array::from_fn(|k| q[k] + step.dq[k]);
                let (went_j, rest_j) = books(&after, t + h_now, &at(&dx, &step.dx));
                // This step's own share or, at a loose pace, what is left of the allowance: the sum keeps to it.
                let mut allowed_j = UNACCOUNTED * (went_j - went_before_j);
                if loose {
                    allowed_j = allowed_j.max(UNACCOUNTED * went_j - rest_before_j.abs());
                }
                bad = bad.max((rest_j - rest_before_j).abs() / (allowed_j + 8.0 * floor_j));
                if step.outran {
                    bad = f64::NAN;
                }
                vain += u32::from(bad < 1e2 && bad > before / 2.0);
                before = bad;
                let last = vain > 3 || h_now < 1e-13;
                if (bad.is_nan() || bad > 1.0) && !last {
                    let shrink =
                        if bad.is_nan() { 0.1 } else { (0.8 / bad.sqrt().sqrt()).clamp(0.05, 0.9) };
                    h_now *= shrink;
                    continue;
                }
                let (bad, whole) = (bad.max(1e-10), before_s > 0.0);
                // As the last two errors foretell: where a transient dies away, steps grow.
                let trend =
                    if whole { h_now / before_s * (bad_before / bad).sqrt().sqrt() } else { 1.0 };
                h = h_now
                    * (0.9 / bad.sqrt().sqrt() * trend).clamp(1.0, if loose { 50.0 } else { 6.0 });
                (before_s, bad_before) = (h_now, bad);
                if loose && t == 0.0 && (h_now < dt_s || h > pace.first_s) {
                    pace.first_s = 0.8 * h;
                }
                break step;
            };
            let mut end = step;
            let mut done_s = h_now;
            let mut crossed = None;
            let margin_end = margin(at(&dx, &end.dx));
            if margin_end.is_nan() || margin_end <= 0.0 {
                let begun = (0.0, margin(at(&dx, &[0.0; N])));
                if t == 0.0 && begun.1 <= 0.0 {
                    // It has been crossed already.
                    clear_s = Some(0.0);
                    break;
                }
                let (low_s, high_s) =
                    crossing(begun, (h_now, margin_end), pace.crossing * h_now, |h_s| {
                        margin(at(&dx, &here.step(self, &branches, &x, h_s).dx))
                    });
                end = here.step(self, &branches, &x, high_s);
                (done_s, crossed) = (high_s, Some(t + low_s));
            }
            for k in 0..N {
                dx[k] += end.dx[k];
            }
            for k in 0..Q {
                q[k] += end.dq[k];
            }
            t += done_s;
            if loose {
                moved_before_j += here.moved_w * done_s;
            }
            if crossed.is_some() {
                clear_s = crossed;
                break;
            }
        }
        let mut all = [0.0; Store::MOST];
        all[..N].copy_from_slice(&dx);
        Gone {
            time_s: t.min(dt_s),
            clear_s: clear_s.unwrap_or(t).min(dt_s),
            dx: all,
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

/// Where a margin falls to zero between two moments (time, margin), to within `near_s`: the last moment before it and
/// the first behind it. By the straight line between them, of which an end that stays counts for half each time
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

/// Slopes of the rates at a point: all that the steps from it share.
struct Jacobian<const N: usize> {
    /// d(rate of state k) / d(state j).
    x: [[f64; N]; N],
    /// d(rate of integral k) / d(state j).
    q: [[f64; N]; Q],
    moved_w: f64,
    /// The rates there.
    rates: ([f64; N], [f64; Q]),
}

/// A step and its error estimate.
#[derive(Clone, Copy)]
struct Step<const N: usize> {
    dx: [f64; N],
    dq: [f64; Q],
    error_x: [f64; N],
    error_q: [f64; Q],
    /// Whether it is longer than what grows: an implicit method then lands on the balance from which
    /// the store in truth departs, and its error estimate says nothing.
    outran: bool,
}

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
    fn of(net: &Net<'_>, branches: &[Rated<'_>; N], x: &[f64; N]) -> Self {
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
        Self { x: jx, q: jq, moved_w, rates: (f0, q0) }
    }

    fn step(&self, net: &Net<'_>, branches: &[Rated<'_>; N], x: &[f64; N], h_s: f64) -> Step<N> {
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
        }
    }
}

/// A small matrix as the product of two triangles, rows exchanged.
struct Factors<const N: usize> {
    lu: [[f64; N]; N],
    /// One over the diagonal.
    per_pivot: [f64; N],
    order: [usize; N],
    /// Whether its determinant is negative.
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
                let step = here.step(&net, branches, &y, 40.0 / f64::from(pieces));
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
