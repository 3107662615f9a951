// SPDX-License-Identifier: MIT OR Apache-2.0
//! The terminal at one moment, by the equations that a page of paper has.

use super::*;

fn near(ours: f64, by_hand: f64, rel: f64) {
    assert!((ours - by_hand).abs() <= rel * by_hand.abs(), "{ours}, by hand {by_hand}");
}

fn turn(share: f64, vcc_w: f64) -> Turn {
    Turn { load: crate::Load { vcc_w, store_w: 0.0 }, share, lasts_s: 0.0 }
}

#[test]
fn a_converter_takes_the_mean_of_its_turns_and_their_variance() {
    // 50 % at 1 V and 90 % at 3 V: 70 % half way.
    let eta = Efficiency::new(&[1.0, 3.0], &[1e-3], &[vec![0.5], vec![0.9]]).unwrap();
    let turns = [turn(0.25, 28e-3), turn(0.5, 2.8e-3), turn(0.25, 0.0)];
    let c = Converter::new(&eta, 2.8, &turns);
    near(c.rail_w, 7e-3 + 1.4e-3, 1e-12);
    // 40 mW and 4 mW: a mean of 12 mW, and of the squares 408 mW2.
    let (mean_w, spread_w2) = c.taken_w(2.0);
    near(mean_w, 12e-3, 1e-9);
    near(spread_w2, 408e-6 - 144e-6, 1e-9);
    near(c.taken_w(3.0).0, (7e-3 + 1.4e-3) / 0.9, 1e-9);
    let one = [turn(1.0, 14e-3)];
    let (alone_w, spread_w2) = Converter::new(&eta, 2.8, &one).taken_w(2.0);
    near(alone_w, 20e-3, 1e-9);
    assert_eq!(spread_w2, 0.0);
    // The efficiency is that of each turn's own current: 10 mA at 80 %, 1 mA at 40 %.
    let eta = Efficiency::new(&[1.0], &[1e-3, 1e-2], &[vec![0.4, 0.8]]).unwrap();
    near(
        Converter::new(&eta, 2.8, &[turn(0.5, 28e-3), turn(0.5, 2.8e-3)]).taken_w(2.0).0,
        21e-3,
        1e-9,
    );
    // In the resistance: of the power by the open voltage's square, of a current by itself.
    let s = Store::capacitor(1.0, 5.0, 1e9);
    let same = Efficiency::constant(0.7);
    let draw = Draw {
        converter: Some(Converter::new(&same, 2.8, &turns)),
        spread_a2: 2e-6,
        ..Draw::default()
    };
    near(Net { draw, ..bare(&s) }.taken(2.0, 5.0).ripple_w, 5.0 * (264e-6 / 4.0 + 2e-6), 1e-9);
}

#[test]
fn the_terminal_is_where_both_sides_agree() {
    let s = Store::capacitor(1.0, 5.0, 1e9);
    let eta = Efficiency::constant(0.8);
    let turns = [turn(1.0, 8e-3)];
    let draw = Draw {
        current_a: 2e-3,
        converter: Some(Converter::new(&eta, 2.8, &turns)),
        ..Draw::default()
    };
    let net = Net { draw, store_w: 1e-3, own_w: 3e-3, own_a: 4e-4, own_s: 5e-4, ..bare(&s) };
    let open_v = 2.0;
    let out_w = |v: f64| 10e-3 + 1e-3 + 3e-3 + v * (2e-3 + 4e-4 + 5e-4 * v);
    // Without light, with a power, held, and from a cell through a diode.
    let curve = IvCurve::new(&[0.0, 2.0, 3.0], &[12e-3, 10e-3, 0.0]).unwrap();
    for feed in [
        Feed::Power(0.0),
        Feed::Power(30e-3),
        Feed::Hold(2.5),
        Feed::Curve { curve: &curve, drop_v: 0.3 },
    ] {
        let p = Net { feed, ..net }.probe(&s.at_rest(open_v));
        let v = p.terminal_v;
        assert!(p.able && p.open_v == open_v && v > 1.5);
        near(v * (v - open_v) / 5.0, p.charge_w - out_w(v), 1e-9);
        match feed {
            Feed::Power(w) => assert_eq!(p.charge_w, w),
            Feed::Hold(held_v) => assert_eq!(v, held_v),
            Feed::Curve { .. } => {
                let i =
                    if v + 0.3 < 2.0 { 12e-3 - 1e-3 * (v + 0.3) } else { 10e-3 * (3.0 - v - 0.3) };
                near(p.charge_w, v * i, 1e-9);
            }
        }
        near(Net { feed, ..net }.taken_w(&s.at_rest(open_v)), out_w(v), 1e-9);
    }
    // Turns that scatter by 3 mA2 lose 5 times that in the resistance; held, the source brings that too.
    let scattered = Net { draw: Draw { spread_a2: 3e-6, ..draw }, feed: Feed::Hold(2.5), ..net };
    near(scattered.probe(&s.at_rest(open_v)).charge_w, 2.5 * 0.5 / 5.0 + out_w(2.5) + 15e-6, 1e-12);
    // Most of all v2 / 4 R: 10 mW of 2 V behind 100 ohm, and the terminal then stands at half.
    let weak = Store::capacitor(1.0, 100.0, 1e9);
    for (store_w, able) in [(9.99e-3, true), (10.01e-3, false)] {
        let p = Net { store_w, ..bare(&weak) }.probe(&weak.at_rest(2.0));
        assert_eq!(p.able, able);
        assert!((p.terminal_v - 1.0).abs() < 0.04 && (able || p.terminal_v == 1.0), "{p:?}");
    }
    // An empty store gives nothing, and takes what comes: v = sqrt(R P).
    assert!(!bare(&weak).probe(&weak.at_rest(0.0)).able);
    let p = Net { feed: Feed::Power(1e-2), ..bare(&weak) }.probe(&weak.at_rest(0.0));
    assert!(p.able);
    near(p.terminal_v, 1.0, 1e-12);
}

#[test]
fn the_rates_of_a_moment_close_its_books() {
    // Two branches at 3 V and 2 V behind 1 ohm and 4 ohm: 2.8 V behind 0.8 ohm, from which 100 mA flow.
    let mut slow = Branch::capacitor(2.0, 4.0, 1e3);
    slow.self_discharge_per_s = 1e-3;
    let s = Store { branches: vec![Branch::capacitor(0.5, 1.0, 1e3), slow] };
    let branches = [0, 1].map(|k| Rated::of(&s.branches[k]));
    let draw = Draw { current_a: 90e-3, rail_drop_v: 0.2, ..Draw::default() };
    let net = Net { draw, own_a: 10e-3, ..bare(&s) };
    let (dx, [leak_w, esr_w, charged_w, source_w, drawn_w, rail_w, own_w], moved_w) =
        net.rates(&branches, &[3.0, 2.0]);
    let v = 2.8 - 0.08;
    let (a, b) = (3.0 - v, (2.0 - v) / 4.0);
    near(dx[0], -(a + 3e-3) / 0.5, 1e-9);
    near(dx[1], -(b + 2e-3 + 2e-3) / 2.0, 1e-9);
    near(leak_w, 9e-3 + 4e-3 + 4e-3, 1e-9);
    near(esr_w, a * a + 4.0 * b * b, 1e-9);
    near(drawn_w, 0.09 * v, 1e-9);
    near(rail_w, 0.09 * (v - 0.2), 1e-9);
    near(own_w, 0.01 * v, 1e-9);
    assert_eq!((charged_w, source_w), (0.0, 0.0));
    near(moved_w, 0.1 * v + 3.0 * a + 2.0 * b.abs() + leak_w, 1e-9);
    // A regulated rail: what is above it is lost. Through a diode: the source gives more than arrives.
    let draw = Draw { rail_v: Some(2.2), ..draw };
    near(Net { draw, ..net }.rates(&branches, &[3.0, 2.0]).1[5], 0.09 * 2.2, 1e-9);
    let curve = IvCurve::new(&[0.0, 5.0], &[50e-3, 0.0]).unwrap();
    let lit = Net { feed: Feed::Curve { curve: &curve, drop_v: 0.3 }, ..net };
    let (_, [_, _, charged_w, source_w, ..], _) = lit.rates(&branches, &[3.0, 2.0]);
    let v = lit.probe(&[3.0, 2.0, 0.0, 0.0, 0.0]).terminal_v;
    let i = 50e-3 - 10e-3 * (v + 0.3);
    near(charged_w, i * v, 1e-9);
    near(source_w, i * (v + 0.3), 1e-9);
    near((2.8 - v) / 0.8, 0.1 - i, 1e-9);
    // Held at 3.1 V: what the branches take there, and what leaves the terminal.
    let held = Net { feed: Feed::Hold(3.1), ..net };
    let (dx, [_, _, charged_w, source_w, ..], _) = held.rates(&branches, &[3.0, 2.0]);
    near(dx[0], (0.1 - 3e-3) / 0.5, 1e-9);
    near(charged_w, 3.1 * (0.1 + 1.1 / 4.0 + 0.1), 1e-9);
    assert_eq!(charged_w, source_w);
    // More is asked for than 2 V behind 100 ohm give, 10 mW: the output has that much less, its rail in proportion.
    let weak = Store::capacitor(1.0, 100.0, 1e12);
    let eta = Efficiency::constant(0.8);
    let turns = [turn(1.0, 16e-3)];
    let draw = Draw { converter: Some(Converter::new(&eta, 2.8, &turns)), ..Draw::default() };
    let (dx, [_, esr_w, _, _, drawn_w, rail_w, _], _) =
        Net { draw, ..bare(&weak) }.rates(&[Rated::of(&weak.branches[0])], &[2.0]);
    near(drawn_w, 10e-3, 1e-9);
    near(rail_w, 8e-3, 1e-9);
    near(esr_w, 10e-3, 1e-9);
    near(dx[0], -10e-3, 1e-9);
}
