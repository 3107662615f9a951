// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MSP430FR5994's set against every active-mode current that its datasheet prints by hit ratio.

use std::path::{Path, PathBuf};

use sunseal_power::{Clock, PowerModel, PowerSet};
use sunseal_trace::{Ledger, OperatingPoint, Picos, SpanKey, Vocabulary};

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/power")
}

/// The average current of a second of code at `mhz` whose word accesses, one a cycle that does not
/// wait, miss at the rate `miss`, with so many wait states.
fn average_ua(mhz: u32, waits: u64, miss: f64) -> f64 {
    let set = PowerSet::load(&dir(), "datasheet", "msp430fr5994").unwrap();
    let model = PowerModel::new(vec![set]).unwrap();
    let (mut ledger, mut names) = (Ledger::new(), Vocabulary::new());
    let hz = mhz * 1_000_000;
    let accesses = f64::from(hz) / (1.0 + miss * waits as f64);
    let misses = (accesses * miss).round() as u64;
    let point = OperatingPoint { mclk_hz: hz, smclk_hz: hz, aclk_hz: 32_768, vcore: 0 };
    let key =
        SpanKey { component: names.component("cpu"), state: names.state("active.fram"), point };
    ledger.add_span(key, hz.into(), Picos(1_000_000_000_000));
    ledger.add_event(names.event("fram.miss"), misses);
    ledger.add_event(names.event("fram.hit"), accesses as u64 - misses);
    model.weigh(&ledger, &names, 3.0, Clock::AsRun).unwrap().total_j.typ / 3.0 * 1e6
}

/// SLASE54D 8.4 at 3.0 V: 0, 50, 66, 75 and 100 % cache hits at 1, 4, 8, 12 and 16 MHz, in microamperes.
const PRINTED: [(f64, [f64; 5]); 5] = [
    (1.00, [420.0, 1455.0, 2850.0, 2330.0, 3000.0]),
    (0.50, [275.0, 855.0, 1650.0, 1770.0, 2265.0]),
    (0.34, [220.0, 650.0, 1240.0, 1490.0, 1880.0]),
    (0.25, [192.0, 535.0, 1015.0, 1290.0, 1620.0]),
    (0.00, [125.0, 255.0, 450.0, 670.0, 790.0]),
];

#[test]
fn every_printed_hit_ratio_is_met_within_five_percent() {
    let clocks = [(1, 0), (4, 0), (8, 0), (12, 1), (16, 1)];
    for (miss, currents) in PRINTED {
        for ((mhz, waits), printed) in clocks.into_iter().zip(currents) {
            let ours = average_ua(mhz, waits, miss);
            let off = ours / printed - 1.0;
            assert!(off.abs() < 0.05, "{mhz} MHz, {miss} misses: {ours:.0} for {printed} uA");
        }
    }
}

/// The fit of Fused (UoS-EEC, a SystemC model checked on silicon) at one supply: nanojoules of a cycle that
/// hits, of a miss and of a write.
#[test]
fn a_write_costs_what_a_miss_does_as_in_the_fit_of_fused() {
    let set = PowerSet::load(&dir(), "datasheet", "msp430fr5994").unwrap();
    let (hit, miss, write) = (0.212, 0.635, 0.682);
    let of = |event| set.event_j(event, 3.0).unwrap().value.typ;
    let ours = of("fram.write") / of("fram.miss");
    assert!((ours / ((write - hit) / (miss - hit)) - 1.0).abs() < 0.15, "{ours}");
}
