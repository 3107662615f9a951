// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stretch of time against closed forms: how close it ends, in how many steps, and where it finds a crossing.
//! Steps are counted to the last one: whoever means to change how long they are writes the new figures here.

use std::cell::Cell;

use super::super::tests::{bare, sun_cell, two_branches};
use super::*;
use crate::circuit::{Draw, Feed};
use crate::store::{Curve, Element};

const LOOSE: f64 = 3e-5;

/// Lets time go by and counts its steps: each looks at the margin once.
fn flown(net: &Net<'_>, x: &State, dt_s: f64, pace: &mut Pace) -> (Gone, u32) {
    let steps = Cell::new(0);
    let gone = net.flow(x, dt_s, pace, |_| {
        steps.set(steps.get() + 1);
        f64::INFINITY
    });
    (gone, steps.get())
}

/// A capacitor that a conductance and its leakage empty: 1 mF behind 10 ohm, 100 kilohm and 0.1 mS; its rate of decay.
fn decay() -> (Store, f64, f64) {
    let (own_s, leak_ohm): (f64, f64) = (1e-4, 1e5);
    let per_s = (1.0 / leak_ohm + own_s / (1.0 + 10.0 * own_s)) / 1e-3;
    (Store::capacitor(1e-3, 10.0, leak_ohm), own_s, per_s)
}

#[test]
fn a_decay_is_the_exponential_with_its_losses() {
    let (s, own_s, per_s) = decay();
    let net = Net { own_s, ..bare(&s) };
    let dt_s = 3.0 / per_s;
    let squares = 9.0 * (1.0 - (-2.0 * per_s * dt_s).exp()) / (2.0 * per_s);
    let amperes_per_v = own_s / (1.0 + 10.0 * own_s);
    for (tolerance, error, count) in [(TOLERANCE, 2e-9, 43), (LOOSE, 2e-6, 17)] {
        let (gone, steps) = flown(&net, &s.at_rest(3.0), dt_s, &mut Pace::new(tolerance));
        let off_v = 3.0 + gone.dx[0] - 3.0 * (-per_s * dt_s).exp();
        assert_eq!((gone.time_s, gone.clear_s), (dt_s, dt_s));
        for (booked_j, j) in [
            (gone.leak_j, squares / 1e5),
            (gone.esr_j, 10.0 * squares * amperes_per_v * amperes_per_v),
            (gone.own_j, squares * amperes_per_v / (1.0 + 10.0 * own_s)),
        ] {
            assert!((booked_j / j - 1.0).abs() < error, "{booked_j} {j}");
        }
        assert!(off_v.abs() < error, "{off_v:e} V off");
        assert_eq!(steps, count);
    }
}

#[test]
fn a_cell_decays_as_its_straight_line_has_it() {
    // 2 V to 4 V over 36 C: a conductance takes charge in proportion to the voltage.
    let element = Element::Cell {
        capacity_c: 36.0,
        ocv_v: Curve::new(&[[0.0, 2.0], [1.0, 4.0]]).unwrap(),
        r_ohm: Curve::new(&[[0.0, 1.0]]).unwrap(),
    };
    let cell = Branch { element, r_ohm: 0.0, leak_ohm: f64::INFINITY, self_discharge_per_s: 0.0 };
    let s = Store { branches: vec![cell] };
    let net = Net { own_s: 1e-2, ..bare(&s) };
    let dt_s = 1000.0;
    let end_v = 4.0 * (-1e-2f64 / 1.01 / 18.0 * dt_s).exp();
    for (tolerance, error, count) in [(TOLERANCE, 3e-9, 9), (LOOSE, 3e-7, 4)] {
        let (gone, steps) = flown(&net, &s.at_rest(4.0), dt_s, &mut Pace::new(tolerance));
        let off_v = 2.0 + (36.0 + gone.dx[0]) / 18.0 - end_v;
        assert!(off_v.abs() < error, "{off_v:e} V off");
        assert_eq!(steps, count);
    }
}

#[test]
fn a_bend_of_the_capacitance_is_not_stepped_over() {
    // 1 mF up to 2 V and less from there: 1 mA takes 1.2 mC down to 2 V and 1 mC more to 1 V.
    let element = Element::Derated {
        capacitance_f: Curve::new(&[[0.0, 1e-3], [2.0, 1e-3], [4.0, 2e-4]]).unwrap(),
    };
    let ceramic = Branch { element, r_ohm: 0.1, leak_ohm: 1e15, self_discharge_per_s: 0.0 };
    let s = Store { branches: vec![ceramic] };
    let net = Net { draw: Draw { current_a: 1e-3, ..Draw::default() }, ..bare(&s) };
    for (tolerance, error, count) in [(TOLERANCE, 2e-9, 31), (LOOSE, 2e-6, 19)] {
        let (gone, steps) = flown(&net, &s.at_rest(4.0), 2.2, &mut Pace::new(tolerance));
        let off_v = 4.0 + gone.dx[0] - 1.0;
        assert!(off_v.abs() < error, "{off_v:e} V off");
        assert_eq!(steps, count);
    }
}

#[test]
fn steps_grow_where_a_transient_dies_away() {
    // Two branches even out within minutes; then hours of almost nothing.
    let s = two_branches();
    let mut x = s.at_rest(1.0);
    x[0] = 3.0;
    let net = Net { draw: Draw { current_a: 1e-6, ..Draw::default() }, ..bare(&s) };
    for (tolerance, count) in [(TOLERANCE, 170), (LOOSE, 41)] {
        let (_, steps) = flown(&net, &x, 20_000.0, &mut Pace::new(tolerance));
        assert_eq!(steps, count);
    }
}

#[test]
fn a_panels_curve_is_followed_in_so_many_steps() {
    let curve = sun_cell();
    let s = Store::capacitor(0.1, 0.1, 1e9);
    let net = Net { feed: Feed::Curve { curve: &curve, drop_v: 0.3 }, ..bare(&s) };
    for (tolerance, count) in [(TOLERANCE, 246), (LOOSE, 7)] {
        let (_, steps) = flown(&net, &s.at_rest(2.8), 2.0, &mut Pace::new(tolerance));
        assert_eq!(steps, count);
    }
}

/// A stretch of 1 mF at 2 V that has begun, and what a step of 1 s from there is said to do.
fn begun<'a>(net: &'a Net<'a>, pace: Pace) -> (Stretch<'a, 1>, Step<1>) {
    let stretch = Stretch::<1>::new(net, &net.store.branches, &net.store.at_rest(2.0), pace);
    let step = Step {
        dx: [0.0],
        dq: [0.0; Q],
        error_x: [0.0],
        error_q: [0.0; Q],
        outran: false,
        per_order: 0.25,
    };
    (stretch, step)
}

#[test]
fn a_step_is_as_bad_as_its_worst_error() {
    let s = Store::capacitor(1e-3, 1.0, 1e15);
    let net = bare(&s);
    let (tight, loose) = (Pace::new(1e-8), Pace::new(1e-4));
    let bad = |pace: Pace, moved_w: f64, done: &dyn Fn(&mut Stretch<'_, 1>, &mut Step<1>)| {
        let (mut stretch, mut step) = begun(&net, pace);
        done(&mut stretch, &mut step);
        let x = [2.0];
        let mut here = Jacobian::of(&net, &stretch.branches, &x);
        here.moved_w = moved_w;
        let books = stretch.books(&stretch.q, stretch.t, &x);
        stretch.badness(&here, &x, &step, 1.0, books)
    };
    let near = |ours: f64, by_hand: f64| {
        assert!((ours / by_hand - 1.0).abs() < 1e-6, "{ours}, by hand {by_hand}");
    };
    assert!(bad(tight, 1e-3, &|_, step| step.outran = true).is_nan());
    assert_eq!(bad(tight, 1e-3, &|_, _| ()), 0.0);
    // 1 nV of 2 V, of which 1e-8 are allowed; 2 pJ of the 1 mJ that moved, of which 1e-7 are.
    let one_nv = |_: &mut Stretch<'_, 1>, step: &mut Step<1>| step.error_x = [-1e-9];
    near(bad(tight, 1.0, &one_nv), 1e-9 / (1e-8 * 2.0));
    near(bad(tight, 1e-6, &one_nv), 2e-12 / (1e-13 + f64::EPSILON * 2e-3));
    // A loose pace asks for the volts alone.
    near(bad(loose, 1e-12, &one_nv), 1e-9 / (1e-4 * 2.0));
    // An integral's error, of what moved in this step and, at a loose pace, since the beginning.
    let one_uj = |stretch: &mut Stretch<'_, 1>, step: &mut Step<1>| {
        step.error_q[1] = -1e-6;
        stretch.moved_j = 3e-3;
    };
    near(bad(loose, 1e-3, &one_uj), 1e-6 / (10.0 * 1e-4 * 4e-3));
    // Books: 1 nJ went that nothing brought, of 1 mJ that came and went; 3e-7 of that are allowed.
    let open = |came_j: f64| {
        move |_: &mut Stretch<'_, 1>, step: &mut Step<1>| {
            step.dq[2] = came_j;
            step.dq[4] = came_j + 1e-9;
        }
    };
    near(bad(tight, 1.0, &open(5e-4)), 1e-9 / (3e-7 * (1e-3 + 1e-9) + 8.0 * f64::EPSILON * 2e-3));
    // The stretch before it brought and took a millijoule as well, and left 0.2 nJ open.
    let before = |stretch: &mut Stretch<'_, 1>, step: &mut Step<1>| {
        (stretch.q[2], stretch.q[4]) = (5e-4, 5e-4 + 2e-10);
        open(5e-4)(stretch, step);
    };
    near(bad(tight, 1.0, &before), 1e-9 / (3e-7 * (1e-3 + 1e-9)));
    near(bad(loose, 1.0, &before), 1e-9 / (3e-7 * (2e-3 + 1.2e-9) - 2e-10));
}

#[test]
fn a_loose_stretch_remembers_what_has_moved() {
    let s = Store::capacitor(1e-3, 1.0, 1e15);
    let net = bare(&s);
    for (pace, moved_j) in [(Pace::new(1e-4), 0.25 + 0.5), (Pace::new(1e-8), 0.25)] {
        let (mut stretch, mut step) = begun(&net, pace);
        let mut here = Jacobian::of(&net, &stretch.branches, &[2.0]);
        here.moved_w = 0.125;
        stretch.moved_j = 0.25;
        (step.dx[0], step.dq[3]) = (0.5, 0.75);
        stretch.goes_on(&here, &step, 4.0);
        assert_eq!((stretch.t, stretch.dx[0], stretch.q[3]), (4.0, 0.5, 0.75));
        assert_eq!(stretch.moved_j, moved_j);
    }
}

#[test]
fn the_next_step_is_what_the_last_two_foretell() {
    let s = Store::capacitor(1e-3, 10.0, 1e5);
    let net = Net { own_s: 1e-4, ..bare(&s) };
    let x = [2.0];
    for (pace, most) in [(Pace::new(1e-8), 6.0), (Pace::new(1e-4), 50.0)] {
        // Long enough that its error counts, short enough that it stands.
        let grown = |h_s: f64, last: Option<(f64, f64)>| {
            let (mut stretch, _) = begun(&net, pace);
            stretch.last = last.unwrap_or(stretch.last);
            let here = Jacobian::of(&net, &stretch.branches, &x);
            let (mut done_s, mut next_s) = (h_s, 0.0);
            let step = stretch.step(&here, &x, &mut done_s, &mut next_s);
            let books = (0.0, 0.0);
            let (fresh, _) = begun(&net, pace);
            let bad = fresh.badness(&here, &x, &step, done_s, books).max(1e-10);
            assert!(bad <= 1.0 && stretch.last == (done_s, bad), "{bad}");
            (done_s, next_s / done_s, bad, step.per_order)
        };
        let (_, first, bad, p) = grown(0.01, None);
        assert_eq!(first, (0.9 / bad.powf(p)).clamp(1.0, most));
        // The step before was half as long and sixteen times as good: the trend is downwards.
        let (h_s, again, bad, p) = grown(0.2, Some((0.1, 1e-3)));
        let trend = h_s / 0.1 * (1e-3 / bad).powf(p);
        assert!((again / (0.9 / bad.powf(p) * trend).clamp(1.0, most) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn only_a_loose_pace_remembers_its_first_step() {
    let s = two_branches();
    let mut x = s.at_rest(1.0);
    x[0] = 3.0;
    let net = bare(&s);
    // What a checkpoint does not keep must not matter: the tight pace begins each stretch anew.
    let mut tight = Pace::new(TOLERANCE);
    let first = flown(&net, &x, 200.0, &mut tight);
    assert_eq!(tight.first_s, f64::INFINITY);
    assert_eq!(flown(&net, &x, 200.0, &mut tight), first);
    // A loose one begins as that went well: with a step of the transient, not of its end.
    let mut loose = Pace::new(2.0 * TOLERANCE);
    let (_, steps) = flown(&net, &x, 200.0, &mut loose);
    let first_s = loose.first_s;
    assert!(first_s > 0.01 && first_s < 20.0, "{first_s}");
    let (_, again) = flown(&net, &x, 200.0, &mut loose);
    assert!(again <= steps, "{again} {steps}");
    // A stretch that is shorter than that says nothing of how long a step may be.
    let mut loose = Pace { first_s: 1.0, ..Pace::new(LOOSE) };
    let _ = flown(&net, &s.at_rest(2.0), 1e-3, &mut loose);
    assert_eq!(loose.first_s, 1.0);
    // One that went well all at once may be longer the next time.
    let mut loose = Pace { first_s: 1.0, ..Pace::new(LOOSE) };
    let _ = flown(&net, &s.at_rest(2.0), 1.0, &mut loose);
    assert!(loose.first_s > 1.0, "{}", loose.first_s);
    // It is a share of what went well: a transient of microseconds leaves a step of microseconds.
    let fast = Store {
        branches: vec![Branch::capacitor(0.5e-6, 0.1, 1e12), Branch::capacitor(1e-6, 500.0, 1e12)],
    };
    let mut x = fast.at_rest(1.0);
    x[0] = 3.0;
    let mut loose = Pace::new(LOOSE);
    let _ = flown(&bare(&fast), &x, 200e-6, &mut loose);
    assert!(loose.first_s > 1e-8 && loose.first_s < 100e-6, "{}", loose.first_s);
}

#[test]
fn a_crossing_of_a_stretch_lies_where_the_exponential_has_it() {
    let (s, own_s, per_s) = decay();
    let net = Net { own_s, ..bare(&s) };
    let at_s = 2f64.ln() / per_s;
    for (pace, error) in [
        (Pace::new(TOLERANCE), 1e-6),
        (Pace::new(LOOSE), 1e-3),
        (Pace::new(TOLERANCE).near(1e-3), 1e-2),
    ] {
        let mut pace = pace;
        let gone = net.flow(&s.at_rest(3.0), 100.0 / per_s, &mut pace, |x| x[0] - 1.5);
        let apart_s = gone.time_s - gone.clear_s;
        assert!((gone.time_s / at_s - 1.0).abs() < error, "{gone:?} {at_s}");
        assert!(apart_s > 0.0 && apart_s <= pace.crossing * at_s, "{apart_s}");
        assert!(3.0 + gone.dx[0] <= 1.5);
    }
    // One that lies behind is met at once.
    let gone = net.flow(&s.at_rest(1.0), 1.0, &mut Pace::new(TOLERANCE), |x| x[0] - 1.5);
    assert_eq!((gone.time_s, gone.clear_s, gone.dx[0]), (0.0, 0.0, 0.0));
    // A margin that is no number is crossed where it begins to be none.
    let lost = |x: &State| if x[0] < 2.0 { f64::NAN } else { 1.0 };
    let gone = net.flow(&s.at_rest(3.0), 100.0 / per_s, &mut Pace::new(TOLERANCE), lost);
    let at_s = 1.5f64.ln() / per_s;
    assert!((gone.time_s / at_s - 1.0).abs() < 1e-6, "{gone:?} {at_s}");
}

#[test]
fn a_crossing_is_found_in_few_looks() {
    type Margin = fn(f64) -> f64;
    let cases: [(Margin, f64, u32); 5] = [
        (|t| 3.0 - t, 3.0, 3),
        (|t| (-t).exp() - 0.05, 20f64.ln(), 25),
        (|t| 1.0 - (t / 3.0).powi(9), 3.0, 30),
        (|t| if t < 3.0 { 1e-6 } else { -1.0 }, 3.0, 100),
        (|t| if t < 3.0 { 1.0 } else { f64::NEG_INFINITY }, 3.0, 100),
    ];
    for (n, (margin, at_s, most)) in cases.into_iter().enumerate() {
        let looks = Cell::new(0);
        let near_s = 1e-9;
        let (low_s, high_s) = crossing((0.0, margin(0.0)), (10.0, margin(10.0)), near_s, |t| {
            looks.set(looks.get() + 1);
            margin(t)
        });
        assert!(low_s < high_s && high_s - low_s <= near_s, "{n}: {low_s} {high_s}");
        assert!(margin(low_s) > 0.0 && (low_s - at_s).abs() <= 1.001 * near_s, "{n}: {low_s}");
        assert!(margin(high_s) <= 0.0, "{n}: {high_s}");
        assert!(looks.get() <= most, "{n}: {} looks", looks.get());
    }
    // A straight line is met where it crosses, on a stretch of any length.
    for wide_s in [1e-6, 1e-2, 1e4] {
        let looks = Cell::new(0);
        let (near_s, margin) = (1e-6 * wide_s, |t: f64| 0.3 - t / wide_s);
        let (low_s, high_s) = crossing((0.0, 0.3), (wide_s, -0.7), near_s, |t| {
            looks.set(looks.get() + 1);
            margin(t)
        });
        assert!(margin(low_s) > 0.0 && margin(high_s) <= 0.0, "{low_s} {high_s}");
        assert!(high_s - low_s <= near_s, "{wide_s}: {low_s} to {high_s}");
        assert!(looks.get() <= 3, "{wide_s}: {} looks", looks.get());
    }
    // How fast it narrows is judged by the stretch itself, wherever that begins.
    let (looks, margin) = (Cell::new(0), |t: f64| 1.0 - (t / 3.0).powi(9));
    let (low_s, high_s) = crossing((2.0, margin(2.0)), (3.5, margin(3.5)), 1e-9, |t| {
        looks.set(looks.get() + 1);
        margin(t)
    });
    assert!(low_s < 3.0 && high_s >= 3.0 && looks.get() <= 11, "{low_s} {high_s}, {looks:?}");
    // No finer than a double tells the time.
    let (low_s, high_s) = crossing((0.0, 1.0), (1e6, -1.0), 0.0, |t| 123_456.789 - t);
    assert!(low_s < high_s && high_s - low_s <= 1e6 * 4.0 * f64::EPSILON, "{low_s} {high_s}");
}

#[test]
fn as_many_branches_as_there_may_be_share_a_current() {
    // Behind equal resistances of equal voltages each gives as much: 1 mA of as many.
    for n in 1..=Store::MOST {
        let branches = (1..=n).map(|k| Branch::capacitor(k as f64, 1.0, 1e15)).collect();
        let s = Store { branches };
        let net = Net { draw: Draw { current_a: 1e-3 * n as f64, ..Draw::default() }, ..bare(&s) };
        let x = s.at_rest(3.0);
        let rates = net.state_rates(&x);
        let gone = net.flow(&x, 1e-3, &mut Pace::new(TOLERANCE), |_| f64::INFINITY);
        for k in 0..Store::MOST {
            let per_s = if k < n { -1e-3 / (k + 1) as f64 } else { 0.0 };
            assert!((rates[k] - per_s).abs() < 1e-12, "{k} of {n}: {rates:?}");
            assert!((gone.dx[k] - per_s * 1e-3).abs() < 1e-9, "{k} of {n}: {gone:?}");
        }
        assert!((gone.drawn_j / (3e-6 * n as f64) - 1.0).abs() < 1e-3);
    }
}

/// With which of these errors, one a try, no shorter step is looked for; none where it goes on.
fn given_up(errors: &[f64]) -> Option<usize> {
    let mut tries = Tries::default();
    errors.iter().position(|bad| tries.only_rounding(*bad))
}

#[test]
fn four_errors_that_do_not_halve_are_rounding() {
    assert_eq!(given_up(&[50.0, 40.0, 30.0, 20.0]), None);
    assert_eq!(given_up(&[50.0, 40.0, 30.0, 20.0, 15.0]), Some(4));
    // Halved is getting on, and so is what the next try starts from.
    assert_eq!(given_up(&[64.0, 32.0, 16.0, 8.0, 4.0, 2.0]), None);
    assert_eq!(given_up(&[64.0, 40.0, 30.0, 10.0, 9.0, 8.0]), Some(5));
    // A hundred times too much is no rounding; neither is what is no number.
    assert_eq!(given_up(&[100.0; 9]), None);
    assert_eq!(given_up(&[99.0; 5]), Some(4));
    assert_eq!(given_up(&[f64::NAN, 3.0, f64::NAN, 3.0, 3.0, 3.0, 3.0]), None);
    assert_eq!(given_up(&[f64::NAN, 3.0, f64::NAN, 3.0, 3.0, 3.0, 3.0, 3.0]), Some(7));
}
