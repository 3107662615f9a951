// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forecasts of a rail that follows the store are what it then does.

use super::*;
use proptest::prelude::*;

fn following() -> impl Strategy<Value = Output> {
    prop_oneof![
        (0.0f64..0.4).prop_map(|drop_v| Output::Direct { drop_v }),
        (0.0f64..0.3).prop_map(|dropout_v| Output::Linear { dropout_v, quiescent_a: 1e-6 }),
        Just(assisting(Efficiency::constant(0.8), 2.3, 2.8)),
    ]
}

/// From stores that hardly move to one that falls by a volt in a millisecond, and a cell that refills a capacitor.
fn fast_and_slow() -> impl Strategy<Value = Store> {
    let refilled = |capacitance_f: f64| {
        let element = Element::Cell {
            capacity_c: 0.18,
            ocv_v: Curve::new(&[[0.0, 3.0], [1.0, 4.1]]).unwrap(),
            r_ohm: Curve::new(&[[0.0, 400.0], [1.0, 90.0]]).unwrap(),
        };
        let cell =
            Branch { element, r_ohm: 0.0, leak_ohm: f64::INFINITY, self_discharge_per_s: 0.0 };
        Store { branches: vec![cell, Branch::capacitor(capacitance_f, 0.01, 1e7)] }
    };
    prop_oneof![
        any_store(),
        (-5.0f64..-1.0, 0.01f64..75.0).prop_map(|(f, r)| Store::capacitor(10f64.powf(f), r, 1e9)),
        (-5.0f64..-3.0).prop_map(move |f| refilled(10f64.powf(f))),
    ]
}

fn rail_now_v(s: &Supply, load: Load, light: &Light) -> Option<f64> {
    let (mode, p) = s.settled_mode(&[load.always()], light);
    s.rail_of_v(mode, &p)
}

const STEP_V: f64 = 0.01;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_rail_does_what_it_was_told_to_do(
        store in fast_and_slow(), output in following(), v in 2.2f64..4.0, current_ln in -9.0f64..-4.8, sun_ln in -12.0f64..-3.5,
        dark in any::<bool>(), most_ln in -7.0f64..-1.4,
    ) {
        let c = SupplyConfig { store, output, start_overhead_j: 0.0, v_max_v: 4.2, v_on_v: 3.0, ..config() };
        let mut s = Supply::new(c, v).unwrap();
        s.switch_on();
        let light = Light::from(if dark { 0.0 } else { sun_ln.exp() });
        let most_s = most_ln.exp();
        // As a node does: the rail follows a load that has begun.
        let _ = s.advance(1e-6, Load { vcc_w: current_ln.exp() * s.rail_v(), store_w: 0.0 }, &light);
        let load = Load { vcc_w: current_ln.exp() * s.rail_v(), store_w: 0.0 };
        if s.above_cut_j(load, &light) <= 0.0 || rail_now_v(&s, load, &light).is_none() {
            return Ok(());
        }
        let ahead = s.rail_ahead(load, &light, most_s);
        prop_assert!(ahead.time_s > 0.0 && ahead.time_s <= most_s && ahead.steps() <= 17, "{ahead:?} of {most_s} s");
        let told_v = |t_s: f64| ahead.from_v + (ahead.to_v - ahead.from_v) * t_s / ahead.time_s;
        let after = |t_s: f64| {
            let mut tight = s.clone().with_tolerance(1e-10);
            let a = tight.advance(t_s, load, &light);
            // The same current, at the rail that it has told itself.
            let load = Load { vcc_w: load.vcc_w * tight.rail_v() / s.rail_v(), ..load };
            (a, rail_now_v(&tight, load, &light), tight.at.mode)
        };
        for share in [0.25, 0.5, 0.75, 1.0] {
            prop_assert!((ahead.at_v(share) - told_v(share * ahead.time_s)).abs() <= 0.5001 * STEP_V);
            let (a, rail_v, _) = after(share * ahead.time_s);
            if let Some(rail_v) = rail_v {
                prop_assert!((rail_v - told_v(a.elapsed_s)).abs() <= 1.1 * STEP_V, "{share}: {rail_v} V, told {} V: {ahead:?}", told_v(a.elapsed_s));
            }
            // Not beyond the cut-off.
            prop_assert!(a.boundary.is_none() || (told_v(share * ahead.time_s) - told_v(a.elapsed_s)).abs() <= 1.1 * STEP_V, "{a:?} {ahead:?}");
        }
        // Nor, of a rail that moves, shorter by a third than it need be: soon after it has moved on, has bent away, or something else
        // begins. One told to move by less than that may have looked for a dropout that a refilling cell then spares it.
        let soon_s = (3.0 * ahead.time_s).min(most_s);
        if soon_s > 1.5 * ahead.time_s
            && (ahead.to_v - ahead.from_v).abs() > 0.3 * STEP_V
            && let (Advance { boundary: None, .. }, Some(rail_v), mode) = after(soon_s)
            && s.settled_mode(&[load.always()], &light).0 == mode
        {
            let (moved_v, bent_v) = ((rail_v - ahead.from_v).abs(), (rail_v - told_v(soon_s)).abs());
            prop_assert!(moved_v.max(bent_v) >= 0.3 * STEP_V, "{moved_v} {bent_v} {ahead:?} of {most_s} s");
        }
    }
}
