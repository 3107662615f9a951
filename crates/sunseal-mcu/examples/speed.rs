// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times a bench image on a machine: the half of `make speed` that is compiled once for each of two commits.
//!
//! `speed DEVICE ELF`, then requests on standard input, a line each: an instrument (`silent`, `counting`, `leakage`,
//! `taint`) and the least seconds of CPU time. The answer is a line: instructions and cycles of a run, and the
//! nanoseconds of CPU time of the fastest one. Everything is decoded before the first request.

#[path = "../../sunseal-isa/benches/shared/clock.rs"]
mod clock;

use std::error::Error;
use std::io::BufRead as _;

use sunseal_mcu::leakage::{Leakage, Model};
use sunseal_mcu::taint::Taint;
use sunseal_mcu::{Device, Elf, Machine, Snapshot, Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Silent, Width};

const INPUT_BYTES: usize = 85;
const MOST_CYCLES: Cycles = 100_000_000;

/// Observer of the least that an energy profile needs.
#[derive(Default)]
struct Counting {
    instructions: u64,
    cycles: [u64; 2],
    accesses: [u64; 2],
    bits: u64,
}

impl Observer for Counting {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    #[inline(always)]
    fn instruction(&mut self, _: u32, _: u32, cycles: u32, flow: Flow) {
        self.instructions += 1;
        self.cycles[usize::from(flow == Flow::Next)] += u64::from(cycles);
    }

    #[inline(always)]
    fn access(&mut self, _: u32, _: u32, kind: Access, _: Width, value: u32, _: Cycles) {
        self.accesses[usize::from(kind == Access::Write)] += 1;
        self.bits += u64::from(value.count_ones());
    }
}

/// Machine with a bench image, to be run from its beginning again and again.
struct Bench {
    machine: Machine,
    start: Snapshot,
    elf: Elf,
    taint: Taint,
    trace: Vec<u8>,
}

impl Bench {
    fn new(device: &str, path: &str) -> Result<Self, Box<dyn Error>> {
        let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
        let (device, elf) = (Device::named(device)?, Elf::parse(&bytes)?);
        let mut machine = Machine::new(&device);
        if device.name == "atmega128l" {
            // MICAz's fuses and crystal.
            machine.write_mem(0x82_0000, &[0xFF, 0xD9, 0xFF])?;
            machine.fit_crystal("xtal", 7_372_800)?;
        }
        machine.load(&elf)?;
        let mut input: Vec<u8> = (0..INPUT_BYTES).map(|i| (17 * i + 5) as u8).collect();
        input[0] = 0; // below every curve's order
        machine.write_symbol(&elf, "bench_input", &input)?;
        machine.write_symbol(&elf, "bench_input_len", &(INPUT_BYTES as u16).to_le_bytes())?;
        let (start, taint) = (machine.snapshot(), Taint::of(&device, &elf));
        Ok(Self { machine, start, elf, taint, trace: Vec::new() })
    }

    /// Nanoseconds and cycles of a run from the beginning to the program's end.
    fn run<O: Observer>(&mut self, observer: &mut O) -> Result<(u64, Cycles), Box<dyn Error>> {
        self.machine.restore(&self.start)?;
        let (origin, began) = (self.machine.cycles(), clock::thread_ns());
        let stop = self.machine.run(&Until::cycles(origin + MOST_CYCLES), observer);
        let time_ns = clock::thread_ns() - began;
        match stop {
            Stop::Halted => Ok((time_ns, self.machine.cycles() - origin)),
            stop => Err(format!("the program does not end as it should: {stop:?}").into()),
        }
    }

    fn once(&mut self, instrument: &str) -> Result<u64, Box<dyn Error>> {
        self.machine.restore(&self.start)?;
        let origin = self.machine.cycles();
        let ran = match instrument {
            "silent" => self.run(&mut Silent),
            "counting" => self.run(&mut Counting::default()),
            "leakage" => {
                let mut trace = std::mem::take(&mut self.trace);
                let ran = self.run(&mut Leakage::new(&mut trace, Model::default(), origin));
                self.trace = trace;
                ran
            }
            "taint" => {
                let input = self.elf.symbol("bench_input")?.addr;
                let mut taint = std::mem::replace(&mut self.taint, Taint::new(&self.elf));
                taint.mark(input..input + INPUT_BYTES as u32);
                let ran = self.run(&mut taint);
                self.taint = taint;
                ran
            }
            other => Err(format!("{other} is no instrument").into()),
        };
        Ok(ran?.0)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let [device, elf] = &std::env::args().skip(1).collect::<Vec<_>>()[..] else {
        return Err("give a device and the path of an ELF".into());
    };
    let mut bench = Bench::new(device, elf)?;
    let mut counting = Counting::default();
    let (_, cycles) = bench.run(&mut counting)?;
    bench.trace = vec![0; cycles as usize];
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (instrument, seconds) = line.split_once(' ').ok_or("a request is two words")?;
        let least_ns = (seconds.parse::<f64>()? * 1e9) as u64;
        let (mut best_ns, mut total_ns) = (u64::MAX, 0);
        while total_ns < least_ns {
            let time_ns = bench.once(instrument)?;
            best_ns = best_ns.min(time_ns);
            total_ns += time_ns;
        }
        println!("{} {cycles} {best_ns}", counting.instructions);
    }
    Ok(())
}
