// SPDX-License-Identifier: MIT OR Apache-2.0
//! Things that the firmware must not do on a chip, asked of every variant: helpers that compute wrongly, slips that the
//! machine notices, interrupts held off for long, more stack than a program has.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::common;
use crate::common::gateway::Gateway;
use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_node::{LoopbackAir, Node, RunRecord, Scenario, Sent};
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Silent, Width};

const VARIANTS: [&str; 3] = ["mpy-none", "mpy-16", "mpy-32"];

fn path(variant: &str, program: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../firmware/build/msp430f5438a-anagear")
        .join(variant)
        .join(format!("{program}.elf"));
    assert!(path.exists(), "{} is not there; `make firmware` builds it", path.display());
    path
}

fn elf(variant: &str, program: &str) -> Elf {
    Elf::parse(&std::fs::read(path(variant, program)).unwrap()).unwrap()
}

#[test]
fn the_runtime_helpers_compute_rightly_in_every_variant() {
    for variant in VARIANTS {
        let elf = elf(variant, "runtime-selftest");
        let mut machine = Machine::new(&Device::msp430f5438a());
        machine.load(&elf).unwrap();
        let stop =
            machine.run(&Until { cycles: Some(10_000_000), ..Until::default() }, &mut Silent);
        assert!(matches!(stop, Stop::Halted), "{variant}: {stop:?}");
        let word = |name: &str| {
            let bytes = machine.read_symbol(&elf, name).unwrap();
            i16::from_le_bytes([bytes[0], bytes[1]])
        };
        assert_eq!(word("bench_status"), 0, "{variant}: number of the first check that failed");
        let made = machine.read_symbol(&elf, "bench_output").unwrap();
        assert!(u16::from_be_bytes([made[0], made[1]]) > 300, "{variant}: {} checks", made[0]);
        assert!(machine.lints().is_empty(), "{variant}: {:?}", machine.lints());
    }
}

/// Plays a scenario, and fails if its node made a slip.
fn without_a_slip(text: &str, mut gateway: Gateway, what: &str) -> RunRecord {
    let air = LoopbackAir(move |sent: &Sent| gateway.hear(sent));
    let scenario = Scenario::parse(text, what).unwrap();
    let mut node = Node::with_air(&common::data(), scenario, None, Box::new(air)).unwrap();
    let record = node.run(&mut |_| true).unwrap();
    let slips = node.machine().lints();
    assert!(slips.is_empty(), "{what}: {slips:?}");
    record
}

#[test]
fn every_node_works_without_a_slip_and_comes_back_from_brown_outs() {
    for variant in VARIANTS {
        for curve in ["secp160r1", "p256"] {
            let firmware = path(variant, &format!("node-{curve}"));
            // No margin: the gate lets operations start that the store cannot pay.
            let store_f = if (variant, curve) == ("mpy-none", "p256") { 0.06 } else { 0.012 };
            let text = format!(
                "name = \"rules\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {firmware:?}\nduration_s = 240\n\
                 [supply]\ncapacitance_f = {store_f}\noverhead_j = 1e-3\ninitial_v = 2.7\n[harvest]\nconstant_w = 3e-3\n\
                 [node]\nperiod_s = 10\nmargin_percent = 0\npoll_s = 1\n"
            );
            let record = without_a_slip(&text, Gateway::new(2), &format!("{variant} {curve}"));
            let accepted = record.messages.verdicts.get(&0).copied().unwrap_or(0);
            assert!(
                accepted >= 3,
                "{variant} {curve}: {accepted} accepted of {:?}",
                record.messages
            );
            assert_eq!(record.messages.verdicts.len(), 1, "{:?}", record.messages.verdicts);
        }
    }
}

#[test]
fn the_node_works_at_every_clock_and_no_slip_is_in_setting_it() {
    let firmware = path("mpy-32", "node-secp160r1");
    for mclk_khz in [1000, 2000, 3000, 5000, 8000, 9000, 12000, 14000, 16000, 20000, 25000] {
        let text = format!(
            "name = \"clock\"\nboard = \"msp430f5438a-anagear\"\nfirmware = {firmware:?}\nduration_s = 60\n\
             [supply]\ninitial_v = 4.0\n[node]\nperiod_s = 20\nmclk_khz = {mclk_khz}\n"
        );
        let record = without_a_slip(&text, Gateway::new(1), &format!("{mclk_khz} kHz"));
        let verdicts = &record.messages.verdicts;
        assert!(
            verdicts.get(&0).is_some_and(|n| *n >= 3) && verdicts.len() == 1,
            "{mclk_khz} kHz: {verdicts:?}"
        );
        assert_eq!(record.brown_outs, 0);
        // A multiple of 32768 Hz, the next below what was asked for. REFO, whose multiple it is, drifts by one
        // percent per volt from 3 V.
        let drift = 1.0 + (record.vcc_v - 3.0) / 100.0;
        let clocks: Vec<_> = record
            .energy
            .load
            .items
            .iter()
            .map(|i| (f64::from(i.mclk_hz) / drift).round() as u32)
            .collect();
        let wanted = |hz: &u32| *hz <= mclk_khz * 1000 && *hz + 32768 > mclk_khz * 1000;
        assert!(clocks.iter().any(wanted), "{clocks:?} Hz instead of {mclk_khz} kHz");
    }
}

/// Cycles in a row in which no interrupt could come, the CPU's own latency aside.
struct Masked {
    off: HashSet<u32>,
    on: HashSet<u32>,
    /// Instructions that wait for the flash controller.
    flash: std::ops::Range<u32>,
    since: Option<Cycles>,
    in_flash: bool,
    now: Cycles,
    longest: Cycles,
    longest_at: u32,
    handlers: u64,
    longest_handler: Cycles,
    handler_since: Option<Cycles>,
    stack_low: u32,
}

impl Masked {
    fn begin(&mut self) {
        self.since.get_or_insert(self.now);
    }

    fn end(&mut self, pc: u32) {
        let Some(since) = self.since.take() else { return };
        if !std::mem::take(&mut self.in_flash) && self.now - since > self.longest {
            (self.longest, self.longest_at) = (self.now - since, pc);
        }
    }
}

impl Observer for Masked {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, pc: u32, sp: u32, cycles: u32, flow: Flow) {
        if matches!(flow, Flow::Interrupt { .. }) {
            self.begin();
            self.handler_since = Some(self.now);
        }
        self.now += Cycles::from(cycles);
        if sp != 0 {
            self.stack_low = self.stack_low.min(sp);
        }
        self.in_flash |= self.flash.contains(&pc);
        if self.off.contains(&pc) {
            self.begin();
        } else if self.on.contains(&pc) {
            self.end(pc);
        }
        if flow == Flow::InterruptReturn {
            self.end(pc);
            let took = self.now - self.handler_since.take().unwrap();
            self.handlers += 1;
            self.longest_handler = self.longest_handler.max(took);
        }
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

#[test]
fn interrupts_wait_for_few_cycles_and_the_stack_stays_in_its_room() {
    for curve in ["secp160r1", "p256"] {
        let elf = elf("mpy-32", &format!("node-{curve}"));
        let mut machine = Machine::new(&Device::msp430f5438a());
        machine.load(&elf).unwrap();
        machine.adc_input(0, Box::new(|_| 2.0));
        let text = elf.symbol("_start").unwrap().addr..0xFF00;
        let word = |addr: u32| {
            let bytes = machine.read_mem(addr, 2).unwrap();
            u16::from_le_bytes([bytes[0], bytes[1]])
        };
        let find = |is: &dyn Fn(u32) -> bool| {
            text.clone().step_by(2).filter(|a| is(*a)).collect::<HashSet<_>>()
        };
        let erase = elf.symbol("hal_flash_erase").unwrap();
        let write = elf.symbol("hal_flash_write").unwrap();
        let flash = erase.addr.min(write.addr)
            ..(erase.addr + erase.size_bytes as u32).max(write.addr + write.size_bytes as u32);
        assert!(flash.len() < 300, "the flash functions do not lie side by side");
        let mut masked = Masked {
            // BIC #8, SR; BIS #8, SR; BIS #x, SR with GIE in x.
            off: find(&|a| word(a) == 0xC232),
            on: find(&|a| word(a) == 0xD232 || (word(a) == 0xD032 && word(a + 2) & 8 != 0)),
            flash,
            since: None,
            in_flash: false,
            now: 0,
            longest: 0,
            longest_at: 0,
            handlers: 0,
            longest_handler: 0,
            handler_since: None,
            stack_low: u32::MAX,
        };
        assert!(masked.off.len() >= 3 && masked.on.len() >= 3);
        // Start, key, and vain enrolments: no chip answers on the bus.
        let stop = machine.run(
            &Until { time: Some(Picos(900_000_000_000_000)), ..Until::default() },
            &mut masked,
        );
        assert!(matches!(stop, Stop::Time), "{stop:?}");
        let Masked { longest, longest_at, handlers, longest_handler, stack_low, .. } = masked;
        println!(
            "{curve}: interrupts masked for {longest} cycles at most, outside the flash; {handlers} handlers of {longest_handler} cycles at most; lowest SP {stack_low:#06x}"
        );
        assert!(handlers > 1000, "{handlers} interrupts");
        assert!((1..=60).contains(&longest_handler), "a handler took {longest_handler} cycles");
        assert!(
            (1..=400).contains(&longest),
            "masked for {longest} cycles, to {}",
            elf.describe(longest_at)
        );
        assert!(
            stack_low > elf.symbol("__stack_limit").unwrap().addr,
            "the stack reached {stack_low:#06x}"
        );
    }
}
