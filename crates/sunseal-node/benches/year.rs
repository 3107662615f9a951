// SPDX-License-Identifier: MIT OR Apache-2.0
//! The node's own program, which signs every ten minutes on secp160r1 with the hardware multiplier: every instruction
//! executed, light and store and losses in the loop, every signature verified on the other side. A week is played and
//! taken to a year; `cargo bench -p sunseal-node --bench year -- 365` plays it whole. CPU time is that of this thread.

#[path = "../../sunseal-isa/benches/shared/clock.rs"]
mod clock;
#[path = "../tests/it/common/mod.rs"]
mod common;

use common::gateway::{Gateway, firmware};
use sunseal_node::{LoopbackAir, Node, Scenario, Sent};
use sunseal_power::HarvestTrace;

const DAY_S: f64 = 86_400.0;

/// Half a sine between 8 and 16 o'clock, in steps of a quarter of an hour.
fn light(days: f64) -> HarvestTrace {
    let steps = (days * 96.0).ceil() as u32;
    let time: Vec<f64> = (0..=steps).map(|q| f64::from(q) * 900.0).collect();
    let sun = |t: &f64| {
        let of_day = (t % DAY_S - 28_800.0) / 28_800.0;
        2e-3 * (std::f64::consts::PI * of_day).sin().max(0.0)
            * f64::from((0.0..1.0).contains(&of_day))
    };
    let power = time.iter().map(sun).collect();
    HarvestTrace::from_arrays(time, power).expect("the light is sound")
}

fn main() {
    // Cargo adds `--bench`.
    let days = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(7.0);
    let text = format!(
        "name = \"year\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\nduration_s = {:?}\n[supply]\ninitial_v = 3.0\n\
         [node]\nmode = \"periodic\"\nperiod_s = 600\nmclk_khz = 16000\n",
        firmware("secp160r1"),
        days * DAY_S
    );
    let scenario = Scenario::parse(&text, "year").expect("the scenario is sound");
    let mut gateway = Gateway::new(20);
    let air = LoopbackAir(move |s: &Sent| gateway.hear(s));
    let mut node = Node::with_air(&common::data(), scenario, Some(light(days)), Box::new(air))
        .expect("the node is sound");
    let begun_s = clock::thread_s();
    let record = node.run(&mut |_| true).expect("the run ends");
    let user_s = clock::thread_s() - begun_s;
    let signed = record.messages.sent.get("REPORT").copied().unwrap_or(0);
    println!(
        "{days} days: {signed} signatures, {} verified, {} cycles, {} starts, {} brown-outs, balance {:.1e}, loop over ledger {:+.1e}",
        record.messages.verdicts.get(&0).copied().unwrap_or(0),
        record.cycles,
        record.starts,
        record.brown_outs,
        record.energy.balance_rel,
        record.energy.loop_over_ledger_rel
    );
    println!(
        "{user_s:.2} s of one core: {:.0} s a year, {:.0} x real time, {:.1} M cycles/s, {:.2} ms a signature",
        user_s * 365.0 / days,
        record.simulated_s / user_s,
        record.cycles as f64 / user_s / 1e6,
        user_s * 1e3 / signed.max(1) as f64
    );
}
