// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simulated time over CPU time of one core: Criterion's elements are simulated seconds, so that `elem/s` reads
//! as "times real time".

#[path = "../tests/it/common/mod.rs"]
mod common;
#[path = "../../sunseal-isa/benches/shared/mod.rs"]
mod shared;

use common::gateway::{Gateway, firmware};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use shared::{CpuTime, cpu_time};
use sunseal_node::{LoopbackAir, Node, Scenario, Sent};
use sunseal_power::HarvestTrace;

fn play(
    c: &mut Criterion<CpuTime>,
    name: &str,
    duration_s: f64,
    program: (Vec<u16>, Vec<(u32, u32)>),
    more: &str,
) {
    let elf = common::program_with(name, &program.0, &program.1);
    let text = format!(
        "name = \"{name}\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {elf:?}\nduration_s = {duration_s:?}\n{more}"
    );
    let scenario = Scenario::parse(&text, name).expect("the scenario is sound");
    // A node that is given no light must be able to start: some comes when all is over.
    let late = || {
        let time_s = vec![0.0, duration_s, duration_s + 1.0];
        HarvestTrace::from_arrays(time_s, vec![0.0, 0.0, 1.0]).expect("the light is sound")
    };
    let light = || scenario.harvest.constant_w.is_none().then(late);
    let mut group = c.benchmark_group("loop");
    group.sample_size(10).throughput(Throughput::Elements(duration_s as u64));
    group.bench_function(name, |b| {
        b.iter_batched(
            || {
                Node::new(&common::data(), scenario.clone(), light())
                    .expect("the node can be built")
            },
            |mut node| node.run(&mut |_| true).expect("the run ends").cycles,
            criterion::BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn closed_loop(c: &mut Criterion<CpuTime>) {
    let busy = [&common::STOP_WATCHDOG[..], &[common::FOREVER]].concat();
    let asleep = [
        &common::STOP_WATCHDOG[..],
        &common::SILENCE_RADIO,
        &common::RELEASE_RADIO,
        &common::LPM3,
        &[common::FOREVER],
    ]
    .concat();
    let full = "[supply]\ninitial_v = 5.0\n[harvest]\nconstant_w = 0.05\n";
    play(c, "off-a-day", 86_400.0, (asleep.clone(), Vec::new()), "[supply]\ninitial_v = 1.0\n");
    play(c, "asleep-a-day", 86_400.0, (asleep, Vec::new()), full);
    // 64 wakings a second, 300 turns each: what the loop itself costs.
    play(c, "wakes-a-minute", 60.0, common::blinker(300), full);
    // About 1 MHz after reset, never asleep: the machine's own speed shows.
    play(c, "busy-a-minute", 60.0, (busy, Vec::new()), full);
    // Cut off and started again all the time.
    let dying = "[supply]\ncapacitance_f = 2e-4\noverhead_j = 1e-5\ninitial_v = 2.7\n[harvest]\nconstant_w = 1.5e-3\n";
    play(c, "brown-outs-a-minute", 60.0, common::blinker(300), dying);
}

/// A year from a profile: a signature every ten minutes, light by the hour.
fn from_profile(c: &mut Criterion<CpuTime>) {
    let sign = sunseal_node::Task {
        name: "sign".into(),
        period_s: 600.0,
        energy_j: 2e-3,
        time_s: 0.2,
        gate_j: 4e-3,
        deadline_s: None,
    };
    let profile = sunseal_node::NodeProfile {
        sleep_w: 2e-5,
        start_j: 3e-3,
        start_s: 0.5,
        poll_s: 30.0,
        tasks: vec![sign],
        coupons: None,
    };
    let text = "name = \"year\"\nboard = \"msp430f5438a-anagear\"\nfirmware = \"none.elf\"\nduration_s = 1.0\n";
    let scenario = Scenario::parse(text, "year").expect("the scenario is sound");
    let supply = Node::supply_of(&common::data(), &scenario).expect("the supply can be built");
    let individual = sunseal_node::Individual { light_scale: 1.0, phase_s: 60.0 };
    let mut group = c.benchmark_group("profile");
    group.sample_size(10).throughput(Throughput::Elements(365));
    for (name, peak_w) in [("year-in-plenty", 5e-3), ("year-in-scarcity", 2e-4)] {
        let hour = |h: u32| {
            (peak_w * ((f64::from(h % 24) - 6.0) / 12.0 * std::f64::consts::PI).sin()).max(0.0)
        };
        let time_s = (0..=8760).map(|h| f64::from(h) * 3600.0).collect();
        let trace = HarvestTrace::from_arrays(time_s, (0..=8760).map(hour).collect())
            .expect("the trace is sound");
        group.bench_function(name, |b| {
            b.iter(|| {
                sunseal_node::play(supply.clone(), &profile, &trace, individual, 365.0 * 86_400.0)
            });
        });
    }
    group.finish();
}

/// A winter day of the node's own program: it signs every three minutes, alternately asked and by itself.
fn node(c: &mut Criterion<CpuTime>) {
    let text = format!(
        "name = \"node\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {:?}\nduration_s = 86400\n[supply]\ninitial_v = 3.0\n\
         [node]\nmode = \"both\"\nperiod_s = 180\n",
        firmware("p256")
    );
    let scenario = Scenario::parse(&text, "node").expect("the scenario is sound");
    let minutes = || (0..=1440).map(|m| f64::from(m) * 60.0);
    let sun = |t: f64| 2.5e-4 * (std::f64::consts::PI * (t - 28_800.0) / 28_800.0).sin().max(0.0);
    let light = || {
        let day = |t: f64| if (28_800.0..57_600.0).contains(&t) { sun(t) } else { 0.0 };
        HarvestTrace::from_arrays(minutes().collect(), minutes().map(day).collect())
            .expect("the trace is sound")
    };
    let mut group = c.benchmark_group("loop");
    group.sample_size(10).throughput(Throughput::Elements(86_400));
    group.bench_function("node-a-day", |b| {
        b.iter_batched(
            || {
                let mut gateway = Gateway::new(20);
                let air = LoopbackAir(move |s: &Sent| gateway.hear(s));
                Node::with_air(&common::data(), scenario.clone(), Some(light()), Box::new(air))
                    .expect("the node is sound")
            },
            |mut node| node.run(&mut |_| true).expect("the run ends").cycles,
            criterion::BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(name = benches; config = cpu_time(); targets = closed_loop, node, from_profile);
criterion_main!(benches);
