// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charger of a supply: what it takes and gives, and whether it can ever fill the store.

use super::Supply;
use crate::{Charger, Light};

impl Supply {
    /// Power that the charger takes from the source, and what of it arrives; nothing if it does not start.
    pub(super) fn feed(&self, light: &Light, cold: bool) -> Option<(f64, f64)> {
        match &self.config.charger {
            Charger::Constant { efficiency, min_w } => (light.max_w > 0.0 && light.max_w >= *min_w)
                .then(|| (light.max_w, light.max_w * efficiency)),
            Charger::Diode { drop_v } => (light.max_w > 0.0).then(|| match &light.curve {
                // At the voltage that the store would be held at.
                Some(c) => {
                    let i = c.current_a(self.config.v_max_v + drop_v);
                    (i * (self.config.v_max_v + drop_v), i * self.config.v_max_v)
                }
                None => {
                    let v = self.v_v().max(0.1);
                    (light.max_w, light.max_w * v / (v + drop_v))
                }
            }),
            Charger::Tracking {
                share,
                v_in_min_v,
                min_w,
                v_in_default_v,
                efficiency,
                cold: start,
            } => {
                let (v_in_v, power_w) = light.at_share(*share);
                let v_in_v = v_in_v.unwrap_or(*v_in_default_v);
                if power_w <= 0.0 {
                    return None;
                }
                if cold {
                    let open_v = light.curve.as_ref().map_or(v_in_v, |c| c.v_oc_v());
                    return (open_v >= start.v_in_min_v && power_w >= start.min_w)
                        .then_some((power_w, power_w * start.efficiency));
                }
                (v_in_v >= *v_in_min_v && power_w >= *min_w)
                    .then(|| (power_w, power_w * efficiency.at(v_in_v, power_w / v_in_v)))
            }
        }
    }

    /// Checks that the store can rise to the restart voltage under a light that stays; if not, the sentence says why
    /// and by how much.
    ///
    /// # Errors
    /// That sentence.
    pub fn can_start(&self, light: &Light) -> Result<(), String> {
        let c = &self.config;
        if self.v_v() >= c.v_on_v {
            return Ok(());
        }
        let from = format!(
            "the store stands at {:.3} V and the output switches on at {} V",
            self.v_v(),
            c.v_on_v
        );
        if let Charger::Diode { drop_v } = &c.charger
            && let Some(curve) = &light.curve
        {
            let top = curve.v_oc_v() - drop_v;
            return match top > c.v_on_v {
                true => Ok(()),
                false => Err(format!(
                    "{from}, but the source's open circuit less the diode gives at most {top:.3} V, {:.3} V too little",
                    c.v_on_v - top
                )),
            };
        }
        let cold =
            matches!(&c.charger, Charger::Tracking { cold, .. } if self.v_v() < cold.until_v);
        let Some((_, w)) = self.feed(light, cold) else {
            return Err(match &c.charger {
                Charger::Constant { min_w, .. } => format!(
                    "{from}, but the charger starts from {min_w:.3e} W and the source gives at most {:.3e} W, {:.3e} W too little",
                    light.max_w,
                    min_w - light.max_w
                ),
                Charger::Tracking { cold: start, v_in_min_v, min_w, .. } => {
                    let (v, p) =
                        if cold { (start.v_in_min_v, start.min_w) } else { (*v_in_min_v, *min_w) };
                    format!(
                        "{from}, but the charger needs {v} V and {p} W at its input to start{} and the source gives at most {} W at {:.3} V",
                        if cold { " on an empty store" } else { "" },
                        light.max_w,
                        light.at_share(1.0).0.or(light.v_mp_v).unwrap_or(0.0)
                    )
                }
                Charger::Diode { .. } => format!("{from}, but the source gives nothing"),
            });
        };
        let lost_s = c.charger_quiescent_a / c.v_on_v
            + c.quiescent_off_w / (c.v_on_v * c.v_on_v)
            + c.store.branches.iter().map(|b| 1.0 / b.leak_ohm).sum::<f64>();
        let need_w = c.v_on_v * c.v_on_v * lost_s;
        match w >= need_w {
            true => Ok(()),
            false => Err(format!(
                "{from}, but leakage and quiescent current take {need_w:.3e} W there and at most {w:.3e} W arrive, {:.3e} W too little",
                need_w - w
            )),
        }
    }
}
