// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions a second in user time, which other processes on the machine do not shorten.

#[path = "../tests/asm/mod.rs"]
mod asm;
#[path = "../tests/program/mod.rs"]
mod program;

use sunseal_isa::msp430::{Exit, Timing};
use sunseal_isa::{Access, Cycles, Flow, Observer, Silent, Width};

#[derive(Default)]
struct Count(u64);

impl Observer for Count {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;
    fn instruction(&mut self, _: u32, _: u32, _: u32, _: Flow) {
        self.0 += 1;
    }
    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

/// User time of this process in seconds, from the kernel's clock ticks.
fn user_time_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux tells process times");
    let fields = stat.rsplit_once(')').expect("the name is in parentheses").1;
    let ticks: f64 = fields.split_whitespace().nth(11).and_then(|t| t.parse().ok()).expect("utime");
    ticks / 100.0
}

fn main() {
    const CYCLES: u64 = 1_000_000_000;
    let (mut cpu, mut bus) = program::machine(Timing::CPUXV2);
    let mut count = Count::default();
    bus.deadline = CYCLES / 10;
    assert_eq!(cpu.run(&mut bus, &mut count), Exit::Deadline);
    let per_cycle = count.0 as f64 / cpu.cycles as f64;
    let start = user_time_s();
    bus.deadline = cpu.cycles + CYCLES;
    assert_eq!(cpu.run(&mut bus, &mut Silent), Exit::Deadline);
    let time_s = user_time_s() - start;
    let instructions = per_cycle * CYCLES as f64;
    println!("silent: {:.1} M instructions/s ({time_s:.2} s user)", instructions / time_s / 1e6);
    let start = user_time_s();
    bus.deadline = cpu.cycles + CYCLES;
    let before = count.0;
    assert_eq!(cpu.run(&mut bus, &mut count), Exit::Deadline);
    let time_s = user_time_s() - start;
    println!(
        "counting: {:.1} M instructions/s ({time_s:.2} s user)",
        (count.0 - before) as f64 / time_s / 1e6
    );
}
