// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sets of the FR5994, FR5969 and FR6989 against every active-mode current that their data sheets print by hit ratio.

use std::path::{Path, PathBuf};

use sunseal_power::{Clock, PowerModel, PowerSet};
use sunseal_trace::{Ledger, OperatingPoint, Picos, SpanKey, Vocabulary};

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/power")
}

/// The average current of a second of code at `mhz` whose word accesses, one a cycle that does not
/// wait, miss at the rate `miss`, with so many wait states.
fn average_ua(device: &str, mhz: u32, waits: u64, miss: f64) -> f64 {
    let set = PowerSet::load(&dir(), "datasheet", device).unwrap();
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
/// SLAS704G 5.4, the same rows; SLAS789D 5.4 has them too.
const PRINTED_FR5969: [(f64, [f64; 5]); 5] = [
    (1.00, [370.0, 1280.0, 2510.0, 2080.0, 2650.0]),
    (0.50, [240.0, 745.0, 1440.0, 1575.0, 1990.0]),
    (0.34, [200.0, 560.0, 1070.0, 1300.0, 1620.0]),
    (0.25, [170.0, 480.0, 890.0, 1155.0, 1420.0]),
    (0.00, [110.0, 235.0, 420.0, 640.0, 730.0]),
];

#[test]
fn every_printed_hit_ratio_is_met_within_five_percent() {
    let clocks = [(1, 0), (4, 0), (8, 0), (12, 1), (16, 1)];
    let tables = [
        ("msp430fr5994", PRINTED),
        ("msp430fr5969", PRINTED_FR5969),
        ("msp430fr6989", PRINTED_FR5969),
    ];
    for (device, table) in tables {
        for (miss, currents) in table {
            for ((mhz, waits), printed) in clocks.into_iter().zip(currents) {
                let ours = average_ua(device, mhz, waits, miss);
                let off = ours / printed - 1.0;
                assert!(
                    off.abs() < 0.05,
                    "{device}, {mhz} MHz, {miss} misses: {ours:.0} for {printed} uA"
                );
            }
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
