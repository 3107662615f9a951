// SPDX-License-Identifier: MIT OR Apache-2.0
//! Remedies for a node that is cut off again and again at the same place: parts that would get it past.

use sunseal_power::{Element, SupplyConfig};

/// Factor up to which larger or smaller parts are looked for.
const LOOK: f64 = 1e3;
/// Volts up to which a store is thought of.
const LOOK_V: f64 = 50.0;
/// Bisections: of 5 V less than a microvolt.
const HALVINGS: u32 = 23;

/// The least figure between two ends from which on something holds; none if it does not at the upper one.
pub(crate) fn least(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(high) {
        return None;
    }
    for _ in 0..HALVINGS {
        let mid = (low + high) / 2.0;
        if holds(mid) { high = mid } else { low = mid }
    }
    Some(high)
}

/// The least voltage at rest that gets past it, whether this store bears that or not.
pub(crate) fn needs_v(
    config: &SupplyConfig,
    goes: impl Fn(&SupplyConfig, f64) -> bool,
) -> Option<f64> {
    let free = SupplyConfig { v_max_v: 2.0 * LOOK_V, ..config.clone() };
    least(config.v_cut_v, LOOK_V, |v_v| goes(&free, v_v))
}

/// Tells what a supply needs that is cut off at each start, and what each part of it would have to be; `goes` says
/// whether a supply from a voltage at rest gets past what cuts this one off.
pub(crate) fn told(
    config: &SupplyConfig,
    started_v: f64,
    goes: impl Fn(&SupplyConfig, f64) -> bool,
) -> String {
    let behind_ohm = config.store.open(&config.store.at_rest(started_v)).1;
    let needs_v = needs_v(config, &goes);
    let needs =
        needs_v.map_or_else(|| format!("more than {LOOK_V} V"), |v_v| format!("{v_v:.3} V"));
    let mut would = Vec::new();
    if let Some(v_v) = needs_v.filter(|v_v| (config.v_on_v..config.v_max_v).contains(v_v)) {
        would.push(format!("a restart voltage (`supply.v_on_v`) of {:.3} V", up(v_v)));
    }
    would.extend(parts(config, behind_ohm, |c| goes(c, started_v)));
    let would = match would.as_slice() {
        [] => "no other resistance, capacitance or cut-off alone would do".to_owned(),
        all => format!("{} would do", all.join(", or ")),
    };
    format!(
        "it needs {needs} at rest behind {behind_ohm:.3} ohm, and starts at {started_v:.3} V; {would}"
    )
}

/// Resistance, capacitance and cut-off that would each do alone.
fn parts(
    config: &SupplyConfig,
    behind_ohm: f64,
    goes: impl Fn(&SupplyConfig) -> bool,
) -> Vec<String> {
    let with_ohm = |share: f64| {
        let mut c = config.clone();
        c.store.branches.iter_mut().for_each(|b| b.r_ohm *= share);
        c
    };
    let with_farads = |times: f64| {
        let mut c = config.clone();
        for b in &mut c.store.branches {
            if let Element::Capacitor { c0_f, c1_f_per_v } = &mut b.element {
                (*c0_f, *c1_f_per_v) = (*c0_f * times, *c1_f_per_v * times);
            }
        }
        c
    };
    let mut would = Vec::new();
    let capacitors =
        config.store.branches.iter().all(|b| matches!(b.element, Element::Capacitor { .. }));
    if capacitors {
        if let Some(m) = least(-1.0, -1.0 / LOOK, |m| goes(&with_ohm(-m))) {
            would.push(format!("a resistance of {:.3} ohm at most", down(-m * behind_ohm)));
        }
        if let Some(times) = least(1.0, LOOK, |m| goes(&with_farads(m))) {
            let now_f = config.store.mean_capacitance_f(config.v_cut_v, config.v_max_v);
            would.push(format!("a capacitance of {:.3e} F", now_f * times));
        }
    }
    let cut = |v_cut_v: f64| SupplyConfig { v_cut_v, ..config.clone() };
    if let Some(m) = least(-config.v_cut_v, -config.v_cut_v / 2.0, |m| goes(&cut(-m))) {
        would.push(format!(
            "a cut-off (`supply.v_cut_v`) of {:.3} V, where chip and output work there,",
            down(-m)
        ));
    }
    would
}

/// To a millivolt or a milliohm, on the side that still does.
fn up(value: f64) -> f64 {
    (value * 1e3).ceil() / 1e3
}

fn down(value: f64) -> f64 {
    (value * 1e3).floor() / 1e3
}
