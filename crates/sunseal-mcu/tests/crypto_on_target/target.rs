// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions of a bench program, called one by one on the machine.

use std::path::{Path, PathBuf};

use sunseal_mcu::{Device, Elf, Machine, Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Silent, Width};

pub const VARIANTS: [&str; 3] = ["mpy-none", "mpy-16", "mpy-32"];

/// Buffers of a call; the programs' own variables end far below, their stack starts far above.
const BUFFERS: u32 = 0x3000;
pub const STACK_TOP: u32 = 0x5B00;
pub const RAM: std::ops::Range<u32> = 0x1C00..0x5C00;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn program_path(variant: &str, program: &str) -> PathBuf {
    root().join(format!("firmware/build/msp430f5438a-anagear/{variant}/{program}.elf"))
}

pub fn program(variant: &str, program: &str) -> Elf {
    let path = program_path(variant, program);
    let bytes = std::fs::read(&path).unwrap_or_else(|e| {
        panic!("{}: {e}; build the firmware with `make firmware`", path.display())
    });
    Elf::parse(&bytes).unwrap()
}

/// An argument of a call.
#[derive(Clone)]
pub enum Arg {
    Value(u16),
    /// Bytes in RAM, given by address.
    Bytes(Vec<u8>),
}

impl Arg {
    pub fn room(bytes: usize) -> Self {
        Self::Bytes(vec![0xA5; bytes])
    }
}

/// What a call left behind.
pub struct Returned {
    pub r12: u16,
    /// The buffers, in the order of the arguments; empty for a value.
    pub buffers: Vec<Vec<u8>>,
    pub places: Vec<std::ops::Range<u32>>,
}

impl Returned {
    pub fn status(&self) -> i16 {
        self.r12 as i16
    }
}

/// A program that has come to the call of its `main` and goes no further by itself.
pub struct Target {
    pub elf: Elf,
    pub machine: Machine,
    main: u32,
}

impl Target {
    pub fn new(variant: &str, name: &str) -> Self {
        let elf = program(variant, name);
        let mut machine = Machine::new(&Device::msp430f5438a());
        machine.fault_on_lints(true);
        machine.load(&elf).unwrap();
        let main = elf.symbol("main").unwrap().addr;
        assert_eq!(machine.run(&Until::pc(main), &mut Silent), Stop::Pc(main));
        Self { elf, machine, main }
    }

    /// Calls a function by the MSP430 EABI (SLAA534): four words in R12 to R15, the rest on the stack.
    pub fn call<O: Observer>(&mut self, name: &str, args: &[Arg], observer: &mut O) -> Returned {
        let function = self.elf.symbol(name).unwrap().addr;
        let mut places = Vec::new();
        let mut values = Vec::new();
        let mut at = BUFFERS;
        for arg in args {
            let bytes = match arg {
                Arg::Value(value) => {
                    values.push(*value);
                    places.push(0..0);
                    continue;
                }
                Arg::Bytes(bytes) => bytes,
            };
            self.machine.write_mem(at, bytes).unwrap();
            values.push(at as u16);
            places.push(at..at + bytes.len() as u32);
            at = (at + bytes.len() as u32 + 9) & !1;
        }
        assert!(at < STACK_TOP - 0x800);
        let mut sp = STACK_TOP;
        for value in values.iter().skip(4).rev() {
            sp -= 2;
            self.machine.write_mem(sp, &value.to_le_bytes()).unwrap();
        }
        sp -= 2;
        self.machine.write_mem(sp, &(self.main as u16).to_le_bytes()).unwrap();
        self.machine.set_reg(0, function);
        self.machine.set_reg(1, sp);
        for (reg, value) in (12..16).zip(&values) {
            self.machine.set_reg(reg, u32::from(*value));
        }
        let stop = self.machine.run(&Until::pc(self.main), observer);
        assert_eq!(stop, Stop::Pc(self.main), "{name}: {stop:?}");
        let buffers = places
            .iter()
            .map(|p| self.machine.read_mem(p.start.max(RAM.start), p.len()).unwrap().to_vec())
            .collect();
        Returned { r12: self.machine.reg(12) as u16, buffers, places }
    }
}

/// The deepest stack of a call and how often some functions were entered.
#[derive(Default)]
pub struct Watch {
    pub low: Option<u32>,
    pub count_at: Option<u32>,
    pub entries: usize,
}

impl Observer for Watch {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = false;

    fn instruction(&mut self, _: u32, sp: u32, _: u32, flow: Flow) {
        // Before start-up has set it, SP is 0.
        if sp != 0 {
            self.low = Some(self.low.map_or(sp, |low| low.min(sp)));
        }
        if let Flow::Call { target } = flow {
            self.entries += usize::from(Some(target) == self.count_at);
        }
    }

    fn access(&mut self, _: u32, _: u32, _: Access, _: Width, _: u32, _: Cycles) {}
}

/// Generator of repeatable noise for operands.
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u16 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u16
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.word() as u8).collect()
    }
}
