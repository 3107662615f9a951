// SPDX-License-Identifier: MIT OR Apache-2.0
//! The AVR: its instructions drawn at random, single steps, and programs beside simavr.

mod simavr;

use std::collections::BTreeSet;

use sunseal_isa::avr::{Bus, Cpu, DATA_SPACE, Exit, State, Timing, decode};
use sunseal_isa::{Cycles, Fault};

use crate::memory::Memory;
use crate::random::Random;
use crate::single_step::{Accesses, Core, Step};

pub use simavr::Simavr;

/// Static memory of the ATmega128.
const RAM: std::ops::Range<u32> = 0x0100..0x1100;

/// Opcodes of a mnemonic: a word and the bits of it that operands fill.
type Pattern = (u16, u16);

/// Every instruction of the core by the name of its chapter in DS40002198.
#[rustfmt::skip]
const PATTERNS: &[(&str, &[Pattern])] = &[
    ("ADC", &[(0x1C00, 0x03FF)]),
    ("ADD", &[(0x0C00, 0x03FF)]),
    ("ADIW", &[(0x9600, 0x00FF)]),
    ("AND", &[(0x2000, 0x03FF)]),
    ("ANDI", &[(0x7000, 0x0FFF)]),
    ("ASR", &[(0x9405, 0x01F0)]),
    ("BCLR", &[(0x9488, 0x0070)]),
    ("BLD", &[(0xF800, 0x01F7)]),
    ("BRBC", &[(0xF400, 0x03FF)]),
    ("BRBS", &[(0xF000, 0x03FF)]),
    ("BREAK", &[(0x9598, 0)]),
    ("BSET", &[(0x9408, 0x0070)]),
    ("BST", &[(0xFA00, 0x01F7)]),
    ("CALL", &[(0x940E, 0)]),
    ("CBI", &[(0x9800, 0x00FF)]),
    ("COM", &[(0x9400, 0x01F0)]),
    ("CP", &[(0x1400, 0x03FF)]),
    ("CPC", &[(0x0400, 0x03FF)]),
    ("CPI", &[(0x3000, 0x0FFF)]),
    ("CPSE", &[(0x1000, 0x03FF)]),
    ("DEC", &[(0x940A, 0x01F0)]),
    ("ELPM", &[(0x95D8, 0), (0x9006, 0x01F0), (0x9007, 0x01F0)]),
    ("EOR", &[(0x2400, 0x03FF)]),
    ("FMUL", &[(0x0308, 0x0077)]),
    ("FMULS", &[(0x0380, 0x0077)]),
    ("FMULSU", &[(0x0388, 0x0077)]),
    ("ICALL", &[(0x9509, 0)]),
    ("IJMP", &[(0x9409, 0)]),
    ("IN", &[(0xB000, 0x07FF)]),
    ("INC", &[(0x9403, 0x01F0)]),
    ("JMP", &[(0x940C, 0)]),
    ("LD", &[
        (0x900C, 0x01F0), (0x900D, 0x01F0), (0x900E, 0x01F0), (0x8008, 0x01F0), (0x9009, 0x01F0),
        (0x900A, 0x01F0), (0x8000, 0x01F0), (0x9001, 0x01F0), (0x9002, 0x01F0),
    ]),
    ("LDD", &[(0x8008, 0x2DF7), (0x8000, 0x2DF7)]),
    ("LDI", &[(0xE000, 0x0FFF)]),
    ("LDS", &[(0x9000, 0x01F0)]),
    ("LPM", &[(0x95C8, 0), (0x9004, 0x01F0), (0x9005, 0x01F0)]),
    ("LSR", &[(0x9406, 0x01F0)]),
    ("MOV", &[(0x2C00, 0x03FF)]),
    ("MOVW", &[(0x0100, 0x00FF)]),
    ("MUL", &[(0x9C00, 0x03FF)]),
    ("MULS", &[(0x0200, 0x00FF)]),
    ("MULSU", &[(0x0300, 0x0077)]),
    ("NEG", &[(0x9401, 0x01F0)]),
    ("NOP", &[(0x0000, 0)]),
    ("OR", &[(0x2800, 0x03FF)]),
    ("ORI", &[(0x6000, 0x0FFF)]),
    ("OUT", &[(0xB800, 0x07FF)]),
    ("POP", &[(0x900F, 0x01F0)]),
    ("PUSH", &[(0x920F, 0x01F0)]),
    ("RCALL", &[(0xD000, 0x0FFF)]),
    ("RET", &[(0x9508, 0)]),
    ("RETI", &[(0x9518, 0)]),
    ("RJMP", &[(0xC000, 0x0FFF)]),
    ("ROR", &[(0x9407, 0x01F0)]),
    ("SBC", &[(0x0800, 0x03FF)]),
    ("SBCI", &[(0x4000, 0x0FFF)]),
    ("SBI", &[(0x9A00, 0x00FF)]),
    ("SBIC", &[(0x9900, 0x00FF)]),
    ("SBIS", &[(0x9B00, 0x00FF)]),
    ("SBIW", &[(0x9700, 0x00FF)]),
    ("SBRC", &[(0xFC00, 0x01F7)]),
    ("SBRS", &[(0xFE00, 0x01F7)]),
    ("SLEEP", &[(0x9588, 0)]),
    ("ST", &[
        (0x920C, 0x01F0), (0x920D, 0x01F0), (0x920E, 0x01F0), (0x8208, 0x01F0), (0x9209, 0x01F0),
        (0x920A, 0x01F0), (0x8200, 0x01F0), (0x9201, 0x01F0), (0x9202, 0x01F0),
    ]),
    ("STD", &[(0x8208, 0x2DF7), (0x8200, 0x2DF7)]),
    ("STS", &[(0x9200, 0x01F0)]),
    ("SUB", &[(0x1800, 0x03FF)]),
    ("SUBI", &[(0x5000, 0x0FFF)]),
    ("SWAP", &[(0x9402, 0x01F0)]),
    ("WDR", &[(0x95A8, 0)]),
];

fn patterns(mnemonic: &str) -> &'static [Pattern] {
    let found = PATTERNS.iter().find(|(name, _)| *name == mnemonic);
    found.unwrap_or_else(|| panic!("{mnemonic} is no instruction of this core")).1
}

/// A word of that mnemonic.
fn word(mnemonic: &str, random: &mut Random) -> u16 {
    let (base, operands) = random.pick(patterns(mnemonic));
    base | random.word() as u16 & operands
}

/// An address of the data space worth an access: mostly memory, at times a register.
fn data_address(random: &mut Random) -> u32 {
    if random.one_in(12) { random.below(32) } else { RAM.start + random.below(RAM.end - RAM.start) }
}

/// Registers of a case.
const REGISTERS: usize = 36;
const SREG: usize = 32;
const SP: usize = 33;
const RAMPZ: usize = 34;
const PC: usize = 35;

/// Registers with which most instructions can run: pointers into memory, a stack, code anywhere.
fn draw_registers(random: &mut Random) -> Vec<u32> {
    let mut registers: Vec<u32> = (0..REGISTERS).map(|_| random.value(8)).collect();
    for low in [26, 28, 30] {
        // Y and Z with room for a displacement.
        let addr = data_address(random).min(RAM.end - 64);
        (registers[low], registers[low + 1]) = (addr & 0xFF, addr >> 8);
    }
    registers[SP] = RAM.start + 16 + random.below(RAM.end - RAM.start - 32);
    registers[RAMPZ] = random.below(2);
    registers[PC] = 2 * (0x100 + random.below(0xFE00));
    registers
}

fn state(registers: &[u32]) -> State {
    State {
        r: std::array::from_fn(|i| registers[i] as u8),
        sreg: registers[SREG] as u8,
        sp: registers[SP] as u16,
        rampz: registers[RAMPZ] as u8,
        pc: (registers[PC] / 2) as u16,
        cycles: 0,
        interrupt_shadow: false,
    }
}

fn values(cpu: &Cpu) -> Vec<u32> {
    let mut registers: Vec<u32> = cpu.r.iter().map(|&r| r.into()).collect();
    registers.extend([cpu.sreg().into(), cpu.sp.into(), cpu.rampz.into(), 2 * u32::from(cpu.pc)]);
    registers
}

/// The AVR core as single-step files are made from it.
pub struct Avr {
    cpu: Cpu,
}

impl Avr {
    /// The core with the switches of [`Timing::AVRE`].
    #[must_use]
    pub fn new() -> Self {
        Self { cpu: Cpu::new(Timing::AVRE) }
    }
}

impl Default for Avr {
    fn default() -> Self {
        Self::new()
    }
}

struct StepBus<'a>(&'a mut Memory);

fn in_memory(addr: u16) -> Result<u32, Fault> {
    // The I/O space remembers here; behind memory there is nothing.
    let whole = DATA_SPACE | u32::from(addr);
    if u32::from(addr) < RAM.end { Ok(whole) } else { Err(Fault::unmapped(whole)) }
}

impl Bus for StepBus<'_> {
    fn read(&mut self, addr: u16, _: Cycles) -> Result<u8, Fault> {
        Ok(self.0.byte(in_memory(addr)?))
    }
    fn write(&mut self, addr: u16, value: u8, _: Cycles) -> Result<(), Fault> {
        self.0.write(in_memory(addr)?, 1, value.into());
        Ok(())
    }
    fn fetch(&mut self, word_addr: u32) -> Result<u16, Fault> {
        Ok(self.0.read(2 * word_addr, 2) as u16)
    }
    fn program_byte(&mut self, byte_addr: u32, _: Cycles) -> Result<u8, Fault> {
        Ok(self.0.byte(byte_addr))
    }
    fn spm(&mut self, _: u32, byte_addr: u32, _: u16, _: Cycles) -> Result<(), Fault> {
        Err(Fault::device(byte_addr, "SPM is the machine's and no case of the core"))
    }
    fn watchdog_reset(&mut self, _: Cycles) {}
    fn deadline(&self) -> Cycles {
        Cycles::MAX
    }
}

impl Core for Avr {
    fn name(&self) -> &'static str {
        "avr"
    }

    fn about(&self) -> &'static str {
        "AVRe with multiplier, 16-bit program counter and ELPM (ATmega128), Microchip DS40002198. Addresses: flash at 0, data space at 0x800000; register file, SPL, SPH, SREG and RAMPZ are in `registers` and not in `memory`. PC is in bytes. Accesses of IN, OUT to SPL, SPH, SREG, RAMPZ and the read of SPM are left out. The manual gives cycles, not the cycle of an access within an instruction: IN, OUT and skips access in their first cycle, loads and stores in their last, CBI and SBI in both, calls and returns in the second and third (CALL: third and fourth), LPM and ELPM in the third."
    }

    fn registers(&self) -> &'static [&'static str] {
        &[
            "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13",
            "R14", "R15", "R16", "R17", "R18", "R19", "R20", "R21", "R22", "R23", "R24", "R25",
            "R26", "R27", "R28", "R29", "R30", "R31", "SREG", "SP", "RAMPZ", "PC",
        ]
    }

    fn mnemonics(&self) -> Vec<&'static str> {
        PATTERNS.iter().map(|(name, _)| *name).collect()
    }

    fn draw(&mut self, mnemonic: &str, random: &mut Random, memory: &mut Memory) -> Vec<u32> {
        let registers = draw_registers(random);
        let word = word(mnemonic, random);
        memory.place(registers[PC], &word.to_le_bytes());
        let second = match mnemonic {
            "LDS" | "STS" => Some(data_address(random) as u16),
            "CALL" | "JMP" => Some(random.word() as u16),
            _ => None,
        };
        if let Some(second) = second {
            memory.place(registers[PC] + 2, &second.to_le_bytes());
        }
        registers
    }

    fn step(&mut self, registers: &[u32], memory: &mut Memory) -> Result<Step, String> {
        let pc = registers[PC] / 2;
        self.cpu.set_state(&state(registers));
        self.cpu.invalidate(registers[PC]..registers[PC] + 2);
        let mut bus = StepBus(memory);
        let text = decode(pc, |addr| bus.fetch(addr)).map_err(|e| e.to_string())?.to_string();
        let mut accesses = Accesses::default();
        if let Exit::Fault(fault) = self.cpu.step(&mut bus, &mut accesses) {
            return Err(fault.to_string());
        }
        Ok(Step {
            text,
            registers: values(&self.cpu),
            cycles: self.cpu.cycles as u32,
            accesses: accesses.0,
        })
    }
}

/// All mnemonics, to see that none is left out.
#[must_use]
pub fn mnemonics() -> BTreeSet<&'static str> {
    PATTERNS.iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_legal_word_has_one_pattern_and_every_pattern_is_legal() {
        for word in 0..=0xFFFF_u16 {
            let legal = decode(0, |addr| Ok(if addr == 0 { word } else { 0 })).is_ok();
            let of = |&(base, operands): &Pattern| word & !operands == base;
            let names: Vec<_> = PATTERNS
                .iter()
                .filter(|(_, patterns)| patterns.iter().any(of))
                .map(|(name, _)| *name)
                // A displacement of zero is LD's or ST's too.
                .filter(|name| !["LDD", "STD"].contains(name) || word & 0x2C07 != 0)
                .collect();
            let expected = usize::from(legal && word != 0x95E8); // SPM has no case
            assert_eq!(names.len(), expected, "{word:#06x}: {names:?}");
        }
    }
}
