// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single steps of the three families.

use sunseal_isa::msp430::{
    Bus, Cpu, Exit, Family, Insn, Mnemonic, Operand, PC, SP, SR, Timing, Width, decode_for,
};
use sunseal_isa::{Cycles, Fault};

use super::asm::{self, Arg, Repeat, Size};
use crate::memory::{Memory, single_step};
use crate::random::Random;
use crate::single_step::{Accesses, Core, Step};

/// R3 is the constant generator and holds nothing.
const REGISTERS: [&str; 15] = [
    "PC", "SP", "SR", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
];
const JUMPS: [&str; 8] = ["JNE", "JEQ", "JNC", "JC", "JN", "JGE", "JL", "JMP"];
const ROTATES: [&str; 4] = ["RRCM", "RRAM", "RLAM", "RRUM"];
const ADDRESS: [&str; 4] = ["MOVA", "CMPA", "ADDA", "SUBA"];
const DOUBLE_X: [&str; 12] = [
    "MOVX", "ADDX", "ADDCX", "SUBCX", "SUBX", "CMPX", "DADDX", "BITX", "BICX", "BISX", "XORX",
    "ANDX",
];
const SINGLE_X: [&str; 5] = ["RRCX", "SWPBX", "RRAX", "SXTX", "PUSHX"];

/// Draws instructions of one family and runs them.
pub struct SingleStep {
    name: &'static str,
    about: &'static str,
    cpu: Cpu,
}

impl SingleStep {
    /// MSP430 CPU of the 1xx devices.
    #[must_use]
    pub fn cpu() -> Self {
        let about = "MSP430 CPU of 16 bits (SLAU049), cycles as its tables print them";
        Self::new("msp430", about, Timing::CPU)
    }

    /// First MSP430X CPU, of the 2xx and 4xx devices.
    #[must_use]
    pub fn cpux() -> Self {
        let about = "MSP430X CPU of the 2xx and 4xx devices (SLAU144), cycles as TI's MSP Debug Stack counts them";
        Self::new("cpux", about, Timing::CPUX)
    }

    /// MSP430X CPU of the 5xx, 6xx and FR devices.
    #[must_use]
    pub fn cpuxv2() -> Self {
        let about = "MSP430X CPU of the 5xx, 6xx and FR devices (CPUXV2; SLAU445), cycles as its tables print them";
        Self::new("cpuxv2", about, Timing::CPUXV2)
    }

    fn new(name: &'static str, about: &'static str, timing: Timing) -> Self {
        Self { name, about, cpu: Cpu::new(timing) }
    }

    fn family(&self) -> Family {
        self.cpu.timing().family
    }

    fn bits(&self) -> u32 {
        self.family().mask().count_ones()
    }
}

impl Core for SingleStep {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn registers(&self) -> &'static [&'static str] {
        &REGISTERS
    }

    fn mnemonics(&self) -> Vec<&'static str> {
        let mut all = [&asm::DOUBLE[..], &asm::SINGLE, &JUMPS, &["RETI"]].concat();
        if self.family() != Family::Cpu {
            all.extend(DOUBLE_X.iter().chain(&SINGLE_X).chain(&ROTATES).chain(&ADDRESS));
            all.extend(["PUSHM", "POPM", "CALLA"]);
        }
        all
    }

    fn draw(&mut self, mnemonic: &str, random: &mut Random, memory: &mut Memory) -> Vec<u32> {
        let (bits, mask) = (self.bits(), self.family().mask());
        let mut registers: Vec<u32> = (0..REGISTERS.len())
            .map(|_| random.value(bits) & if random.one_in(4) { mask } else { mask & !1 })
            .collect();
        let pc = random.value(bits) & !1;
        registers[..3].copy_from_slice(&[pc, random.value(bits) & !1, random.below(0x200)]);
        let words = Draw { random, bits }.words(mnemonic);
        for (i, word) in words.into_iter().enumerate() {
            for (j, byte) in word.to_le_bytes().into_iter().enumerate() {
                memory.place(pc.wrapping_add((2 * i + j) as u32) & mask, &[byte]);
            }
        }
        registers
    }

    fn step(&mut self, registers: &[u32], memory: &mut Memory) -> Result<Step, String> {
        let cpu = &mut self.cpu;
        let family = cpu.timing().family;
        cpu.cycles = 0;
        for (i, &value) in registers.iter().enumerate() {
            cpu.r[if i < 3 { i } else { i + 1 }] = value;
        }
        let before = cpu.r;
        let mut bus = StepBus { memory };
        let insn = decode_for(family, before[PC], |addr| bus.fetch(addr))
            .map_err(|fault| fault.to_string())?;
        let mut watch = Accesses::default();
        if let Exit::Fault(fault) = cpu.step(&mut bus, &mut watch) {
            return Err(fault.to_string());
        }
        defined(&insn, &before, &watch)?;
        let after = cpu.r;
        Ok(Step {
            text: insn.to_string(),
            registers: (0..16).filter(|&i| i != 3).map(|i| after[i]).collect(),
            cycles: cpu.cycles as u32,
            accesses: watch.0,
        })
    }
}

/// What the manual leaves undefined is no test of another simulator.
fn defined(insn: &Insn, r: &[u32; 16], watch: &Accesses) -> Result<(), String> {
    if insn.mnemonic != Mnemonic::Dadd {
        return Ok(());
    }
    let held = [insn.src, insn.dst].into_iter().filter_map(|operand| match operand {
        Operand::Reg(reg) => Some(r[usize::from(reg)]),
        Operand::Constant(n) | Operand::Immediate(n) => Some(n),
        _ => None,
    });
    let loaded = watch.0.iter().filter(|access| access.1 == 'r').map(|access| access.4);
    let decimal = |value: u32| (0..5).all(|i| (value & insn.size.mask()) >> (4 * i) & 0xF <= 9);
    if held.chain(loaded).all(decimal) {
        Ok(())
    } else {
        Err("DADD of digits above nine is undefined".into())
    }
}

struct StepBus<'a> {
    memory: &'a mut Memory,
}

impl Bus for StepBus<'_> {
    fn read(&mut self, addr: u32, width: Width, _: Cycles) -> Result<u16, Fault> {
        Ok(self.memory.read(addr, width.bytes()) as u16)
    }

    fn write(&mut self, addr: u32, width: Width, value: u16, _: Cycles) -> Result<(), Fault> {
        self.memory.write(addr, width.bytes(), value.into());
        Ok(())
    }

    single_step!();
}

/// Draws operands for a family of so many bits.
struct Draw<'a> {
    random: &'a mut Random,
    bits: u32,
}

impl Draw<'_> {
    fn general(&mut self) -> u16 {
        4 + self.random.below(12) as u16
    }

    /// Mostly R4 to R15.
    fn register(&mut self) -> u16 {
        if self.random.one_in(10) {
            self.random.pick(&[0, asm::SP, asm::SR])
        } else {
            self.general()
        }
    }

    /// A number of 16 bits, or 20 with an extension word; even unless it may be odd.
    fn number(&mut self, extended: bool, even: bool) -> u32 {
        let value = self.random.value(if extended { 20 } else { 16 });
        if even && !self.random.one_in(5) { value & !1 } else { value }
    }

    fn indexed(&mut self, extended: bool) -> Arg {
        let number = self.number(extended, true);
        let index =
            if extended { (number << 12) as i32 >> 12 } else { i32::from(number as u16 as i16) };
        match self.random.below(8) {
            0 => Arg::X(index, 0),
            1 => Arg::X(index, asm::SP),
            2 => Arg::Abs(number),
            _ => Arg::X(index, self.general()),
        }
    }

    fn source(&mut self, extended: bool) -> Arg {
        match self.random.below(7) {
            0 => Arg::R(self.register()),
            1 => self.indexed(extended),
            2 => Arg::At(self.general()),
            3 => Arg::Inc(if self.random.one_in(5) { asm::SP } else { self.general() }),
            4 => Arg::Imm(self.number(extended, false)),
            5 => Arg::Cg(self.random.pick(&[0, 1, 2, 4, 8, -1])),
            _ => Arg::R(self.general()),
        }
    }

    fn destination(&mut self, extended: bool) -> Arg {
        if self.random.one_in(2) { Arg::R(self.register()) } else { self.indexed(extended) }
    }

    fn repeat(&mut self) -> Repeat {
        let times = match self.random.below(3) {
            0 => Ok(1),
            1 => Ok(1 + self.random.below(16) as u16),
            _ => Err(self.general()),
        };
        Repeat { zc: self.random.one_in(3), times }
    }

    fn size(&mut self, op: &str, extended: bool) -> Size {
        let sizes: &[Size] = match (op, extended) {
            ("SWPB" | "SXT", true) => &[Size::W, Size::A],
            ("SWPB" | "SXT" | "CALL", false) => &[Size::W],
            (_, true) => &[Size::B, Size::W, Size::A, Size::A],
            (_, false) => &[Size::B, Size::W],
        };
        self.random.pick(sizes)
    }

    /// A source that a single-operand instruction can change, or any for PUSH and CALL.
    fn operand(&mut self, op: &str, extended: bool) -> Arg {
        match self.source(extended) {
            Arg::Imm(_) | Arg::Cg(_) | Arg::R(0) if !matches!(op, "PUSH" | "CALL") => {
                Arg::R(self.general())
            }
            arg => arg,
        }
    }

    fn words(&mut self, mnemonic: &str) -> Vec<u16> {
        let base = mnemonic.strip_suffix('X').unwrap_or(mnemonic);
        if mnemonic == "RETI" {
            return vec![asm::RETI];
        }
        if JUMPS.contains(&mnemonic) {
            return asm::jump(mnemonic, self.random.below(1024) as i16 - 512);
        }
        if asm::DOUBLE.contains(&mnemonic) {
            let (size, src, dst) =
                (self.size(base, false), self.source(false), self.destination(false));
            return asm::double(base, size, src, dst);
        }
        if DOUBLE_X.contains(&mnemonic) {
            let (size, src, dst) =
                (self.size(base, true), self.source(true), self.destination(true));
            return asm::double_x(base, size, src, dst, self.repeat());
        }
        if asm::SINGLE.contains(&mnemonic) {
            let arg = self.operand(base, false);
            return asm::single(base, self.size(base, false), arg);
        }
        if SINGLE_X.contains(&mnemonic) {
            let arg = self.operand(base, true);
            return asm::single_x(base, self.size(base, true), arg, self.repeat());
        }
        let wide = self.random.pick(&[Size::W, Size::A]);
        if ROTATES.contains(&mnemonic) {
            return asm::rotate(mnemonic, wide, 1 + self.random.below(4) as u16, self.general());
        }
        match mnemonic {
            "PUSHM" | "POPM" => {
                let count = 1 + self.random.below(12) as u16;
                let highest = 15 - self.random.below(u32::from(13 - count)) as u16;
                asm::many(mnemonic, wide, count, highest)
            }
            "CALLA" => {
                let arg = match self.source(true) {
                    Arg::Cg(_) | Arg::R(0) => Arg::Imm(self.number(true, true)),
                    Arg::X(index, reg @ 1..) => Arg::X(i32::from(index as i16), reg),
                    arg => arg,
                };
                asm::calla(arg)
            }
            _ => self.address(mnemonic),
        }
    }

    /// MOVA, CMPA, ADDA and SUBA.
    fn address(&mut self, mnemonic: &str) -> Vec<u16> {
        debug_assert!(ADDRESS.contains(&mnemonic) && self.bits == 20);
        let reg = self.general();
        let near = |arg| match arg {
            Arg::X(index, reg) => Arg::X(i32::from(index as i16), reg),
            arg => arg,
        };
        let (src, dst) = match self.random.below(if mnemonic == "MOVA" { 6 } else { 2 }) {
            0 => (Arg::R(self.register()), Arg::R(self.register())),
            1 => (Arg::Imm(self.number(true, false)), Arg::R(reg)),
            2 => (near(self.indexed(true)), Arg::R(reg)),
            3 => (Arg::R(reg), near(self.indexed(true))),
            4 => (Arg::At(self.general()), Arg::R(reg)),
            _ => (Arg::Inc(self.general()), Arg::R(reg)),
        };
        asm::address(mnemonic, src, dst)
    }
}

const _: () = assert!(PC == 0 && SP == 1 && SR == 2);
