// SPDX-License-Identifier: MIT OR Apache-2.0
//! A busy FR5994 on supplies drawn at random: store x charger x output x source x voltage. Prints the slowest, in
//! instructions a second, and whatever makes the loop take steps that the supply does not ask for.
//!
//! `cargo bench -p sunseal-node --bench supplies -- [DRAWS [SEED [DRAW]]]`; with DRAW that one alone, to be profiled.

#[path = "../../sunseal-isa/benches/shared/clock.rs"]
mod clock;
#[path = "../tests/it/common/mod.rs"]
mod common;

use std::time::Instant;

use sunseal_node::{Activity, Node, Scenario};
use sunseal_radio::Chance;

const STORES: [&str; 10] = [
    "capacitor = \"capxx-hf-0f1\"",
    "capacitor = \"capxx-hw203\"",
    "capacitor = \"avx-scmr14d474\"",
    "capacitor = \"supercap-0f47-branches\"",
    "capacitor = \"tantalum-330u\"",
    "capacitor = \"ceramic-100u-x5r\"",
    "cell = \"cymbet-cbc050\"\ncapacitor = \"ceramic-100u-x5r\"",
    "cell = \"li-ion-lir2450\"",
    "cell = \"two-aa-energizer-e91\"",
    "cell = \"panasonic-cr2354\"",
];
const CHARGERS: [&str; 4] = [
    "charger = \"diode\"",
    "charger = \"ti-bq25504\"",
    "charger = \"ti-bq25570\"",
    "harvester = \"anagear-an1010\"",
];
const OUTPUTS: [&str; 6] = [
    "output = \"direct\"",
    "output = \"diode\"",
    "output = \"ti-tps7a02\"",
    "output = \"ti-bq25570\"",
    "output = \"ti-tps61000\"\nbelow_v = 2.2",
    "",
];
/// Shorter runs measure the start of one.
const SIMULATED_S: f64 = 20.0;
/// Millions of instructions a second that no supply is to stay below.
const SLOW: f64 = 100.0;
/// Nobody waits longer for one draw.
const WALL_S: f64 = 3.0;

fn main() {
    let mut args = std::env::args().skip(1).filter_map(|a| a.parse().ok());
    let (draws, seed, only) = (args.next().unwrap_or(200), args.next().unwrap_or(1), args.next());
    let (words, _) = common::busy_fram();
    let elf = common::program("supplies", &words);
    let mut chance = Chance::new(seed);
    let mut told = Vec::new();
    let mut refused = 0;
    while told.len() < draws as usize {
        let mut any = |n: usize| (chance.bits() % n as u64) as usize;
        let (store, charger, output) = (STORES[any(10)], CHARGERS[any(4)], OUTPUTS[any(6)]);
        let mut within = |low: f64, high: f64| low * (high / low).powf(any(1000) as f64 / 1e3);
        let (power_w, initial_v, dark_s, wave) =
            (within(1e-5, 3e-2), within(1.9, 3.6), within(1e-2, 3.0), within(1.0, 3.0));
        let source = match wave as u32 {
            1 => format!("constant_w = {power_w}"),
            _ => format!(
                "markov = {{ on_w = {power_w}, mean_on_s = {dark_s}, mean_off_s = {dark_s} }}"
            ),
        };
        let draw = told.len() as u64;
        // One alone runs as long as it may.
        let simulated_s = if only == Some(draw) { 1e3 * SIMULATED_S } else { SIMULATED_S };
        let what = format!(
            "{store}\n{charger}\n{output}\ninitial_v = {initial_v:.3}\n[harvest]\n{source}"
        );
        let text = format!(
            "name = \"supplies\"\nboard = \"msp430fr5994-launchpad\"\nfirmware = {elf:?}\nduration_s = {simulated_s}\n[supply]\n{what}\n"
        );
        let node =
            Scenario::parse(&text, "supplies").and_then(|s| Node::new(&common::data(), s, None));
        let Ok(mut node) = node else {
            refused += 1;
            continue;
        };
        if only.is_some_and(|only| only != draw) {
            told.push((f64::INFINITY, String::new()));
            continue;
        }
        let (began, began_s) = (Instant::now(), clock::thread_s());
        let record = node.run(&mut |_| began.elapsed().as_secs_f64() < WALL_S);
        let time_s = clock::thread_s() - began_s;
        let what = what.replace('\n', ", ");
        let Ok(r) = record else {
            println!("fails: {what}: {}", record.expect_err("it is none"));
            told.push((f64::INFINITY, String::new()));
            continue;
        };
        let million = r.cycles as f64 / common::BUSY_FRAM_CYCLES / time_s * 1e-6;
        let line = format!(
            "{draw:3} {million:7.1} M instructions/s, {:6.2} simulated s, {:5.1} s computing, {:4} starts, {:8} steps: {what}",
            r.simulated_s,
            r.time_by_doing_s.get(&Activity::Compute).unwrap_or(&0.0),
            r.starts,
            node.steps()
        );
        // Of a node that is hardly ever on, the speed is that of being off.
        let million = if r.cycles as f64 > 1e6 { million } else { f64::INFINITY };
        told.push((million, line));
    }
    told.sort_by(|a, b| a.0.total_cmp(&b.0));
    // All that are slow, or a dozen.
    for (_, line) in told.iter().enumerate().take_while(|(i, t)| *i < 12 || t.0 < SLOW).map(|t| t.1)
    {
        println!("{line}");
    }
    let on = told.iter().take_while(|(million, _)| million.is_finite()).count();
    let median = told[on / 2].0;
    println!(
        "worst of {on}: {:.1} M instructions/s, median {median:.1}, ratio {:.1}; {} below {SLOW:.0} M, {} were hardly ever on, {refused} refused as no supply",
        told[0].0,
        median / told[0].0,
        told.iter().take_while(|(million, _)| *million < SLOW).count(),
        told.len() - on
    );
}
