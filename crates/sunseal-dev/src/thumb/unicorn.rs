// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs beside Unicorn's Cortex-M4: registers, flags, floating-point state and memory in the end.

use sunseal_isa::thumb::{
    Bus, Context, Cpu, Exit, FloatUnary, Insn, Kind, Scb, Timing, Usage, control, fpscr, psr,
};
use sunseal_isa::{Cycles, Fault, FaultKind, Silent, Width};

use super::draw::{RAM, RAM_BYTES, Unit, decoded, unit};
use crate::fuzz::{Program, Target, Verdict};
use crate::random::Random;
use crate::tools::Driver;
use crate::torture::End;

/// Mapped code, and where a program begins in it.
const CODE: u32 = 0x0001_0000;
const CODE_BYTES: usize = 0x1_0000;
const PROGRAM: u32 = CODE + 0x2000;
const UNITS: u32 = 24;
const BKPT: u16 = 0xBE00;
/// Instructions of a program, at most.
const MOST: u32 = 10_000_000;
/// R0 to R15, APSR, FPSCR, S0 to S31.
const REGISTERS: usize = 50;
const APSR: usize = 16;
const FPSCR: usize = 17;
const S: usize = 18;
const ANSWER_BYTES: usize = 4 + 4 * REGISTERS + RAM_BYTES as usize;

/// Where Unicorn 2.0.1 departs from the manual, and so is no judge, by name. `modes` are those of FPSCR that the
/// program begins with or may set.
fn fault_of_unicorn(kind: Kind, modes: u32) -> Option<&'static str> {
    match kind {
        Kind::FloatUnary { op: FloatUnary::FromFixed { .. }, .. } if modes & fpscr::RMODE != 0 => {
            Some("VCVT from fixed point rounds as FPSCR says; A7.7 has it round to nearest")
        }
        Kind::Mrs { special: 20, .. } => Some("CONTROL has SFPA, a bit of Armv8-M"),
        _ => None,
    }
}

/// libunicorn in a process of its own.
pub struct Unicorn {
    driver: Driver,
    /// How the programs are laid out, for disassembly in reports.
    cpu: Cpu,
}

impl Unicorn {
    /// Compiles the driver.
    ///
    /// # Errors
    /// If there is no C compiler or no libunicorn, and how to get it.
    pub fn new(folder: &std::path::Path) -> Result<Self, String> {
        let driver = Driver::compile(folder, "unicorn", include_str!("unicorn.c"))?;
        Ok(Self { driver, cpu: Cpu::new(Timing::CORTEX_M4) })
    }

    /// Runs a program here.
    fn run(&mut self, program: &Program<Unit>) -> Ours {
        let code = code_of(program);
        let mut memory = vec![0; CODE_BYTES];
        let at = (PROGRAM - CODE) as usize;
        memory[at..at + code.len()].copy_from_slice(&code);
        let mut bus = Memory::new(memory, ram_of(program), Cycles::MAX);
        let cpu = &mut self.cpu;
        cpu.invalidate(CODE..CODE + CODE_BYTES as u32);
        let mut state = cpu.state();
        state.r.copy_from_slice(&program.registers[..16]);
        state.psr = psr::T | program.registers[APSR] & psr::APSR;
        state.fpscr = program.registers[FPSCR];
        state.s.copy_from_slice(&program.registers[S..]);
        state.exclusive = false;
        state.control = control::FPCA;
        cpu.set_state(&state);
        // Half of the programs instruction by instruction, which is other code.
        let single = program.memory & 1 != 0;
        let mut instructions = 0;
        let exit = loop {
            let exit = if single {
                cpu.step(&mut bus, &mut Silent)
            } else {
                cpu.run(&mut bus, &mut Silent)
            };
            instructions += 1;
            if exit != Exit::Deadline && exit != Exit::Status || instructions > 100_000 {
                break exit;
            }
        };
        let mut registers = cpu.r.to_vec();
        registers.push(cpu.psr & psr::APSR);
        registers.push(cpu.fpscr);
        registers.extend(cpu.s);
        let word = bus.fetch(cpu.r[15]).unwrap_or(0);
        Ours { exit, registers, ram: bus.ram, masked: bus.masked, word }
    }
}

impl Unicorn {
    /// Where [`compare_image`](Self::compare_image) has the code begin and the data.
    pub const IMAGE: (u32, u32) = (PROGRAM, RAM);

    /// Runs a linked program, whose first function lies at its beginning and returns, here and there.
    ///
    /// # Errors
    /// If the other simulator cannot be run.
    pub fn compare_image(&mut self, words: Vec<u16>) -> Result<Verdict, String> {
        let mut registers = vec![0; REGISTERS];
        registers[13] = RAM + RAM_BYTES;
        registers[14] = (PROGRAM + 2 * words.len() as u32) | 1;
        registers[15] = PROGRAM;
        let program = Program { registers, memory: 0, insns: vec![Unit(words)] };
        Ok(self.judge(&[program])?.remove(0))
    }
}

/// What the driver reads first: how much code and RAM there is, and whether RAM holds code.
fn mapped(code_bytes: usize, ram_bytes: usize, ram_runs: bool) -> Vec<u8> {
    let head = [code_bytes as u32, ram_bytes as u32, ram_runs.into()];
    head.iter().flat_map(|n| n.to_ne_bytes()).collect()
}

/// What the driver reads for each program.
fn request(to: &mut Vec<u8>, most: u32, until: u32, registers: &[u32], ram: &[u8], code: &[u8]) {
    for word in [most, until, code.len() as u32].iter().chain(registers) {
        to.extend(word.to_ne_bytes());
    }
    to.extend(ram);
    to.extend(code);
}

/// A program whose variables are where they belong, here and there.
impl Unicorn {
    /// Mapped code and RAM of a [`Linked`] program.
    const LINKED_BYTES: usize = 1 << 19;
    /// Cycles here and instructions there at most.
    const LINKED_MOST: u32 = 100_000_000;
    /// Where its code begins, where its variables do, and where RAM ends.
    pub const LINKED: (u32, u32, u32) = (PROGRAM, RAM, RAM + Self::LINKED_BYTES as u32);

    /// Registers and memory where it stops here.
    #[must_use]
    pub fn linked_here(program: &Linked) -> End {
        let mut code = vec![0; Self::LINKED_BYTES];
        let at = (PROGRAM - CODE) as usize;
        code[at..at + program.code.len()].copy_from_slice(&program.code);
        let mut bus = Memory::new(code, program.ram(), Self::LINKED_MOST.into());
        let mut cpu = Cpu::new(Timing::CORTEX_M4);
        cpu.set_breakpoints(&[program.until]);
        let mut state = cpu.state();
        state.r.copy_from_slice(&program.registers()[..16]);
        state.psr = psr::T;
        state.control = control::FPCA;
        cpu.set_state(&state);
        let stopped = match cpu.run(&mut bus, &mut Silent) {
            Exit::Breakpoint => Ok(cpu.r[0]),
            Exit::Deadline => Err(format!("it does not end within {} cycles", Self::LINKED_MOST)),
            Exit::Fault(fault) => Err(fault.to_string()),
            exit => Err(format!("it leaves the core at {:#x}: {exit:?}", cpu.r[15])),
        };
        let registers = cpu.r.into_iter().chain([cpu.psr & psr::APSR, cpu.fpscr]).chain(cpu.s);
        End { status: stopped, registers: registers.collect(), memory: bus.ram, cycles: None }
    }

    /// The same in Unicorn.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn linked_there(&self, program: &Linked) -> Result<End, String> {
        let mut requests = mapped(Self::LINKED_BYTES, Self::LINKED_BYTES, true);
        let (most, until, registers) = (Self::LINKED_MOST, program.until, program.registers());
        request(&mut requests, most, until, &registers, &program.ram(), &program.code);
        let answer = self.driver.ask(requests)?;
        let head = 4 + 4 * REGISTERS;
        if answer.len() != head + Self::LINKED_BYTES {
            return Err("the driver of libunicorn did not answer".to_owned());
        }
        let mut words =
            answer[..head].chunks(4).map(|b| u32::from_ne_bytes(b.try_into().expect("four bytes")));
        let error = words.next().unwrap_or(0);
        let mut registers: Vec<u32> = words.collect();
        registers[APSR] &= psr::APSR;
        let status = match (error, registers[15]) {
            (0, pc) if pc == program.until => Ok(registers[0]),
            (error, pc) => Err(format!("it stops at {pc:#x}, error {error} of Unicorn's")),
        };
        Ok(End { status, registers, memory: answer[head..].to_vec(), cycles: None })
    }
}

/// A program with its variables.
pub struct Linked {
    /// From the first address of [`Unicorn::LINKED`] on.
    pub code: Vec<u8>,
    /// From the second on.
    pub data: Vec<u8>,
    /// Address of its first instruction.
    pub entry: u32,
    /// Where it ends, its status in R0.
    pub until: u32,
}

impl Linked {
    fn registers(&self) -> Vec<u32> {
        let mut registers = vec![0; REGISTERS];
        registers[13] = Unicorn::LINKED.2;
        registers[15] = self.entry;
        registers
    }

    fn ram(&self) -> Vec<u8> {
        let mut ram = self.data.clone();
        ram.resize(Unicorn::LINKED_BYTES, 0);
        ram
    }
}

struct Ours {
    exit: Exit,
    registers: Vec<u32>,
    ram: Vec<u8>,
    masked: Option<&'static str>,
    /// The halfword at the program counter.
    word: u16,
}

/// What a unit may run, read from its beginning.
fn insns_of(unit: &Unit) -> Vec<Insn> {
    let mut insns = Vec::new();
    let mut words = &unit.0[..];
    while let Some(&first) = words.first() {
        insns.extend(decoded(words, Context::Outside));
        words = &words[(1 + usize::from(first >> 11 >= 0b11101)).min(words.len())..];
    }
    insns
}

fn code_of(program: &Program<Unit>) -> Vec<u8> {
    let words = program.insns.iter().flat_map(|unit| &unit.0).chain(&[BKPT]);
    words.flat_map(|word| word.to_le_bytes()).collect()
}

fn ram_of(program: &Program<Unit>) -> Vec<u8> {
    let mut random = Random::new(program.memory, "memory");
    (0..RAM_BYTES).map(|_| random.value(8) as u8).collect()
}

/// The memory that the driver maps.
struct Memory {
    code: Vec<u8>,
    ram: Vec<u8>,
    scb: Scb,
    masked: Option<&'static str>,
    deadline: Cycles,
}

impl Memory {
    fn new(code: Vec<u8>, ram: Vec<u8>, deadline: Cycles) -> Self {
        let scb = Scb { cpacr: 0xF << 20, ..Scb::default() };
        Self { code, ram, scb, masked: None, deadline }
    }

    fn place(&mut self, addr: u32, width: Width) -> Result<&mut [u8], Fault> {
        let n = width.bytes() as usize;
        let (bytes, at) = match addr {
            RAM.. if addr - RAM < self.ram.len() as u32 => (&mut self.ram, (addr - RAM) as usize),
            CODE.. if addr - CODE < self.code.len() as u32 => {
                (&mut self.code, (addr - CODE) as usize)
            }
            _ => return Err(Fault::unmapped(addr)),
        };
        bytes.get_mut(at..at + n).ok_or_else(|| Fault::unmapped(addr))
    }
}

impl Bus for Memory {
    fn read(&mut self, addr: u32, width: Width, _: Cycles) -> Result<u32, Fault> {
        let bytes = self.place(addr, width)?;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte)))
    }

    fn write(&mut self, addr: u32, width: Width, value: u32, _: Cycles) -> Result<(), Fault> {
        if addr < RAM {
            self.masked = Some("a store into the code");
        }
        let bytes = self.place(addr, width)?;
        bytes.copy_from_slice(&value.to_le_bytes()[..bytes.len()]);
        Ok(())
    }

    fn fetch(&mut self, addr: u32) -> Result<u16, Fault> {
        Ok(self.read(addr, Width::W16, 0).map_err(|_| Fault::not_code(addr))? as u16)
    }

    fn cacheable(&self, addr: u32) -> bool {
        addr < RAM
    }

    fn deadline(&self) -> Cycles {
        self.deadline
    }

    fn scb(&self) -> &Scb {
        &self.scb
    }

    fn scb_mut(&mut self) -> &mut Scb {
        &mut self.scb
    }
}

/// A single-precision number of the kinds that matter.
pub(super) fn float(random: &mut Random) -> u32 {
    let sign = random.word() & 1 << 31;
    sign | match random.below(8) {
        0 => random.pick(&[
            0,
            1,
            0x7F_FFFF,
            0x80_0000,
            0x3F80_0000,
            0x7F7F_FFFF,
            0x7F80_0000,
            0x7F80_0001,
            0x7FC0_0000,
            0x4F00_0000,
            0x4EFF_FFFF,
            0x3F00_0000,
        ]),
        1 => random.word() & 0x7F_FFFF,
        2 => 0x7F80_0000 | random.word() & 0x7F_FFFF,
        3 | 4 => (120 + random.below(20)) << 23 | random.word() & 0x7F_FFFF,
        5 => (120 + random.below(20)) << 23 | random.word() & 0x7F_0000,
        _ => random.word() & 0x7FFF_FFFF,
    }
}

impl Target for Unicorn {
    type Insn = Unit;

    fn name(&self) -> String {
        "the Armv7E-M core beside Unicorn's Cortex-M4".to_owned()
    }

    fn draw(&mut self, random: &mut Random) -> Program<Unit> {
        let mut registers: Vec<u32> = (0..16).map(|_| random.value(32)).collect();
        registers[13] = RAM + RAM_BYTES / 2;
        registers[15] = PROGRAM;
        registers.push(random.word() & psr::APSR);
        let modes = 0x07C0_0000 | 0xF000_0000;
        registers.push(random.word() & if random.one_in(2) { 0xF000_009F } else { modes });
        registers.extend((0..32).map(|_| float(random)));
        let count = 1 + random.below(UNITS);
        let insns = (0..count).map(|_| unit(random)).collect();
        Program { registers, memory: random.word().into(), insns }
    }

    fn judge(&mut self, programs: &[Program<Unit>]) -> Result<Vec<Verdict>, String> {
        let mut requests = mapped(CODE_BYTES, RAM_BYTES as usize, false);
        for program in programs {
            let code = code_of(program);
            let until = PROGRAM + code.len() as u32 - 2;
            request(&mut requests, MOST, until, &program.registers, &ram_of(program), &code);
        }
        let answers = self.driver.ask(requests)?;
        if answers.len() != ANSWER_BYTES * programs.len() {
            return Err("the driver of libunicorn did not answer all requests".to_owned());
        }
        let answers = answers.chunks_exact(ANSWER_BYTES);
        Ok(programs
            .iter()
            .zip(answers)
            .map(|(program, answer)| self.verdict(program, answer))
            .collect())
    }

    fn simpler(&self, unit: &Unit) -> Vec<Unit> {
        // The last instruction of a unit is what it is about: leave out what makes its address.
        (1..unit.0.len()).map(|i| Unit(unit.0[i..].to_vec())).collect()
    }

    fn as_test(&self, program: &Program<Unit>, why: &str) -> String {
        let code: Vec<_> = program.insns.iter().map(|unit| format!("{:04x?}", unit.0)).collect();
        format!(
            "// {why}\n// {}\n// r and flags: {:x?}\n// memory seed {:#x}\n{}",
            self.name(),
            program.registers,
            program.memory,
            code.join("\n")
        )
    }
}

impl Unicorn {
    fn verdict(&mut self, program: &Program<Unit>, answer: &[u8]) -> Verdict {
        for unit in &program.insns {
            let insns = insns_of(unit);
            let any = |wanted: fn(&Kind) -> bool| insns.iter().any(|insn| wanted(&insn.kind));
            if any(|kind| matches!(kind, Kind::It { .. }))
                && any(|kind| matches!(kind, Kind::Barrier(..)))
            {
                return Verdict::Masked("a barrier in an IT block loses the rest of ITSTATE");
            }
        }
        let insns: Vec<_> = program.insns.iter().flat_map(insns_of).collect();
        let sets_modes = insns.iter().any(|insn| matches!(insn.kind, Kind::Vmsr { .. }));
        let modes = if sets_modes { fpscr::ALL } else { program.registers[FPSCR] };
        if let Some(why) = insns.iter().find_map(|insn| fault_of_unicorn(insn.kind, modes)) {
            return Verdict::Masked(why);
        }
        let word =
            |i: usize| u32::from_ne_bytes(answer[4 * i..4 * i + 4].try_into().expect("four bytes"));
        let error = word(0);
        let ours = self.run(program);
        if let Some(why) = ours.masked {
            return Verdict::Masked(why);
        }
        match &ours.exit {
            Exit::Bkpt(0) => {}
            Exit::Fault(fault) if matches!(fault.kind(), FaultKind::IllegalOpcode { .. }) => {
                let FaultKind::IllegalOpcode { reason, .. } = fault.kind() else { unreachable!() };
                return Verdict::Masked(reason);
            }
            Exit::Usage { cause: Usage::Unaligned, .. } => {
                return Verdict::Masked(
                    "Unicorn transfers several words at an unaligned address; A3.2.1 has it fault",
                );
            }
            Exit::Usage { cause: Usage::Undefined, .. }
                if error == 0 && ours.word & 0xFFBE == 0xEEB6 =>
            {
                return Verdict::Masked("VRINT of FPv5, which the Cortex-M4 lacks");
            }
            Exit::Usage { cause: Usage::Undefined, .. } if ours.word & 0xFF1F == 0xF80F => {
                return Verdict::Masked("a store relative to PC, which is UNDEFINED");
            }
            Exit::Usage { cause: Usage::Undefined, .. } if ours.word & 0xFF10 == 0xF900 => {
                return Verdict::Masked(
                    "loads and stores of Advanced SIMD, which the Cortex-M4 lacks",
                );
            }
            _ if error != 0 => return Verdict::Masked("both refuse an instruction or an address"),
            exit => return Verdict::Differ(format!("ours ends with {exit:?}, Unicorn runs on")),
        }
        if error != 0 {
            return Verdict::Differ(format!("Unicorn ends with error {error} at {:#x}", word(16)));
        }
        let names = |i: usize| match i {
            0..16 => format!("r{i}"),
            APSR => "APSR".to_owned(),
            FPSCR => "FPSCR".to_owned(),
            _ => format!("s{}", i - S),
        };
        for i in (0..REGISTERS).filter(|&i| i != 15) {
            let theirs = if i == APSR { word(1 + i) & psr::APSR } else { word(1 + i) };
            if theirs != ours.registers[i] {
                return Verdict::Differ(format!(
                    "{} is {:#x} here, {theirs:#x} in Unicorn",
                    names(i),
                    ours.registers[i]
                ));
            }
        }
        let ram = &answer[4 + 4 * REGISTERS..];
        if let Some(i) = (0..ram.len()).find(|&i| ram[i] != ours.ram[i]) {
            return Verdict::Differ(format!(
                "the byte at {:#x} is {:#x} here, {:#x} in Unicorn",
                RAM as usize + i,
                ours.ram[i],
                ram[i]
            ));
        }
        Verdict::Agree { instructions: program.insns.len() as u64 }
    }
}
