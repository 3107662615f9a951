// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sets of Piotrowski 2006 and Suslowicz 2017: what they were fitted to, and what they predict.

use std::path::{Path, PathBuf};

use sunseal_power::{Clock, PowerModel, PowerSet};
use sunseal_trace::{Ledger, OperatingPoint, Picos, SpanKey, Vocabulary};

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/power")
}

/// Ours over printed, for each anchor of a set whose program is in `state`.
fn ratios(set: &str, device: &str, state: &str) -> Vec<(bool, f64, String)> {
    let set = PowerSet::load(&dir(), set, device).unwrap();
    let anchors = set.anchors.clone();
    let model = PowerModel::new(vec![set]).unwrap();
    let weigh = |a: &sunseal_power::Anchor| {
        let (mut l, mut v) = (Ledger::new(), Vocabulary::new());
        let mclk_hz = (a.mclk_mhz * 1e6).round() as u32;
        let point = OperatingPoint { mclk_hz, smclk_hz: mclk_hz, aclk_hz: 32_768, vcore: 0 };
        let key = SpanKey { component: v.component("cpu"), state: v.state(state), point };
        l.add_span(key, a.cycles, Picos::of_ticks(a.cycles, mclk_hz));
        let e = model.weigh(&l, &v, a.vcc_v, Clock::AsRun).unwrap().total_j.typ;
        println!("{}: printed {} mJ, ours {:.4} mJ", a.place, a.energy_mj, e * 1e3);
        (a.fitted, e / (a.energy_mj * 1e-3), a.place.clone())
    };
    anchors.iter().map(weigh).collect()
}

#[test]
fn piotrowskis_currents_predict_the_handshakes() {
    let all = [("msp430f1611", 2), ("atmega128l", 4)];
    for (device, anchors) in all {
        let found = ratios("piotrowski2006", device, "active.flash");
        assert_eq!(found.len(), anchors);
        for (fitted, ratio, place) in found {
            // The table is printed to three digits.
            assert!(!fitted && (ratio - 1.0).abs() < 2e-3, "{place}: {ratio}");
        }
    }
}

#[test]
fn suslowiczs_first_row_predicts_the_others_as_far_as_it_does() {
    let mut seen = 0;
    for (device, state, off) in
        [("msp430fr5994", "active.fram", 0.08), ("msp432p401r", "active.flash", 0.03)]
    {
        for (fitted, ratio, place) in ratios("suslowicz2017", device, state) {
            let most = if fitted { 1e-3 } else { off };
            assert!((ratio - 1.0).abs() < most, "{place}: {ratio}");
            seen += 1;
        }
    }
    assert_eq!(seen, 7);
}

#[test]
fn the_radios_of_piotrowski_cost_their_microjoules_per_bit() {
    let point = OperatingPoint { mclk_hz: 0, smclk_hz: 0, aclk_hz: 0, vcore: 0 };
    type Row = (&'static str, f64);
    let cases: [(&str, f64, &[Row]); 2] = [
        (
            "cc2420",
            250e3,
            &[
                ("rx", 0.226),
                ("tx.pa3", 0.102),
                ("tx.pa7", 0.119),
                ("tx.pa11", 0.132),
                ("tx.pa19", 0.168),
                ("tx.pa31", 0.209),
            ],
        ),
        (
            "cc1000",
            38.4e3,
            &[
                ("rx.433mhz", 0.578),
                ("tx.433mhz.pa01", 0.414),
                ("tx.433mhz.pa0f", 0.812),
                ("tx.433mhz.paff", 2.086),
                ("rx.868mhz", 0.750),
                ("tx.868mhz.pa80", 1.290),
                ("tx.868mhz.paff", 1.984),
            ],
        ),
    ];
    for (device, bit_hz, rows) in cases {
        let set = PowerSet::load(&dir(), "piotrowski2006", device).unwrap();
        for (state, uj) in rows {
            let ours = set.current_a("radio", state, &point, 3.0).unwrap().value.typ * 3.0 / bit_hz;
            assert!((ours * 1e6 / uj - 1.0).abs() < 3e-3, "{device} {state}: {ours}");
        }
    }
}

#[test]
fn rizvi_prints_nothing_to_fit_so_its_set_is_the_datasheets() {
    let own = PowerSet::load(&dir(), "rizvi2009", "atmega128l").unwrap();
    let point =
        OperatingPoint { mclk_hz: 7_372_800, smclk_hz: 7_372_800, aclk_hz: 32_768, vcore: 0 };
    let c = own.current_a("cpu", "active.flash", &point, 3.0).unwrap();
    assert!(c.fallback && own.anchors.is_empty() && c.set == "atmega128l-datasheet");
}
