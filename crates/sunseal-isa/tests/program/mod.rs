// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program with the instruction mix of the firmware: a loop over three subroutines (multi-word
//! multiplication by shift and add, bitwise CRC, copy and byte swap), assembled by hand.
#![allow(dead_code)]

use super::asm::{Arg::*, RET, Size::*, double, jump, single};
use sunseal_isa::msp430::{Cpu, FlatBus, PC, PageKind, SP, Timing};

pub const CODE: u32 = 0x5C00;
pub const RAM: u32 = 0x1C00;
pub const STACK: u32 = 0x5C00;
/// Where the loop counts its rounds.
pub const ROUNDS: u32 = RAM;
/// The CRC of the last round.
pub const CRC: u32 = RAM + 2;
/// Two factors of four words and their product of eight.
pub const FACTOR_A: u32 = RAM + 0x10;
pub const FACTOR_B: u32 = RAM + 0x20;
pub const PRODUCT: u32 = RAM + 0x30;
pub const COPY: u32 = RAM + 0x50;

#[derive(Default)]
struct Program {
    words: Vec<u16>,
}

impl Program {
    fn here(&self) -> u32 {
        CODE + 2 * self.words.len() as u32
    }

    fn put(&mut self, words: Vec<u16>) -> &mut Self {
        self.words.extend(words);
        self
    }

    fn back(&mut self, condition: &str, target: u32) {
        let words = (target as i32 - self.here() as i32 - 2) / 2;
        self.put(jump(condition, words as i16));
    }

    /// R12 (16 bit) x r13 -> r15:r14, shift and add; clobbers r11..r13.
    fn multiply(&mut self) -> u32 {
        let multiply = self.here();
        self.put(double("MOV", W, Cg(0), R(14))).put(double("MOV", W, Cg(0), R(15)));
        self.put(double("MOV", W, Cg(0), R(11)));
        let again = self.here();
        self.put(double("BIT", W, Cg(1), R(13))).put(jump("JEQ", 2));
        self.put(double("ADD", W, R(12), R(14))).put(double("ADDC", W, R(11), R(15)));
        self.put(double("ADD", W, R(12), R(12))).put(double("ADDC", W, R(11), R(11)));
        self.put(double("BIC", W, Cg(1), R(13))).put(single("RRC", W, R(13)));
        self.put(double("BIC", W, Imm(0x8000), R(13)));
        self.put(double("CMP", W, Cg(0), R(13)));
        self.back("JNE", again);
        self.put(vec![RET]);
        multiply
    }

    /// FACTOR_A x FACTOR_B -> PRODUCT, operand scanning; r4..r10 saved.
    fn long_multiply(&mut self, multiply: u32) -> u32 {
        let long_multiply = self.here();
        for reg in [10, 9, 8, 7, 6, 5, 4] {
            self.put(single("PUSH", W, R(reg)));
        }
        self.put(double("MOV", W, Imm(PRODUCT), R(10))).put(double("MOV", W, Cg(8), R(9)));
        let clear = self.here();
        self.put(double("MOV", W, Cg(0), X(0, 10))).put(double("ADD", W, Cg(2), R(10)));
        self.put(double("SUB", W, Cg(1), R(9)));
        self.back("JNE", clear);
        self.put(double("MOV", W, Cg(0), R(10)));
        let outer = self.here();
        self.put(double("MOV", W, Imm(FACTOR_A), R(9))).put(double("MOV", W, Cg(4), R(8)));
        self.put(double("MOV", W, R(10), R(7))).put(double("ADD", W, Imm(PRODUCT), R(7)));
        self.put(double("MOV", W, Cg(0), R(6)));
        let inner = self.here();
        self.put(double("MOV", W, Inc(9), R(12))).put(double(
            "MOV",
            W,
            X(FACTOR_B as i32, 10),
            R(13),
        ));
        self.put(single("CALL", W, Imm(multiply)));
        self.put(double("ADD", W, R(6), R(14))).put(double("ADDC", W, Cg(0), R(15)));
        self.put(double("ADD", W, R(14), X(0, 7))).put(double("ADDC", W, Cg(0), R(15)));
        self.put(double("MOV", W, R(15), R(6))).put(double("ADD", W, Cg(2), R(7)));
        self.put(double("SUB", W, Cg(1), R(8)));
        self.back("JNE", inner);
        self.put(double("MOV", W, R(6), X(0, 7)));
        self.put(double("ADD", W, Cg(2), R(10))).put(double("CMP", W, Cg(8), R(10)));
        self.back("JNE", outer);
        for reg in [4, 5, 6, 7, 8, 9, 10] {
            self.put(double("MOV", W, Inc(1), R(reg)));
        }
        self.put(vec![RET]);
        long_multiply
    }

    /// CRC-16/CCITT of r13 bytes at r12 -> r14, bit by bit.
    fn crc(&mut self) -> u32 {
        let crc = self.here();
        self.put(double("MOV", W, Imm(0xFFFF), R(14)));
        let byte = self.here();
        self.put(double("MOV", B, Inc(12), R(11))).put(single("SWPB", W, R(11)));
        self.put(double("XOR", W, R(11), R(14))).put(double("MOV", W, Cg(8), R(10)));
        let bit = self.here();
        self.put(double("ADD", W, R(14), R(14))).put(jump("JNC", 2));
        self.put(double("XOR", W, Imm(0x1021), R(14)));
        self.put(double("SUB", W, Cg(1), R(10)));
        self.back("JNE", bit);
        self.put(double("SUB", W, Cg(1), R(13)));
        self.back("JNE", byte);
        self.put(vec![RET]);
        crc
    }

    /// R13 words from r12 to r14, bytes swapped.
    fn copy(&mut self) -> u32 {
        let copy = self.here();
        self.put(double("MOV", W, Inc(12), R(11))).put(single("SWPB", W, R(11)));
        self.put(double("MOV", W, R(11), X(0, 14))).put(double("ADD", W, Cg(2), R(14)));
        self.put(double("SUB", W, Cg(1), R(13)));
        self.back("JNE", copy);
        self.put(vec![RET]);
        copy
    }
}

/// The program and where it starts.
pub fn words() -> (Vec<u16>, u32) {
    let mut p = Program::default();

    let multiply = p.multiply();
    let long_multiply = p.long_multiply(multiply);
    let crc = p.crc();
    let copy = p.copy();
    let start = p.here();
    p.put(double("MOV", W, Imm(STACK), R(1)));
    let round = p.here();
    p.put(single("CALL", W, Imm(long_multiply)));
    p.put(double("MOV", W, Imm(PRODUCT), R(12))).put(double("MOV", W, Imm(16), R(13)));
    p.put(single("CALL", W, Imm(crc))).put(double("MOV", W, R(14), Abs(CRC)));
    p.put(double("MOV", W, Imm(PRODUCT), R(12))).put(double("MOV", W, Cg(8), R(13)));
    p.put(double("MOV", W, Imm(COPY), R(14))).put(single("CALL", W, Imm(copy)));
    p.put(double("ADD", W, Cg(1), Abs(ROUNDS)));
    p.put(double("MOV", W, Abs(CRC), Abs(FACTOR_A))).put(double(
        "XOR",
        W,
        Abs(ROUNDS),
        Abs(FACTOR_B),
    ));
    p.back("JMP", round);
    (p.words, start)
}

pub fn machine(timing: Timing) -> (Cpu, FlatBus) {
    let (words, start) = words();
    let mut bus = FlatBus::new();
    bus.map(RAM..STACK, PageKind::Ram);
    bus.map(CODE..0x1_0000, PageKind::Code);
    bus.load(CODE, &words);
    bus.load(FACTOR_A, &[0x1234, 0x5678, 0x9ABC, 0xDEF0]);
    bus.load(FACTOR_B, &[0x0FED, 0xCBA9, 0x8765, 0x4321]);
    let mut cpu = Cpu::new(timing);
    cpu.r[PC] = start;
    cpu.r[SP] = STACK;
    (cpu, bus)
}
