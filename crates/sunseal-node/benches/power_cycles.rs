// SPDX-License-Identifier: MIT OR Apache-2.0
//! CPU time of a loss of power: nodes that execute and lose it often, by the start, and fleets of profiles that brown out,
//! in node-days a minute. `cargo bench -p sunseal-node --bench power_cycles`; the best of three.

#[path = "../../sunseal-isa/benches/shared/clock.rs"]
mod clock;
#[path = "../tests/it/common/mod.rs"]
mod common;

use clock::thread_s;
use sunseal_node::{Individual, Node, NodeProfile, Scenario, Task};
use sunseal_power::HarvestTrace;

const DAY_S: f64 = 86_400.0;
const DAYS: f64 = 365.0;

/// Supplies of an FR5994 that are empty after milliseconds.
const CYCLES: [(&str, &str); 3] = [
    (
        "10 uF behind a BQ25570",
        "charger = \"ti-bq25570\"\noutput = \"ti-bq25570\"\ncapacitor = \"ceramic-100u-x5r\"\ncapacitance_f = 1e-5\nplain = true\ninitial_v = 2.5\n[harvest]\nconstant_w = 2e-3\n",
    ),
    (
        "5 uF behind a BQ25504 and an LDO",
        "charger = \"ti-bq25504\"\noutput = \"ti-tps7a02\"\ncapacitor = \"ceramic-100u-x5r\"\ncapacitance_f = 5e-6\nplain = true\ninitial_v = 2.5\n[harvest]\nconstant_w = 2e-3\n",
    ),
    (
        "100 uF X5R on a diode",
        "charger = \"diode\"\noutput = \"direct\"\ncapacitor = \"ceramic-100u-x5r\"\ninitial_v = 2.0\n[harvest]\nconstant_w = 1e-3\n",
    ),
];
/// Supplies of a fleet, and peaks of their light.
const FLEETS: [(&str, &str, f64); 4] = [
    ("plenty", "", 5e-3),
    ("browning out", "", 1e-4),
    ("browning out, 10 mF", "capacitance_f = 0.01\noverhead_j = 1e-4\n", 1e-4),
    ("browning out, branches", "capacitor = \"supercap-0f47-branches\"\n", 1e-4),
];

/// The least CPU time of three runs, and what the last of them gave.
fn best<A, T>(build: impl Fn() -> A, run: impl Fn(A) -> T) -> (f64, T) {
    let timed = || {
        let (built, begun_s) = (build(), thread_s());
        let made = run(built);
        (thread_s() - begun_s, made)
    };
    let (first_s, second_s) = (timed().0, timed().0);
    let (third_s, made) = timed();
    (first_s.min(second_s).min(third_s), made)
}

fn power_cycles() {
    let elf = common::program("power-cycles", &common::busy_fram().0);
    for (what, supply) in CYCLES {
        let text = format!(
            "name = \"cycles\"\nboard = \"msp430fr5994-launchpad\"\nfirmware = {elf:?}\nduration_s = 25\n[power]\nvcc_v = 1.9\n[supply]\n{supply}"
        );
        let scenario = Scenario::parse(&text, "cycles").expect("the scenario is sound");
        let built =
            || Node::new(&common::data(), scenario.clone(), None).expect("the node is sound");
        let (took_s, r) = best(built, |mut node| node.run(&mut |_| true).expect("the run ends"));
        println!(
            "{what:34} {:5} starts {:6.1} us each, {:6.1} million cycles/s, {:.9e} J",
            r.starts,
            took_s / r.starts as f64 * 1e6,
            r.cycles as f64 / took_s * 1e-6,
            r.energy.supply.load_j
        );
    }
}

fn fleets() {
    let sign = Task {
        name: "sign".into(),
        period_s: 600.0,
        energy_j: 2e-3,
        time_s: 0.2,
        gate_j: 4e-3,
        deadline_s: None,
    };
    let profile = NodeProfile {
        sleep_w: 2e-5,
        start_j: 3e-3,
        start_s: 0.5,
        poll_s: 30.0,
        tasks: vec![sign],
        coupons: None,
    };
    let individual = Individual { light_scale: 1.0, phase_s: 60.0 };
    for (what, supply, peak_w) in FLEETS {
        let text = format!(
            "name = \"fleet\"\nboard = \"msp430f5438a-anagear\"\nfirmware = \"none.elf\"\nduration_s = 1\n[supply]\n{supply}"
        );
        let scenario = Scenario::parse(&text, "fleet").expect("the scenario is sound");
        let supply = Node::supply_of(&common::data(), &scenario).expect("the supply is sound");
        let hours = || (0..=24 * DAYS as u32).map(f64::from);
        let sun = |h: f64| peak_w * ((h % 24.0 - 6.0) / 12.0 * std::f64::consts::PI).sin().max(0.0);
        let light = HarvestTrace::from_arrays(
            hours().map(|h| h * 3600.0).collect(),
            hours().map(sun).collect(),
        )
        .expect("the light is sound");
        let (took_s, fate) = best(
            || supply.clone(),
            |supply| {
                sunseal_node::play(supply, &profile, &light, individual, DAYS * DAY_S)
                    .expect("the profile is sound")
            },
        );
        println!(
            "{what:34} {:5.2} million node-days a minute, {} starts, {} done, {:.9e} J",
            DAYS / took_s * 60.0 * 1e-6,
            fate.starts,
            fate.tasks[0].done,
            fate.sums.load_j
        );
    }
}

fn main() {
    power_cycles();
    fleets();
}
