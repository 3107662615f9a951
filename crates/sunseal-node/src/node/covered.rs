// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time to the cut-off behind a rail that follows the store: asked once, kept while it stands.

use serde::{Deserialize, Serialize};
use sunseal_power::{Light, Load, Supply};

use super::AWAKE_STEP_S;

/// So much more than the heaviest load, a supply that follows the store is asked for: the load's current moves with
/// the rail, and the answer is to stand for a while.
const COVER: f64 = 1.02;
/// Tolerance with which that is followed: it errs by far less than [`COVER`] gives.
const TOLERANCE: f64 = 1e-5;

/// A time for which the supply surely lasts, where the load stays at or below a current and a power and the light as it
/// is: a lighter load leaves the store no lower, so the answer stands until then. A current is what a rail that
/// follows the store draws; a converter that comes to its help on the way draws the power, which grew with the rail.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Covered {
    until_s: f64,
    current_a: f64,
    vcc_w: f64,
    store_w: f64,
    light_until_s: f64,
    /// True if a converter helped the rail.
    helped: bool,
}

impl Covered {
    /// Until when the supply surely lasts from `now_s` on, under a load no heavier than this and the light that stays
    /// until `light_until_s`; asked again if what is known does not reach `least_s` ahead.
    pub(crate) fn until_s(
        &mut self,
        supply: &Supply,
        heaviest: Load,
        (light, light_until_s): (&Light, f64),
        now_s: f64,
        least_s: f64,
    ) -> f64 {
        let current_a = heaviest.vcc_w / supply.rail_v();
        let stands = (self.light_until_s, self.helped) == (light_until_s, supply.helps())
            && current_a <= self.current_a
            && heaviest.vcc_w <= self.vcc_w
            && heaviest.store_w <= self.store_w;
        if !stands || now_s + least_s > self.until_s {
            let asked = Load { vcc_w: COVER * heaviest.vcc_w, store_w: COVER * heaviest.store_w };
            let look_s = (light_until_s - now_s).min(AWAKE_STEP_S).max(least_s);
            let end = supply.clone().with_tolerance(TOLERANCE).advance(look_s, asked, light);
            *self = Self {
                until_s: now_s + end.elapsed_s * (1.0 - 1e-9),
                current_a: COVER * current_a,
                vcc_w: asked.vcc_w,
                store_w: asked.store_w,
                light_until_s,
                helped: supply.helps(),
            };
        }
        self.until_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sunseal_power::{Boundary, Efficiency, Output, Store, SupplyConfig};

    use crate::coupons::tests::plain_supply;

    fn config(output: Output, capacitance_f: f64, esr_ohm: f64) -> SupplyConfig {
        let store = Store::capacitor(capacitance_f, esr_ohm, 1e8);
        SupplyConfig { store, output, v_max_v: 4.2, v_on_v: 3.0, ..plain_supply() }
    }

    fn outputs() -> impl Strategy<Value = Output> {
        prop_oneof![
            Just(Output::Direct { drop_v: 0.0 }),
            Just(Output::Linear { dropout_v: 0.1, quiescent_a: 1e-6 }),
            Just(Output::Assisted {
                below_v: 2.3,
                hysteresis_v: 0.1,
                efficiency: Efficiency::constant(0.8),
                quiescent_a: 5e-5,
                shutdown_a: 1e-6,
                boost_v: 2.8,
            }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_kept_never_lies_beyond_the_cut(
            output in outputs(), capacitance_f in 1e-4f64..3e-3, esr_ohm in 0.01f64..75.0, above_v in 0.0f64..0.8, current_a in 1e-3f64..6e-3,
            steps in prop::collection::vec((0.95f64..1.06, 0.0f64..1.0, 0.0f64..5e-5), 40),
            light_w in prop::collection::vec(0.0f64..0.02, 8), light_lasts_s in 5e-3f64..0.1,
        ) {
            let mut s = Supply::new(config(output, capacitance_f, esr_ohm), 1.9 + above_v).unwrap();
            s.switch_on();
            let mut covered = Covered::default();
            let (mut now_s, mut period) = (0.0, 0);
            for (heavier, share, store_w) in steps {
                let light_until_s = f64::from(period) * light_lasts_s + light_lasts_s;
                let light = Light::from(light_w[period as usize % light_w.len()]);
                let heaviest = Load { vcc_w: heavier * current_a * s.rail_v(), store_w };
                let least_s = 1e-3f64.min(light_until_s - now_s);
                let sure_s = covered.until_s(&s, heaviest, (&light, light_until_s), now_s, least_s) - now_s;
                // By a closer solver, at all that was asked for now.
                let a = s.clone().with_tolerance(1e-10).advance(sure_s * (1.0 - 1e-6), heaviest, &light);
                prop_assert!(a.boundary.is_none() || sure_s <= 1e-12, "{a:?} of {sure_s} s at {now_s} s");
                // A part of that is drawn, for as long as the rail may stay as it was told.
                let drawn = Load { vcc_w: share * heaviest.vcc_w, store_w: share * store_w };
                let done = s.advance(least_s.min(sure_s), drawn, &light);
                now_s += done.elapsed_s;
                if done.boundary == Some(Boundary::Cut) || sure_s <= 1e-12 {
                    break;
                }
                if light_until_s - now_s < 1e-9 {
                    period += 1;
                }
            }
        }
    }
}
