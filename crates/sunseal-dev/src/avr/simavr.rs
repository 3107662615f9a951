// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs beside simavr: registers, flags, stack, program counter and cycles behind every instruction, memory in the
//! end.

use sunseal_isa::Silent;
use sunseal_isa::avr::{Cpu, Exit, FlatBus, Insn, Mnemonic, Operand, Step, Timing, decode};

use super::{PATTERNS, PC, RAM, REGISTERS, data_address, draw_registers, state, values, word};
use crate::fuzz::{Program, Target, Verdict};
use crate::random::Random;
use crate::tools::Driver;
use crate::torture::End;

/// Where programs lie, in words.
const CODE: u32 = 0x1000;
/// Instructions that a program takes at most: there are loops.
const STEPS: usize = 400;
const INSTRUCTIONS: u32 = 60;
const RAM_BYTES: usize = (RAM.end - RAM.start) as usize;
/// What simavr tells of each step: `struct state` in simavr.c.
const STATE_BYTES: usize = 44;
/// For a program that runs for so many steps instead of to an address.
const NOWHERE: u32 = u32::MAX;
/// Instructions that a whole program takes at most.
const MOST: u32 = 50_000_000;

/// Registers of the I/O space that only remember, here and in simavr: EEDR, EEARL, EEARH.
const PLAIN_IO: [u16; 3] = [0x1D, 0x1E, 0x1F];
/// The core's own: RAMPZ, SPL, SPH, SREG.
const CORE_IO: [u16; 4] = [0x3B, 0x3D, 0x3E, 0x3F];

/// Where simavr departs from the manual, and so is no judge, by name.
fn fault_of_simavr(insn: &Insn, behind: u16, cpu: &Cpu) -> Option<&'static str> {
    match insn.mnemonic {
        Mnemonic::Out if insn.first == Operand::Io(0x3B) => {
            let Operand::Reg(from) = insn.second else { return None };
            (cpu.r[usize::from(from)] > 1).then_some(
                "RAMPZ keeps its reserved bits there; the datasheet has them read as zero",
            )
        }
        Mnemonic::Sleep | Mnemonic::Break | Mnemonic::Spm => {
            Some("SLEEP, BREAK and SPM lead out of the core, there and here")
        }
        // JMP and CALL are 1001 010k kkkk 11xk: it leaves bits 9 and 8 out of the comparison.
        _ if insn.is_skip() && behind & 0xFE0C == 0x960C => {
            Some("a skip over ADIW or SBIW of some constants skips two words there")
        }
        Mnemonic::Elpm
            if matches!(insn.second, Operand::Pointer(_, Step::Increment))
                && (cpu.rampz, cpu.r[30], cpu.r[31]) == (1, 0xFF, 0xFF) =>
        {
            Some("RAMPZ counts beyond the end of flash there; it has one bit")
        }
        Mnemonic::St if stores_into_its_pointer(insn, cpu) => Some(
            "a store through X, Y or Z into that very pointer is overwritten by the pointer there",
        ),
        _ if insn.is_undefined() => {
            Some("a pointer that is stepped and loaded or stored at once: undefined in the manual")
        }
        _ => None,
    }
}

/// Whether a store's address is one of the two registers that it is made of.
fn stores_into_its_pointer(insn: &Insn, cpu: &Cpu) -> bool {
    let Operand::Pointer(low, step) = insn.first else { return false };
    pointed_at(low, step, cpu) & !1 == u16::from(low)
}

/// The address of an access through a pointer.
fn pointed_at(low: u8, step: Step, cpu: &Cpu) -> u16 {
    let i = usize::from(low);
    let pointer = u16::from_le_bytes([cpu.r[i], cpu.r[i + 1]]);
    match step {
        Step::Stay(q) => pointer.wrapping_add(q.into()),
        Step::Increment => pointer,
        Step::Decrement => pointer.wrapping_sub(1),
    }
}

/// An instruction of a program: one word, or two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<u16>);

/// libsimavr in a process of its own.
pub struct Simavr {
    driver: Driver,
}

impl Simavr {
    /// Compiles the driver.
    ///
    /// # Errors
    /// If there is no C compiler or no libsimavr, and how to get it.
    pub fn new(folder: &std::path::Path) -> Result<Self, String> {
        let driver = Driver::compile(folder, "simavr", include_str!("simavr.c"))?;
        Ok(Self { driver })
    }
}

fn memory(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed, "memory");
    (0..RAM_BYTES).map(|_| random.value(8) as u8).collect()
}

/// What our core did with a program.
struct Ours {
    /// Registers behind each step, with its cycles.
    steps: Vec<(Vec<u32>, u32)>,
    memory: Vec<u8>,
    /// Why the program was not run to its end, if that is a fault of simavr's.
    masked: Option<&'static str>,
}

fn run(program: &Program<Words>) -> Ours {
    let words: Vec<u16> = program.insns.iter().flat_map(|i| i.0.iter().copied()).collect();
    let mut bus = FlatBus::new();
    bus.load(CODE, &words);
    let start = usize::from(FlatBus::RAM_START);
    bus.data_mut()[start..start + RAM_BYTES].copy_from_slice(&memory(program.memory));
    let mut cpu = Cpu::new(Timing { trap_undefined: false, ..Timing::AVRE });
    cpu.set_state(&state(&program.registers));
    cpu.pc = CODE as u16;
    let mut steps = Vec::new();
    let mut masked = None;
    let inside = CODE..CODE + words.len() as u32;
    while steps.len() < STEPS && inside.contains(&cpu.pc.into()) {
        let Ok(insn) = decode(cpu.pc.into(), |addr| Ok(bus.flash()[addr as usize])) else { break };
        let behind = bus.flash()[usize::from(cpu.pc) + 1];
        masked = fault_of_simavr(&insn, behind, &cpu).or_else(|| leaves_memory(&insn, &cpu));
        if masked.is_some() {
            break;
        }
        let before = cpu.cycles;
        if let Exit::Fault(_) = cpu.step(&mut bus, &mut Silent) {
            break;
        }
        steps.push((values(&cpu), (cpu.cycles - before) as u32));
    }
    Ours { steps, memory: bus.data()[start..start + RAM_BYTES].to_vec(), masked }
}

/// Accesses to the I/O space through the data space and to registers there that do more than remember.
fn leaves_memory(insn: &Insn, cpu: &Cpu) -> Option<&'static str> {
    const WHY: &str = "reaches an I/O register that is a peripheral's there";
    let io = |addr: u16| PLAIN_IO.contains(&addr) || CORE_IO.contains(&addr);
    let data = |addr: u16| (0x20..0x100).contains(&addr) && !PLAIN_IO.contains(&(addr - 0x20));
    let stack = |bytes: std::ops::RangeInclusive<i16>| {
        bytes.into_iter().any(|n| data(cpu.sp.wrapping_add_signed(n)))
    };
    let bad = match (insn.mnemonic, insn.first, insn.second) {
        (_, Operand::Io(addr), _) | (_, _, Operand::Io(addr)) => !io(addr.into()),
        (Mnemonic::Ld, _, Operand::Pointer(low, step))
        | (Mnemonic::St, Operand::Pointer(low, step), _) => data(pointed_at(low, step, cpu)),
        (Mnemonic::Lds | Mnemonic::Sts, Operand::Data(addr), _)
        | (Mnemonic::Lds | Mnemonic::Sts, _, Operand::Data(addr)) => data(addr),
        (Mnemonic::Push, ..) => stack(0..=0),
        (Mnemonic::Call | Mnemonic::Rcall | Mnemonic::Icall, ..) => stack(-1..=0),
        (Mnemonic::Pop, ..) => stack(1..=1),
        (Mnemonic::Ret | Mnemonic::Reti, ..) => stack(1..=2),
        _ => false,
    };
    bad.then_some(WHY)
}

fn request(program: &Program<Words>, steps: u32, to: &mut Vec<u8>) {
    let words: Vec<u16> = program.insns.iter().flat_map(|i| i.0.iter().copied()).collect();
    for value in [steps, words.len() as u32, CODE, NOWHERE] {
        to.extend(value.to_le_bytes());
    }
    to.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    let s = state(&program.registers);
    to.extend(s.r);
    to.extend((2 * CODE).to_le_bytes());
    to.extend(0_u32.to_le_bytes());
    to.extend(s.sp.to_le_bytes());
    to.extend([s.sreg, s.rampz]);
    to.extend(memory(program.memory));
}

/// The registers and cycles of a state of simavr's.
fn theirs(state: &[u8]) -> (Vec<u32>, u32) {
    let word =
        |at: usize| u32::from_le_bytes([state[at], state[at + 1], state[at + 2], state[at + 3]]);
    let mut registers: Vec<u32> = state[..32].iter().map(|&r| r.into()).collect();
    let sp = u32::from(state[40]) | u32::from(state[41]) << 8;
    registers.extend([state[42].into(), sp, state[43].into(), word(32)]);
    (registers, word(36))
}

/// A program that starts at 0, with everything zero.
fn image_request(to: &mut Vec<u8>, steps: u32, flash: &[u16], stop: u32) {
    for value in [steps, flash.len() as u32, 0, stop] {
        to.extend(value.to_le_bytes());
    }
    to.extend(flash.iter().flat_map(|w| w.to_le_bytes()));
    to.extend([0; STATE_BYTES]);
    to.extend([0; RAM_BYTES]);
}

fn text(word_addr: u32, words: &[u16]) -> String {
    decode(word_addr, |addr| Ok(*words.get((addr - CODE) as usize).unwrap_or(&0xFFFF)))
        .map_or_else(|e| e.to_string(), |insn| insn.to_string())
}

fn compare(program: &Program<Words>, ours: &Ours, answer: &[u8]) -> Verdict {
    let words: Vec<u16> = program.insns.iter().flat_map(|i| i.0.iter().copied()).collect();
    let mut before = program.registers.clone();
    before[PC] = 2 * CODE;
    for (here, there) in ours.steps.iter().zip(answer.chunks(STATE_BYTES)) {
        let there = theirs(there);
        if *here != there {
            let insn = text(before[PC] / 2, &words);
            let names = |i: usize| match i {
                0..32 => format!("R{i}"),
                _ => ["SREG", "SP", "RAMPZ", "PC"][i - 32].to_owned(),
            };
            let mut differences: Vec<String> = (0..REGISTERS)
                .filter(|&i| here.0[i] != there.0[i])
                .map(|i| format!("{} {:#x} there {:#x}", names(i), here.0[i], there.0[i]))
                .collect();
            if here.1 != there.1 {
                differences.push(format!("{} cycles, there {}", here.1, there.1));
            }
            return Verdict::Differ(format!(
                "{insn} at {:#x}: {}; before it {before:x?}",
                before[PC],
                differences.join(", ")
            ));
        }
        before.clone_from(&here.0);
    }
    let memory = &answer[ours.steps.len() * STATE_BYTES..];
    match (0..RAM_BYTES).find(|&i| ours.memory[i] != memory[i]) {
        Some(i) => Verdict::Differ(format!(
            "memory at {:#x} ends as {:#x}, there {:#x}",
            RAM.start as usize + i,
            ours.memory[i],
            memory[i]
        )),
        None => Verdict::Agree { instructions: ours.steps.len() as u64 },
    }
}

fn draw_words(random: &mut Random) -> Words {
    let mnemonic = PATTERNS[random.below(PATTERNS.len() as u32) as usize].0;
    let first = word(mnemonic, random);
    let io =
        |mask: u16, at: &[u16], random: &mut Random| first & !mask | encode_io(random.pick(at));
    Words(match mnemonic {
        "LDS" | "STS" => vec![first, data_address(random) as u16],
        "CALL" | "JMP" => vec![first, (CODE + random.below(INSTRUCTIONS)) as u16],
        // Mostly forward, and not far.
        "RJMP" | "RCALL" => vec![first & 0xF000 | short(random) & 0x0FFF],
        "BRBS" | "BRBC" => vec![first & 0xFC07 | (short(random) & 0x7F) << 3],
        "IN" | "OUT" => {
            let at = if random.one_in(2) { &PLAIN_IO[..] } else { &CORE_IO[..] };
            vec![io(0x060F, at, random)]
        }
        "SBI" | "CBI" | "SBIC" | "SBIS" => vec![first & !0x00F8 | random.pick(&PLAIN_IO) << 3],
        _ => vec![first],
    })
}

/// The I/O address of IN and OUT.
fn encode_io(addr: u16) -> u16 {
    addr & 0xF | (addr & 0x30) << 5
}

fn short(random: &mut Random) -> u16 {
    (random.below(9) as u16).wrapping_sub(if random.one_in(3) { 4 } else { 0 })
}

impl Target for Simavr {
    type Insn = Words;

    fn name(&self) -> String {
        "the AVR core beside libsimavr's ATmega128, state and cycles".to_owned()
    }

    fn draw(&mut self, random: &mut Random) -> Program<Words> {
        let mut registers = draw_registers(random);
        registers[PC] = 2 * CODE;
        let insns = (0..INSTRUCTIONS).map(|_| draw_words(random)).collect();
        Program { registers, memory: random.word().into(), insns }
    }

    fn judge(&mut self, programs: &[Program<Words>]) -> Result<Vec<Verdict>, String> {
        let ours: Vec<Ours> = programs.iter().map(run).collect();
        let mut requests = Vec::new();
        for (program, ours) in programs.iter().zip(&ours) {
            request(program, ours.steps.len() as u32, &mut requests);
        }
        let mut answer = &self.driver.ask(requests)?[..];
        let mut verdicts = Vec::new();
        for (program, ours) in programs.iter().zip(&ours) {
            let bytes = ours.steps.len() * STATE_BYTES + RAM_BYTES;
            let (this, rest) = answer
                .split_at_checked(bytes)
                .ok_or("the driver of libsimavr ended within a program")?;
            answer = rest;
            verdicts.push(match (compare(program, ours, this), ours.masked) {
                (Verdict::Agree { instructions: 0 }, Some(why)) => Verdict::Masked(why),
                (verdict, _) => verdict,
            });
        }
        Ok(verdicts)
    }

    fn simpler(&self, insn: &Words) -> Vec<Words> {
        if insn.0 == [0] { Vec::new() } else { vec![Words(vec![0])] }
    }

    fn as_test(&self, program: &Program<Words>, why: &str) -> String {
        let words: Vec<u16> = program.insns.iter().flat_map(|i| i.0.iter().copied()).collect();
        let mut text_of = String::new();
        let mut at = 0;
        while at < words.len() {
            let insn =
                decode(CODE + at as u32, |a| Ok(*words.get((a - CODE) as usize).unwrap_or(&0)));
            let length = insn.as_ref().map_or(1, |i| usize::from(i.words));
            text_of += &format!(
                "    // {:#06x}: {}\n",
                CODE as usize + at,
                text(CODE + at as u32, &words)
            );
            at += length;
        }
        let list = |values: &mut dyn Iterator<Item = u32>| {
            values.map(|v| format!("{v:#x}")).collect::<Vec<_>>().join(", ")
        };
        format!(
            "// {why}\n#[test]\nfn found_beside_simavr() {{\n{text_of}    let words = [{}];\n    // R0 to R31, SREG, SP, RAMPZ, PC\n    let registers = [{}];\n    agrees(&words, &registers, {:#x});\n}}\n",
            list(&mut words.iter().map(|&w| w.into())),
            list(&mut program.registers.iter().copied()),
            program.memory
        )
    }
}

impl Simavr {
    /// One program: its words, registers, and the seed of memory, as a failing program is printed.
    ///
    /// # Errors
    /// If simavr cannot be run.
    pub fn judge_words(
        &mut self,
        words: &[u16],
        registers: &[u32],
        memory: u64,
    ) -> Result<Verdict, String> {
        let insns = words.iter().map(|&word| Words(vec![word])).collect();
        let program = Program { registers: registers.to_vec(), memory, insns };
        Ok(self.judge(&[program])?.remove(0))
    }

    /// A program that starts at word address 0 as flash holds it, for `steps` instructions: the first state that differs.
    ///
    /// # Errors
    /// If simavr cannot be run.
    pub fn compare_image(&self, flash: &[u16], steps: usize) -> Result<Verdict, String> {
        let mut bus = FlatBus::new();
        bus.load(0, flash);
        let mut cpu = Cpu::new(Timing::AVRE);
        let mut ours = Vec::new();
        for _ in 0..steps {
            let before = cpu.cycles;
            if let Exit::Fault(fault) = cpu.step(&mut bus, &mut Silent) {
                return Ok(Verdict::Differ(format!("here: {fault}")));
            }
            ours.push((values(&cpu), (cpu.cycles - before) as u32));
        }
        let mut request = Vec::new();
        image_request(&mut request, steps as u32, flash, NOWHERE);
        let answer = self.driver.ask(request)?;
        let mut pc = 0;
        for (i, (here, there)) in ours.iter().zip(answer.chunks(STATE_BYTES)).enumerate() {
            let there = theirs(there);
            if *here != there {
                return Ok(Verdict::Differ(format!(
                    "step {i} at {pc:#x}: {here:x?}, there {there:x?}"
                )));
            }
            pc = here.0[PC];
        }
        let memory = &answer[steps * STATE_BYTES..];
        let start = RAM.start as usize;
        if bus.data()[start..start + RAM_BYTES] != *memory {
            return Ok(Verdict::Differ("memory in the end".to_owned()));
        }
        Ok(Verdict::Agree { instructions: steps as u64 })
    }

    /// Registers, cycles and memory of a program that starts at 0, where it comes to byte address `until`, here.
    #[must_use]
    pub fn image_here(flash: &[u16], until: u32) -> End {
        let mut bus = FlatBus::new();
        bus.load(0, flash);
        bus.deadline = u64::from(MOST);
        let mut cpu = Cpu::new(Timing::AVRE);
        cpu.set_breakpoints(&[until]);
        let stopped = loop {
            match cpu.run(&mut bus, &mut Silent) {
                Exit::Status => {}
                Exit::Breakpoint => break Ok(()),
                Exit::Deadline => break Err(format!("it does not end within {MOST} cycles")),
                Exit::Fault(fault) => break Err(fault.to_string()),
                exit => {
                    break Err(format!(
                        "it leaves the core at {:#x}: {exit:?}",
                        2 * u32::from(cpu.pc)
                    ));
                }
            }
        };
        let start = RAM.start as usize;
        let memory = bus.data()[start..start + RAM_BYTES].to_vec();
        ended(stopped, values(&cpu), cpu.cycles, memory)
    }

    /// The same in simavr.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn image_there(&self, flash: &[u16], until: u32) -> Result<End, String> {
        let mut request = Vec::new();
        image_request(&mut request, MOST, flash, until);
        let answer = self.driver.ask(request)?;
        let (state, memory) =
            answer.split_at_checked(STATE_BYTES).ok_or("the driver of libsimavr did not answer")?;
        let (registers, cycles) = theirs(state);
        let stopped = (registers[PC] == until)
            .then_some(())
            .ok_or_else(|| format!("it stops at {:#x}", registers[PC]));
        Ok(ended(stopped, registers, cycles.into(), memory.to_vec()))
    }
}

/// The status of a program is the argument of its last function, in R25:R24.
fn ended(stopped: Result<(), String>, registers: Vec<u32>, cycles: u64, memory: Vec<u8>) -> End {
    let status = stopped.map(|()| registers[24] | registers[25] << 8);
    End { status, registers, memory, cycles: Some(cycles) }
}
