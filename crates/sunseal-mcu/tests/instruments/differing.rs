// SPDX-License-Identifier: MIT OR Apache-2.0
//! Marks beside what secrets do: the same code runs with two values of a secret, and whatever differs behind it must be
//! marked, or a finding stands where the runs part. Code is drawn word by word; what stays in RAM and goes on is taken.

use std::cell::RefCell;
use std::ops::Range;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestError, TestRng, TestRunner};
use sunseal_isa::{Dataflow, Registers};
use sunseal_mcu::elf::{Segment, Symbol, SymbolKind};
use sunseal_mcu::taint::Taint;
use sunseal_mcu::{Device, Elf, Machine, Snapshot, Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Silent, Width};

use crate::taints::decoded;

/// A device, and what its code is drawn from.
struct Kind {
    device: &'static str,
    /// Where code lies, in the first place behind `setup`.
    code: &'static [u32],
    /// What runs once: the watchdog off, the floating-point unit on.
    setup: &'static [u16],
    /// What a reset reads.
    vector: (u32, &'static [u8]),
    /// Flags into a register: marks of registers can be asked for.
    flags: &'static [u16],
    /// Registers that point to memory, low bytes first, and where to.
    pointers: &'static [(&'static [&'static str], u32)],
    /// Their numbers, and the program counter's.
    fixed: &'static [u8],
    /// What code may touch, RAM first: a multiplier, AVR's registers in the data space, RAM and its bits elsewhere.
    windows: &'static [Range<u32>],
    /// Likely words behind an instruction's first.
    behind: &'static [u16],
}

const MSP430F5438A: Kind = Kind {
    device: "msp430f5438a",
    code: &[0x8000],
    setup: &[0x40B2, 0x5A80, 0x015C],
    vector: (0xFFFE, &[0x00, 0x80]),
    flags: &[0x420F], // mov SR, R15
    pointers: &[(&["R4"], 0x1E00), (&["R5"], 0x2200), (&["R6"], 0x2600), (&["SP"], 0x2A00)],
    fixed: &[0, 1, 4, 5, 6],
    windows: &[0x1C00..0x2C00, 0x04C0..0x04F0],
    behind: &[
        0, 1, 2, 4, 0xFFFE, 0x1E00, 0x1E02, 0x2203, 0x04C0, 0x04C2, 0x04C4, 0x04C8, 0x04CA, 0x04CC,
        0x04CE, 0x04D0, 0x04D2, 0x04D8, 0x04E0, 0x04E2, 0x04E4, 0x04E8, 0x04EA, 0x04EC,
    ],
};

const MSP430F1611: Kind = Kind {
    device: "msp430f1611",
    setup: &[0x40B2, 0x5A80, 0x0120],
    pointers: &[(&["R4"], 0x1300), (&["R5"], 0x1700), (&["R6"], 0x1B00), (&["SP"], 0x1F00)],
    windows: &[0x1100..0x2100, 0x0130..0x0140],
    behind: &[
        0, 1, 2, 4, 0xFFFE, 0x1300, 0x1302, 0x1703, 0x0130, 0x0132, 0x0134, 0x0136, 0x0138, 0x013A,
        0x013C, 0x013E,
    ],
    ..MSP430F5438A
};

const ATMEGA128L: Kind = Kind {
    device: "atmega128l",
    code: &[0x200],
    setup: &[0],
    vector: (0, &[0xFF, 0xC0]), // rjmp
    flags: &[0xB60F],           // in r0, SREG
    pointers: &[
        (&["r26", "r27"], 0x300),
        (&["r28", "r29"], 0x700),
        (&["r30", "r31"], 0xB00),
        (&["SP"], 0xF00),
    ],
    fixed: &[26, 27, 28, 29, 30, 31],
    windows: &[0x80_0100..0x80_1100, 0x80_0000..0x80_0020, 0x80_005F..0x80_0060],
    behind: &[0, 1, 2, 15, 16, 25, 0x5F, 0x0300, 0x0301, 0x0700],
};

const MSP432P401R: Kind = Kind {
    device: "msp432p401r",
    code: &[0x1000, 0x2000_8000],
    // WDTCTL = 0x5A80; CPACR = 0xF00000.
    setup: &[
        0xF644, 0x000C, 0xF2C4, 0x0000, 0xF645, 0x2180, 0x8001, // movw, movt, movw, strh
        0xF64E, 0x5088, 0xF2CE, 0x0000, 0xF44F, 0x0170, 0x6001, // movw, movt, mov, str
    ],
    vector: (0, &[0x00, 0x20, 0x00, 0x20, 0x01, 0x10, 0x00, 0x00]),
    flags: &[0xF3EF, 0x8000], // mrs r0, apsr
    pointers: &[
        (&["R4"], 0x2000_1200),
        (&["R5"], 0x2000_1600),
        (&["R6"], 0x0100_1200),
        (&["R8"], 0x2200_0000 + 32 * 0x1200),
        (&["SP"], 0x2000_1E00),
    ],
    fixed: &[4, 5, 6, 8, 13, 15],
    windows: &[0x2000_1000..0x2000_2000, 0x0100_1000..0x0100_2000, 0x2202_0000..0x2204_0000],
    behind: &[],
};

/// Whether it goes elsewhere than to one of the next instructions: AVR skips one.
fn leads_away(kind: &Kind, flow: &Dataflow) -> bool {
    flow.branch_memory || !flow.branch.is_empty() && kind.device != ATMEGA128L.device
}

struct Random(u64);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    fn below(&mut self, n: usize) -> usize {
        self.word() as usize % n
    }
}

/// All that happens, but values.
#[derive(Default)]
struct Way(Vec<(u32, u32, u32, bool)>);

impl Observer for Way {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, _: u32, cycles: u32, _: Flow) {
        self.0.push((pc, cycles, 0, false));
    }

    fn access(&mut self, pc: u32, addr: u32, kind: Access, width: Width, _: u32, _: Cycles) {
        self.0.push((pc, addr, width.bytes(), kind == Access::Write));
    }
}

/// What a run begins with: registers by name, and RAM.
#[derive(Clone)]
struct Begin {
    registers: Vec<(String, u32)>,
    ram: Vec<u8>,
}

/// What is secret: a register, or a byte of RAM.
#[derive(Clone, Copy, Debug)]
enum Secret {
    Register(usize),
    Byte(usize),
}

struct Bench {
    kind: &'static Kind,
    device: Device,
    machine: Machine,
    ready: Snapshot,
    /// Those that are neither pointers nor the program's way, with their numbers in marks.
    free: Vec<(String, u8)>,
    pool: Vec<Vec<u16>>,
}

impl Bench {
    fn new(kind: &'static Kind, instructions: usize) -> Self {
        let device = Device::named(kind.device).unwrap();
        let mut elf = Elf::default();
        elf.architecture = device.architecture();
        let setup: Vec<u8> = kind.setup.iter().flat_map(|w| w.to_le_bytes()).collect();
        for (addr, data) in [(kind.code[0], setup), (kind.vector.0, kind.vector.1.to_vec())] {
            elf.segments.push(Segment {
                load_addr: addr,
                addr,
                mem_bytes: data.len() as u32,
                data,
            });
        }
        let mut machine = Machine::new(&device);
        machine.load(&elf).unwrap();
        let behind = kind.code[0] + 2 * kind.setup.len() as u32;
        assert_eq!(machine.run(&Until::pc(behind), &mut Silent), Stop::Pc(behind));
        let pointers: Vec<_> = kind.pointers.iter().flat_map(|p| p.0).collect();
        let number = |(n, r): (usize, &sunseal_mcu::Register)| match r.name.split_at(1) {
            ("R", n) if *r.name != *"R3" || device.name.starts_with("msp432") => n.parse().ok(),
            ("r", n) => n.parse().ok(),
            ("S", i) => i.parse::<u8>().ok().map(|i| 32 + i),
            ("L", _) => u8::try_from(n).ok(),
            _ => None,
        };
        let registers = machine.registers();
        let named =
            registers.iter().enumerate().filter_map(|r| Some((r.1.name.to_string(), number(r)?)));
        let free = named.filter(|(name, _)| !pointers.iter().any(|p| *p == name)).collect();
        let ready = machine.snapshot();
        let mut bench = Self { kind, device, machine, ready, free, pool: Vec::new() };
        let fixed = kind.fixed.iter().fold(Registers::NONE, |all, r| all | Registers::of(*r));
        let mut random = Random(11);
        while bench.pool.len() < instructions {
            let words = bench.draw(&mut random);
            let flow = decoded(bench.device.architecture(), &words, 0x8000);
            if !flow.is_some_and(|f| f.address.without(fixed).is_empty() && !leads_away(kind, &f)) {
                continue;
            }
            if let Some(words) = bench.taken(words, &mut random) {
                bench.pool.push(words);
            }
        }
        bench
    }

    fn draw(&self, random: &mut Random) -> Vec<u16> {
        let mut words: Vec<u16> = (0..4).map(|_| random.word() as u16).collect();
        for word in &mut words[1..] {
            if !self.kind.behind.is_empty() && random.below(8) != 0 {
                *word = self.kind.behind[random.below(self.kind.behind.len())];
            }
        }
        // MSP430X: an extension word in front.
        if self.kind.device.starts_with("msp430f5") && random.below(4) == 0 {
            words.insert(0, 0x1800 | random.word() as u16 & 0x01CF);
            words[1] |= 0x4000;
        }
        words
    }

    /// The words of the instruction that these begin with, if whatever registers hold it touches only what code may.
    fn taken(&mut self, mut words: Vec<u16>, random: &mut Random) -> Option<Vec<u16>> {
        let at = self.kind.code[0];
        let mut length = None;
        for _ in 0..3 {
            let begin = self.begin(random);
            self.set(at, &words, &begin);
            let until = Until {
                cycles: Some(self.machine.cycles() + 1),
                time: Some(Picos(self.machine.time().0 + 1_000_000_000)),
                ..Until::default()
            };
            let mut way = Way::default();
            let stop = self.machine.run(&until, &mut way);
            let went = self.machine.pc().wrapping_sub(at);
            let readable = |addr| self.machine.read_mem(addr, 1).is_ok();
            let fits = |&(pc, addr, bytes, write): &(u32, u32, u32, bool)| {
                let inside = |r: &Range<u32>| r.contains(&addr) && addr + bytes <= r.end;
                bytes == 0 && pc == at
                    || bytes != 0
                        && (!write && readable(addr) || self.kind.windows.iter().any(inside))
            };
            let steady =
                self.kind.pointers.iter().all(|(names, to)| self.held(names).abs_diff(*to) <= 64);
            // What is written to SR's other bits than flags, sleep and interrupts, is not followed.
            let awake = self.machine.register("SR").is_ok_and(|sr| sr & !0x107 == 0);
            let steady = steady && (awake || !self.kind.device.starts_with("msp430"));
            let goes_on = stop == Stop::Cycles && went <= 2 * words.len() as u32 && went > 0;
            let once = way.0.iter().filter(|w| w.2 == 0).count() == 1;
            if !(goes_on
                && once
                && steady
                && way.0.iter().all(fits)
                && length.is_none_or(|l| l == went))
            {
                self.machine.restore(&self.ready).unwrap();
                return None;
            }
            length = Some(went);
        }
        words.truncate(length? as usize / 2);
        Some(words)
    }

    fn held(&self, names: &[&str]) -> u32 {
        names.iter().rev().fold(0, |all, name| all << 8 | self.machine.register(name).unwrap())
    }

    fn begin(&self, random: &mut Random) -> Begin {
        let mut registers: Vec<_> =
            self.free.iter().map(|(name, _)| (name.clone(), random.word())).collect();
        for register in &mut registers {
            // Small ones too, and floating-point numbers that are some.
            register.1 = match random.below(4) {
                0 => register.1 & 0xFF,
                1 if register.0.starts_with('S') => register.1 & 0x807F_FFFF | 0x3F80_0000,
                1 => register.1 & 0xFFFF,
                _ => register.1,
            };
        }
        for (names, to) in self.kind.pointers {
            let each = names.iter().enumerate();
            registers.extend(each.map(|(i, n)| {
                let value = if names.len() > 1 { to >> (8 * i) & 0xFF } else { *to };
                ((*n).to_owned(), value)
            }));
        }
        let flags = random.word();
        registers.push(match self.kind.device {
            "msp432p401r" => ("xPSR".into(), 1 << 24 | flags & 0xF800_0000),
            "atmega128l" => ("SREG".into(), flags & 0x7F),
            _ => ("SR".into(), flags & 0x107),
        });
        let ram = self.kind.windows[0].clone();
        Begin { registers, ram: ram.map(|_| random.word() as u8).collect() }
    }

    fn set(&mut self, at: u32, words: &[u16], begin: &Begin) {
        let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.machine.write_mem(at, &code).unwrap();
        self.machine.write_mem(self.kind.windows[0].start, &begin.ram).unwrap();
        for (name, value) in &begin.registers {
            self.machine.set_register(name, *value).unwrap();
        }
        self.machine.set_register("PC", at).unwrap();
    }

    /// Runs the words from `at` to their end, by `run`.
    fn run(
        &mut self,
        at: u32,
        words: &[u16],
        begin: &Begin,
        run: impl FnOnce(&mut Machine, &Until) -> Stop,
    ) -> Stop {
        self.machine.restore(&self.ready).unwrap();
        self.set(at, words, begin);
        let until = Until {
            cycles: Some(self.machine.cycles() + 10_000),
            time: Some(Picos(self.machine.time().0 + 10_000_000_000)),
            ..Until::pc(at + 2 * words.len() as u32)
        };
        run(&mut self.machine, &until)
    }

    fn taint(&self, at: u32, words: &[u16]) -> (Taint, Elf) {
        let mut elf = Elf::default();
        elf.architecture = self.device.architecture();
        let data: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let size_bytes = data.len() as u32;
        elf.segments.push(Segment { load_addr: at, addr: at, mem_bytes: size_bytes, data });
        let (name, kind) = ("code".to_owned(), SymbolKind::Function);
        elf.symbols.push(Symbol { name, addr: at, size_bytes, kind, global: true });
        (Taint::of(&self.device, &elf), elf)
    }

    /// Whether the runs went to their end on one way, if nothing was wrong with the marks.
    fn judge(
        &mut self,
        at: u32,
        words: &[u16],
        begin: &Begin,
        secrets: &[(Secret, u32)],
    ) -> Result<bool, String> {
        let words = [words, self.kind.flags].concat();
        let (mut taint, elf) = self.taint(at, &words);
        let mut other = begin.clone();
        for &(secret, change) in secrets {
            match secret {
                Secret::Register(i) => {
                    taint.mark_register(self.free[i].1);
                    other.registers[i].1 ^= change;
                }
                Secret::Byte(i) => {
                    let addr = self.kind.windows[0].start + i as u32;
                    taint.mark_secret(addr..addr + 1);
                    other.ram[i] ^= change as u8;
                }
            }
        }
        let (mut one, mut two) = (Way::default(), Way::default());
        let end = Stop::Pc(at + 2 * words.len() as u32);
        let reached = self.run(at, &words, &other, |m, until| m.run(until, &mut two)) == end;
        let (registers, ram) = (self.machine.registers(), self.ram());
        if !reached || self.run(at, &words, begin, |m, until| m.run(until, &mut one)) != end {
            return Ok(false);
        }
        if one.0 != two.0 {
            let both = one.0.iter().zip(&two.0);
            let parts = both.take_while(|(a, b)| a == b).count();
            let near = &one.0[parts.saturating_sub(1)..one.0.len().min(parts + 1)];
            self.run(at, &words, begin, |m, until| m.run_tainted(until, &mut taint));
            let told: Vec<u32> = taint.findings(&elf).iter().map(|f| f.pc).collect();
            if near.iter().any(|way| told.contains(&way.0)) {
                return Ok(false);
            }
            return Err(format!("runs part at {near:x?} and findings stand at {told:x?}"));
        }
        assert_eq!(self.run(at, &words, begin, |m, until| m.run_tainted(until, &mut taint)), end);
        for (name, number) in &self.free {
            let differs = self.machine.registers().into_iter().zip(&registers);
            let differs = differs.filter(|(r, _)| r.name == *name).any(|(a, b)| a.value != b.value);
            if differs && !taint.is_register_marked(*number) {
                return Err(format!("{name} differs without a mark"));
            }
        }
        let start = self.kind.windows[0].start;
        for (addr, (a, b)) in (start..).zip(self.ram().iter().zip(&ram)) {
            if a != b && !taint.is_marked(addr) {
                return Err(format!("{addr:#x} differs without a mark"));
            }
        }
        Ok(true)
    }

    fn ram(&self) -> Vec<u8> {
        let ram = &self.kind.windows[0];
        self.machine.read_mem(ram.start, ram.len()).unwrap().to_vec()
    }
}

/// Each instruction alone, then many of them.
fn marks_go_where_secrets_go(kind: &'static Kind) {
    let bench = RefCell::new(Bench::new(kind, 800));
    let (pool, registers) = (bench.borrow().pool.clone(), bench.borrow().free.len());
    // Where pointers point to, and a little beside.
    let places = vec![0x200, 0x600, 0xA00, 0xE00];
    let secret = prop_oneof![
        (0..registers).prop_map(Secret::Register),
        (prop::sample::select(places), 0usize..24).prop_map(|(to, by)| Secret::Byte(to + by - 8)),
    ];
    let secrets = prop::collection::vec((secret, 1..=u32::MAX), 1..3);
    let code = prop::sample::select(kind.code.to_vec());
    let alone = prop::collection::vec(0..pool.len(), 1);
    let many = prop::collection::vec(0..pool.len(), 2..24);
    let one_way = RefCell::new(0u32);
    let times = if std::env::var_os("SUNSEAL_SLOW").is_some() { 10 } else { 1 };
    for (program, cases) in [(alone.boxed(), 250 * times), (many.boxed(), 200 * times)] {
        let config =
            ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let drawn = (program, secrets.clone(), code.clone(), 1u64..);
        let result = runner.run(&drawn, |(program, secrets, at, seed)| {
            let words: Vec<u16> = program.iter().flat_map(|i| pool[*i].clone()).collect();
            let mut bench = bench.borrow_mut();
            let begin = bench.begin(&mut Random(seed));
            let whole = bench.judge(at, &words, &begin, &secrets);
            *one_way.borrow_mut() +=
                u32::from(whole.map_err(|e| TestCaseError::fail(format!("{e}: {words:04x?}")))?);
            Ok(())
        });
        if let Err(TestError::Fail(why, (_, secrets, at, seed))) = result {
            let free = &bench.borrow().free;
            panic!(
                "{}: {why}, secrets {secrets:x?} of {free:?}, from {at:#x}, seed {seed}",
                kind.device
            );
        }
        result.unwrap();
    }
    let one_way = *one_way.borrow();
    println!("{}: {one_way} runs went one way", kind.device);
    assert!(one_way > 350 * times, "{one_way}");
}

#[test]
fn on_an_msp430x_with_its_multiplier() {
    marks_go_where_secrets_go(&MSP430F5438A);
}

#[test]
fn on_an_msp430_with_its_multiplier() {
    marks_go_where_secrets_go(&MSP430F1611);
}

#[test]
fn on_an_avr() {
    marks_go_where_secrets_go(&ATMEGA128L);
}

#[test]
fn on_a_cortex_m4() {
    marks_go_where_secrets_go(&MSP432P401R);
}
