// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small programs for the F1611: words from the core's test assembler, registers by TI's names.
#![allow(dead_code)]

use sunseal_mcu::{Device, LintKind, Machine};

use crate::asm::Arg::*;

#[path = "../programs/mod.rs"]
mod programs;
pub use programs::*;
pub use sunseal_registers::msp430f1611::*;

pub const CODE: u32 = 0x4000;
pub const RAM: u32 = 0x1100;
pub const STACK: u32 = 0x3900;
pub const FLASH_DATA: u32 = 0x8000;
pub const INFO_B: u32 = 0x1000;
pub const INFO_A: u32 = 0x1080;

pub const CACTL1: u32 = 0x59;
pub const DAC12_0CTL: u32 = 0x1C0;

/// MOV @SP+, PC
pub const RET: u16 = 0x4130;

pub const VECTOR_DMA: u32 = VECTOR_DAC12_DMA;

/// What a program writes before anything else.
pub const HELD: &[(u32, u16)] = &[(WDTCTL, 0x5A80)];

impl Program {
    /// Appends BIS.B #bits, &addr.
    pub fn bis_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        self.op_b("BIS", Imm(bits.into()), Abs(addr))
    }

    /// Appends BIC.B #bits, &addr.
    pub fn bic_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        self.op_b("BIC", Imm(bits.into()), Abs(addr))
    }

    /// MOV.B &addr, to the next kept word
    pub fn keep_b(&mut self, addr: u32) -> &mut Self {
        let to = self.next_kept();
        self.op("MOV", Cg(0), Abs(to)).op_b("MOV", Abs(addr), Abs(to))
    }

    /// Waits until bits of a byte are set.
    pub fn wait_set_b(&mut self, addr: u32, bits: u8) -> &mut Self {
        let again = self.here();
        self.op_b("BIT", Imm(bits.into()), Abs(addr)).back("JEQ", again)
    }

    /// Copies the words from `from` to `to` into RAM at `at` and calls them there.
    pub fn call_in_ram(&mut self, from: u32, to: u32, at: u32) -> &mut Self {
        self.op("MOV", Imm(from), R(10)).op("MOV", Imm(at), R(11));
        let again = self.here();
        self.op("MOV", Inc(10), X(0, 11)).op("ADD", Cg(2), R(11));
        self.op("CMP", Imm(to), R(10)).back("JNE", again).call(at)
    }

    /// Words for another place: jumps are relative, other addresses absolute.
    pub fn routine() -> Self {
        Self { words: Vec::new(), vectors: Vec::new(), kept: 0 }
    }

    /// Copies a routine into RAM, calls it there, and halts behind it.
    pub fn run_in_ram(&mut self, routine: &Self, at: u32) -> &mut Self {
        let mut probe = self.clone();
        let from = probe.call_in_ram(0, 0, at).halt().here();
        let to = from + 2 * routine.words.len() as u32;
        self.call_in_ram(from, to, at).halt().put(routine.words.clone())
    }
}

pub fn device() -> Device {
    Device::named("msp430f1611").unwrap()
}

pub fn machine() -> Machine {
    Machine::new(&device())
}

/// The first `N` kept words.
pub fn all_kept<const N: usize>(m: &Machine) -> [u16; N] {
    std::array::from_fn(|n| kept(m, n as u32))
}

/// The kinds of slips that were reported.
pub fn slips(m: &Machine) -> Vec<LintKind> {
    let mut kinds: Vec<_> = m.lints().iter().map(|l| l.kind).collect();
    kinds.dedup();
    kinds
}
