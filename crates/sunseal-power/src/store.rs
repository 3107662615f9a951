// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store of any kind: branches in parallel, each an element that holds charge behind a resistance.
//!
//! One branch is a plain capacitor or a cell; several are a supercapacitor whose charge redistributes
//! (Zubieta and Bonert 2000), or a cell with a capacitor across it. The state of a branch is one
//! number: volts of a capacitor, coulombs of a cell.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;

/// Straight lines between points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Integrals of y and of x y from the first point to each.
    area: Vec<(f64, f64)>,
    #[serde(skip)]
    recent: Recent,
}

/// The line that was asked for last, by the place of its end: states of a store move slowly, so the next question is
/// nearly always about the same one. It changes no answer, so all are equal and told alike: a checkpoint knows its
/// supply by what is told of it.
#[derive(Default)]
struct Recent(AtomicUsize);

impl fmt::Debug for Recent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

impl Clone for Recent {
    fn clone(&self) -> Self {
        Self(AtomicUsize::new(self.0.load(Ordering::Relaxed)))
    }
}

impl PartialEq for Recent {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Curve {
    /// Points by growing x, at least one.
    ///
    /// # Errors
    /// A clause that says what is wrong with them.
    pub fn new(points: &[[f64; 2]]) -> Result<Self, String> {
        if points.is_empty() {
            return Err("has no points".into());
        }
        if let Some(p) = points.iter().find(|p| !p[0].is_finite() || !p[1].is_finite()) {
            return Err(format!("has the point {p:?}; both must be numbers"));
        }
        if let Some(w) = points.windows(2).find(|w| w[1][0] <= w[0][0]) {
            return Err(format!("goes from {} to {}; its points must grow", w[0][0], w[1][0]));
        }
        let mut area = vec![(0.0, 0.0)];
        for w in points.windows(2) {
            let (a, b) = line_area(w[0], w[1], w[1][0]);
            let last = area[area.len() - 1];
            area.push((last.0 + a, last.1 + b));
        }
        Ok(Self {
            x: points.iter().map(|p| p[0]).collect(),
            y: points.iter().map(|p| p[1]).collect(),
            area,
            recent: Recent::default(),
        })
    }

    fn scale(&mut self, by: f64) {
        self.y.iter_mut().for_each(|y| *y *= by);
        self.area.iter_mut().for_each(|(a, m)| (*a, *m) = (*a * by, *m * by));
    }

    #[inline]
    fn piece(&self, x: f64) -> ([f64; 2], [f64; 2], usize) {
        let last = self.x.len() - 1;
        let mut i = self.recent.0.load(Ordering::Relaxed).clamp(1, last);
        let holds = (i == 1 || self.x[i - 1] < x) && (i == last || x <= self.x[i]);
        if !holds {
            i = self.x.iter().filter(|&&p| p < x).count().clamp(1, last);
            self.recent.0.store(i, Ordering::Relaxed);
        }
        ([self.x[i - 1], self.y[i - 1]], [self.x[i], self.y[i]], i - 1)
    }

    /// The value; beyond the ends those hold.
    #[must_use]
    pub fn held(&self, x: f64) -> f64 {
        let last = self.x.len() - 1;
        if x <= self.x[0] {
            self.y[0]
        } else if x >= self.x[last] {
            self.y[last]
        } else {
            self.carried(x)
        }
    }

    /// The value; beyond the ends the first and last lines are carried on.
    #[must_use]
    pub fn carried(&self, x: f64) -> f64 {
        if self.x.len() == 1 {
            return self.y[0];
        }
        let (a, b, _) = self.piece(x);
        a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])
    }

    /// Slope of the carried value.
    fn slope(&self, x: f64) -> f64 {
        if self.x.len() == 1 {
            return 0.0;
        }
        let (a, b, _) = self.piece(x);
        (b[1] - a[1]) / (b[0] - a[0])
    }

    /// Integral of the carried value from the first point.
    fn carried_area(&self, x: f64) -> f64 {
        if self.x.len() == 1 {
            return self.y[0] * (x - self.x[0]);
        }
        let (a, b, i) = self.piece(x);
        self.area[i].0 + line_area(a, b, x).0
    }

    /// Integral of x times the held value from the first point.
    fn held_moment(&self, x: f64) -> f64 {
        let last = self.x.len() - 1;
        let outside = |from: f64, y: f64| y * (x * x - from * from) / 2.0;
        if x <= self.x[0] {
            outside(self.x[0], self.y[0])
        } else if x >= self.x[last] {
            self.area[last].1 + outside(self.x[last], self.y[last])
        } else {
            let (a, b, i) = self.piece(x);
            self.area[i].1 + line_area(a, b, x).1
        }
    }
}

/// Integrals of y and x y along the line through two points, from the first of them to `x`.
fn line_area(a: [f64; 2], b: [f64; 2], x: f64) -> (f64, f64) {
    let slope = (b[1] - a[1]) / (b[0] - a[0]);
    let d = x - a[0];
    let area = d * (a[1] + slope * d / 2.0);
    (area, a[0] * area + d * d * (a[1] / 2.0 + slope * d / 3.0))
}

/// Element that holds the charge of a branch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Element {
    /// Differential capacitance dq/dv = c0 + c1 v; c1 = 0 is a plain capacitor.
    Capacitor {
        /// Capacitance at 0 V.
        c0_f: f64,
        /// Growth of the capacitance per volt.
        c1_f_per_v: f64,
    },
    /// Differential capacitance over voltage, as a class-2 ceramic's falls with its bias.
    Derated {
        /// Capacitance in farads over volts.
        capacitance_f: Curve,
    },
    /// Galvanic cell, primary or rechargeable.
    Cell {
        /// Charge from full to empty.
        capacity_c: f64,
        /// Open-circuit voltage over the share of that charge that is left.
        ocv_v: Curve,
        /// Internal resistance over the same share.
        r_ohm: Curve,
    },
}

/// An element behind its resistance, with what it loses by itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Branch {
    /// Element that holds the charge.
    pub element: Element,
    /// Series resistance; a cell's own is added to it.
    pub r_ohm: f64,
    /// Leakage across the element; infinite for none.
    pub leak_ohm: f64,
    /// Share of the charge that a cell loses per second by itself.
    pub self_discharge_per_s: f64,
}

impl Branch {
    /// Capacitor of one capacitance at every voltage.
    #[must_use]
    pub fn capacitor(capacitance_f: f64, r_ohm: f64, leak_ohm: f64) -> Self {
        let element = Element::Capacitor { c0_f: capacitance_f, c1_f_per_v: 0.0 };
        Self { element, r_ohm, leak_ohm, self_discharge_per_s: 0.0 }
    }

    /// Open voltage in state `x`.
    #[must_use]
    #[inline]
    pub fn open_v(&self, x: f64) -> f64 {
        match &self.element {
            Element::Capacitor { .. } | Element::Derated { .. } => x,
            Element::Cell { capacity_c, ocv_v, .. } => ocv_v.carried(x / capacity_c),
        }
    }

    /// Charge per unit of state.
    #[inline]
    pub(crate) fn dq_dx(&self, x: f64) -> f64 {
        match &self.element {
            Element::Capacitor { c0_f, c1_f_per_v } => c0_f + c1_f_per_v * x.max(0.0),
            Element::Derated { capacitance_f } => capacitance_f.held(x),
            Element::Cell { .. } => 1.0,
        }
    }

    /// The bend of a derated capacitance that a change of the state meets first, as a share of that change; none near
    /// its ends.
    pub(crate) fn bend(&self, x: f64, dx: f64) -> Option<f64> {
        let Element::Derated { capacitance_f } = &self.element else { return None };
        let shares = capacitance_f.x.iter().map(|bend_v| (bend_v - x) / dx);
        shares.filter(|share| (0.02..0.98).contains(share)).reduce(f64::min)
    }

    /// Growth of the open voltage with the state.
    fn slope_v(&self, x: f64) -> f64 {
        match &self.element {
            Element::Capacitor { .. } | Element::Derated { .. } => 1.0,
            Element::Cell { capacity_c, ocv_v, .. } => ocv_v.slope(x / capacity_c) / capacity_c,
        }
    }

    /// Energy above the empty state.
    #[must_use]
    #[inline]
    pub fn energy_j(&self, x: f64) -> f64 {
        match &self.element {
            Element::Capacitor { c0_f, c1_f_per_v } => x * x * (c0_f / 2.0 + c1_f_per_v * x / 3.0),
            Element::Derated { capacitance_f } => {
                capacitance_f.held_moment(x) - capacitance_f.held_moment(0.0)
            }
            Element::Cell { capacity_c, ocv_v, .. } => {
                capacity_c * (ocv_v.carried_area(x / capacity_c) - ocv_v.carried_area(0.0))
            }
        }
    }

    #[inline]
    pub(crate) fn resistance_ohm(&self, x: f64) -> f64 {
        match &self.element {
            Element::Cell { capacity_c, r_ohm, .. } => self.r_ohm + r_ohm.held(x / capacity_c),
            _ => self.r_ohm,
        }
    }

    /// The state whose open voltage is `v_v`; the nearest if there is none.
    fn state_at(&self, v_v: f64) -> f64 {
        let Element::Cell { capacity_c, .. } = &self.element else { return v_v };
        let (mut low, mut high) = (0.0, *capacity_c);
        for _ in 0..80 {
            let mid = (low + high) / 2.0;
            if self.open_v(mid) < v_v { low = mid } else { high = mid }
        }
        (low + high) / 2.0
    }

    /// States between which its laws are smooth, from empty to `full`.
    pub(crate) fn knots(&self, full: f64) -> Vec<f64> {
        let mut found = match &self.element {
            Element::Cell { capacity_c, ocv_v, r_ohm } => {
                ocv_v.x.iter().chain(&r_ohm.x).map(|share| share * capacity_c).collect()
            }
            Element::Derated { capacitance_f } => capacitance_f.x.clone(),
            Element::Capacitor { .. } => Vec::new(),
        };
        found.extend([0.0, full]);
        found.retain(|x| (0.0..=full).contains(x));
        found.sort_by(f64::total_cmp);
        found.dedup_by(|b, a| *b - *a <= 1e-12 * full);
        found
    }

    /// Size of a step of the state that would be unreasonable.
    #[inline]
    pub(crate) fn scale(&self) -> f64 {
        match &self.element {
            Element::Cell { capacity_c, .. } => *capacity_c,
            _ => 1.0,
        }
    }
}

/// Store of charge: branches in parallel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Store {
    /// At least one, at most [`Store::MOST`].
    pub branches: Vec<Branch>,
}

/// States of a store's branches; those beyond them are 0.
pub type State = [f64; Store::MOST];

impl Store {
    /// As many branches as there may be.
    pub const MOST: usize = 5;

    /// Capacitor of one capacitance at every voltage.
    #[must_use]
    pub fn capacitor(capacitance_f: f64, esr_ohm: f64, leak_ohm: f64) -> Self {
        Self { branches: vec![Branch::capacitor(capacitance_f, esr_ohm, leak_ohm)] }
    }

    /// Capacitance, resistance and leakage if it is nothing but that.
    #[must_use]
    pub fn plain(&self) -> Option<crate::Storage> {
        match self.branches.as_slice() {
            [
                Branch {
                    element: Element::Capacitor { c0_f, c1_f_per_v: 0.0 },
                    r_ohm,
                    leak_ohm,
                    self_discharge_per_s: 0.0,
                },
            ] => {
                Some(crate::Storage { capacitance_f: *c0_f, esr_ohm: *r_ohm, leak_ohm: *leak_ohm })
            }
            _ => None,
        }
    }

    /// Takes shares of its charge and of what it loses by itself.
    pub(crate) fn scale(&mut self, charge: f64, leakage: f64) {
        for b in &mut self.branches {
            match &mut b.element {
                Element::Cell { capacity_c, .. } => *capacity_c *= charge,
                Element::Capacitor { c0_f, c1_f_per_v } => {
                    (*c0_f, *c1_f_per_v) = (*c0_f * charge, *c1_f_per_v * charge);
                }
                Element::Derated { capacitance_f } => capacitance_f.scale(charge),
            }
            b.leak_ohm /= leakage;
            b.self_discharge_per_s *= leakage;
        }
    }

    /// The state at rest at an open voltage.
    #[must_use]
    pub fn at_rest(&self, v_v: f64) -> State {
        let mut x = [0.0; Self::MOST];
        for (x, b) in x.iter_mut().zip(&self.branches) {
            *x = b.state_at(v_v);
        }
        x
    }

    /// Energy above the empty store's.
    #[must_use]
    pub fn energy_j(&self, x: &State) -> f64 {
        self.branches.iter().zip(x).map(|(b, x)| b.energy_j(*x)).sum()
    }

    /// Voltage at the terminal without a current, and the resistance behind it.
    #[must_use]
    #[inline]
    pub fn open(&self, x: &State) -> (f64, f64) {
        // From one branch's voltage on: branches at the same one have it to the last bit, and a store that begins at the
        // voltage at which the output comes on is not a rounding below it.
        let first_v = self.branches[0].open_v(x[0]);
        let (mut g, mut apart) = (0.0, 0.0);
        for (b, &x) in self.branches.iter().zip(x) {
            let s = 1.0 / b.resistance_ohm(x);
            g += s;
            apart += s * (b.open_v(x) - first_v);
        }
        (first_v + apart / g, 1.0 / g)
    }

    /// Droop of the open voltage by a charge taken in a moment, before the branches even out.
    pub(crate) fn droop_v(&self, x: &State, charge_c: f64) -> f64 {
        let (mut g, mut falls) = (0.0, 0.0);
        for (b, &x) in self.branches.iter().zip(x) {
            let s = 1.0 / b.resistance_ohm(x);
            g += s;
            falls += s * s * b.slope_v(x) / b.dq_dx(x);
        }
        charge_c * falls / (g * g)
    }

    /// Charge that leaves it between two open voltages, per volt: what a program that thinks of a
    /// capacitor should take for its capacitance.
    #[must_use]
    pub fn mean_capacitance_f(&self, low_v: f64, high_v: f64) -> f64 {
        let (low, high) = (self.at_rest(low_v), self.at_rest(high_v));
        2.0 * (self.energy_j(&high) - self.energy_j(&low)) / (high_v * high_v - low_v * low_v)
    }

    pub(crate) fn check(&self) -> Result<(), (&'static str, f64, String)> {
        let n = self.branches.len();
        if n == 0 || n > Self::MOST {
            let must = format!("a store has 1 to {} branches", Self::MOST);
            return Err(("branches", n as f64, must));
        }
        for b in &self.branches {
            let positive = |key, value: f64| match value.is_finite() && value > 0.0 {
                true => Ok(()),
                false => Err((key, value, "it must be a number above zero".to_owned())),
            };
            match &b.element {
                Element::Capacitor { c0_f, c1_f_per_v } => {
                    positive("capacitance_f", *c0_f)?;
                    if !c1_f_per_v.is_finite() || *c1_f_per_v < 0.0 {
                        let must = "it must be a number, zero or more".to_owned();
                        return Err(("capacitance_f_per_v", *c1_f_per_v, must));
                    }
                    // The steps of the integration follow the leakage; a store that is empty at once is none.
                    if b.leak_ohm * c0_f < 1e-3 {
                        let must = "with that the store leaks empty within milliseconds; take a larger resistance, as a \
                                    leaking capacitor's is megohms";
                        return Err(("leak_ohm", b.leak_ohm, must.to_owned()));
                    }
                }
                Element::Derated { capacitance_f } => {
                    for &c in &capacitance_f.y {
                        positive("capacitance_f", c)?;
                    }
                }
                Element::Cell { capacity_c, ocv_v, r_ohm } => {
                    positive("capacity_c", *capacity_c)?;
                    for &r in &r_ohm.y {
                        positive("r_ohm", r)?;
                    }
                    if let Some(w) = ocv_v.y.windows(2).find(|w| w[1] < w[0]) {
                        let must = format!(
                            "the open-circuit voltage falls to it from {} V as the cell fills; it must never fall",
                            w[0]
                        );
                        return Err(("ocv_v", w[1], must));
                    }
                }
            }
            if !matches!(b.element, Element::Cell { .. }) || b.r_ohm != 0.0 {
                positive("esr_ohm", b.r_ohm)?;
            }
            if b.leak_ohm.is_nan() || b.leak_ohm <= 0.0 {
                let must = "it must be a number above zero".to_owned();
                return Err(("leak_ohm", b.leak_ohm, must));
            }
            if !b.self_discharge_per_s.is_finite() || b.self_discharge_per_s < 0.0 {
                let must = "it must be a number, zero or more".to_owned();
                return Err(("self_discharge_per_s", b.self_discharge_per_s, must));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds() -> impl Strategy<Value = Branch> {
        let element = prop_oneof![
            (1e-6f64..10.0, 0.0f64..2.0)
                .prop_map(|(c0_f, c1_f_per_v)| Element::Capacitor { c0_f, c1_f_per_v }),
            (1e-6f64..1e-3, 0.1f64..1.0).prop_map(|(c, rest)| Element::Derated {
                capacitance_f: Curve::new(&[
                    [0.0, c],
                    [2.0, c * (1.0 + rest) / 2.0],
                    [6.0, c * rest]
                ])
                .unwrap()
            }),
            (1.0f64..9000.0, 2.0f64..3.0, 0.01f64..1.0).prop_map(|(capacity_c, v, dv)| {
                Element::Cell {
                    capacity_c,
                    ocv_v: Curve::new(&[[0.0, v - dv], [0.3, v], [1.0, v + dv]]).unwrap(),
                    r_ohm: Curve::new(&[[0.0, 2.0], [1.0, 1.0]]).unwrap(),
                }
            }),
        ];
        (element, 0.01f64..10.0, 1e5f64..1e8).prop_map(|(element, r_ohm, leak_ohm)| Branch {
            element,
            r_ohm,
            leak_ohm,
            self_discharge_per_s: 0.0,
        })
    }

    proptest! {
        #[test]
        fn a_curve_answers_alike_whatever_it_was_asked_before(
            mut points in prop::collection::vec((0.1f64..1.0, -5.0f64..5.0), 1..9), asked in prop::collection::vec(-1.0f64..9.0, 20),
        ) {
            let mut x = 0.0;
            points.iter_mut().for_each(|p| { x += p.0; p.0 = x; });
            let points: Vec<[f64; 2]> = points.iter().map(|p| [p.0, p.1]).collect();
            let curve = Curve::new(&points).unwrap();
            let corners = points.iter().map(|p| p[0]);
            for x in asked.into_iter().chain(corners) {
                let fresh = Curve::new(&points).unwrap();
                prop_assert_eq!(curve.held(x), fresh.held(x));
                prop_assert_eq!(curve.carried(x), fresh.carried(x));
                prop_assert_eq!(curve.slope(x), fresh.slope(x));
                prop_assert_eq!(curve.carried_area(x), fresh.carried_area(x));
                prop_assert_eq!(curve.held_moment(x), fresh.held_moment(x));
            }
        }

        #[test]
        fn energy_is_the_integral_of_voltage_over_charge(b in kinds(), from in 0.05f64..0.9, span in 0.01f64..0.5) {
            let unit = if b.scale() > 1.0 { b.scale() } else { 5.0 };
            let (x0, x1) = (from * unit, (from + span) * unit);
            let n = 20_000;
            let h = (x1 - x0) / f64::from(n);
            let sum: f64 = (0..n)
                .map(|k| x0 + h * (f64::from(k) + 0.5))
                .map(|x| b.open_v(x) * b.dq_dx(x) * h)
                .sum();
            let exact = b.energy_j(x1) - b.energy_j(x0);
            prop_assert!((sum / exact - 1.0).abs() < 1e-6, "{sum} {exact}");
        }

        #[test]
        fn a_store_at_rest_has_no_current_inside(a in kinds(), b in kinds(), v in 2.0f64..2.5) {
            let s = Store { branches: vec![a, b] };
            let x = s.at_rest(v);
            let u: Vec<f64> = s.branches.iter().zip(&x).map(|(b, x)| b.open_v(*x)).collect();
            let reach = |k: usize| (s.branches[k].open_v(0.0)..=s.branches[k].open_v(s.branches[k].scale())).contains(&v);
            let all = (0..2).all(|k| !matches!(s.branches[k].element, Element::Cell { .. }) || reach(k));
            prop_assume!(all);
            prop_assert!((u[0] - v).abs() < 1e-9 && (u[1] - v).abs() < 1e-9 && (s.open(&x).0 - v).abs() < 1e-9);
        }
    }

    #[test]
    fn a_program_is_told_the_capacitance_that_holds_the_same_energy() {
        let plain = Store::capacitor(0.47, 1.0, 1e6);
        assert!((plain.mean_capacitance_f(1.9, 5.0) - 0.47).abs() < 1e-12);
        assert!(plain.plain().is_some());
    }

    #[test]
    fn a_curve_that_is_none_says_why() {
        assert!(Curve::new(&[]).unwrap_err().contains("no points"));
        assert!(Curve::new(&[[0.0, 1.0], [0.0, 2.0]]).unwrap_err().contains("from 0 to 0"));
        let c = Curve::new(&[[1.0, 2.0], [2.0, 4.0]]).unwrap();
        assert_eq!(
            (c.held(0.0), c.carried(0.0), c.held(3.0), c.carried(3.0)),
            (2.0, 0.0, 4.0, 6.0)
        );
    }
}
