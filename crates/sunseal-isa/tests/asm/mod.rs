// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words from operands: just enough to build tests and benchmarks from, written from the manual's
//! formats and independent of the decoder.
#![allow(dead_code)]

/// Format I operations, opcode 4 to 15.
pub const DOUBLE: [&str; 12] =
    ["MOV", "ADD", "ADDC", "SUBC", "SUB", "CMP", "DADD", "BIT", "BIC", "BIS", "XOR", "AND"];
/// Format II operations, opcode field 0 to 5.
pub const SINGLE: [&str; 6] = ["RRC", "SWPB", "RRA", "SXT", "PUSH", "CALL"];

pub const PC: u16 = 0;
pub const SP: u16 = 1;
pub const SR: u16 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    B,
    W,
    A,
}

/// An operand as written; indexes and addresses of up to 20 bits where an extension word is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    R(u16),
    /// `X(Rn)`; `X(PC)` is the symbolic mode, relative to the index word.
    X(i32, u16),
    Abs(u32),
    At(u16),
    Inc(u16),
    /// Always with a word, even where a constant generator has it.
    Imm(u32),
    /// From a constant generator: 0, 1, 2, 4, 8, -1.
    Cg(i32),
}

impl Arg {
    /// As, register, operand word with bits 19:16.
    fn source(self) -> (u16, u16, Option<u32>) {
        match self {
            Self::R(r) => (0, r, None),
            Self::X(x, r) => (1, r, Some(x as u32 & 0xF_FFFF)),
            Self::Abs(a) => (1, SR, Some(a)),
            Self::At(r) => (2, r, None),
            Self::Inc(r) => (3, r, None),
            Self::Imm(n) => (3, PC, Some(n & 0xF_FFFF)),
            Self::Cg(0) => (0, 3, None),
            Self::Cg(1) => (1, 3, None),
            Self::Cg(2) => (2, 3, None),
            Self::Cg(-1) => (3, 3, None),
            Self::Cg(4) => (2, SR, None),
            Self::Cg(8) => (3, SR, None),
            Self::Cg(n) => panic!("no generator makes {n}"),
        }
    }

    /// Ad, register, operand word with bits 19:16.
    fn destination(self) -> (u16, u16, Option<u32>) {
        match self {
            Self::R(r) => (0, r, None),
            Self::X(x, r) => (1, r, Some(x as u32 & 0xF_FFFF)),
            Self::Abs(a) => (1, SR, Some(a)),
            arg => panic!("{arg:?} is no destination of a double-operand instruction"),
        }
    }

    pub fn in_register(self) -> bool {
        matches!(self, Self::R(_) | Self::Cg(_))
    }
}

/// The extension word of register mode: ZC, repetition (`Err(reg)` takes the count from a register).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    pub zc: bool,
    pub times: Result<u16, u16>,
}

pub const ONCE: Repeat = Repeat { zc: false, times: Ok(1) };

fn length_bits(size: Size) -> (u16, u16) {
    // A/L, B/W
    match size {
        Size::B => (1, 1),
        Size::W => (1, 0),
        Size::A => (0, 1),
    }
}

fn repeat_word(al: u16, repeat: Repeat) -> u16 {
    let (from_register, field) = match repeat.times {
        Ok(n) => (0, n - 1),
        Err(reg) => (1, reg),
    };
    0x1800 | u16::from(repeat.zc) << 8 | from_register << 7 | al << 6 | field
}

pub fn double(op: &str, size: Size, src: Arg, dst: Arg) -> Vec<u16> {
    assert!(size != Size::A);
    let code = DOUBLE.iter().position(|&name| name == op).unwrap() as u16 + 4;
    let ((am, sreg, sw), (ad, dreg, dw)) = (src.source(), dst.destination());
    let byte = u16::from(size == Size::B);
    let mut words = vec![code << 12 | sreg << 8 | ad << 7 | byte << 6 | am << 4 | dreg];
    words.extend(sw.map(|w| w as u16));
    words.extend(dw.map(|w| w as u16));
    words
}

pub fn double_x(op: &str, size: Size, src: Arg, dst: Arg, repeat: Repeat) -> Vec<u16> {
    let (al, bw) = length_bits(size);
    let base = double(op, Size::W, src, dst);
    let ext = if src.in_register() && dst.in_register() {
        repeat_word(al, repeat)
    } else {
        let high = |w: Option<u32>| w.map_or(0, |w| (w >> 16) as u16);
        0x1800 | high(src.source().2) << 7 | al << 6 | high(dst.destination().2)
    };
    let mut words = vec![ext, base[0] | bw << 6];
    words.extend(&base[1..]);
    words
}

pub fn single(op: &str, size: Size, arg: Arg) -> Vec<u16> {
    assert!(size != Size::A);
    let code = SINGLE.iter().position(|&name| name == op).unwrap() as u16;
    let (mode, reg, word) = arg.source();
    let byte = u16::from(size == Size::B);
    let mut words = vec![0x1000 | code << 7 | byte << 6 | mode << 4 | reg];
    words.extend(word.map(|w| w as u16));
    words
}

pub fn single_x(op: &str, size: Size, arg: Arg, repeat: Repeat) -> Vec<u16> {
    let (al, mut bw) = length_bits(size);
    if size == Size::A && matches!(op, "SWPB" | "SXT") {
        bw = 0;
    }
    let base = single(op, Size::W, arg);
    let ext = if arg.in_register() {
        repeat_word(al, repeat)
    } else {
        0x1800 | al << 6 | arg.source().2.map_or(0, |w| (w >> 16) as u16)
    };
    let mut words = vec![ext, base[0] | bw << 6];
    words.extend(&base[1..]);
    words
}

/// MOVA, CMPA, ADDA, SUBA.
pub fn address(op: &str, src: Arg, dst: Arg) -> Vec<u16> {
    let which =
        ["MOVA", "CMPA", "ADDA", "SUBA"].iter().position(|&name| name == op).unwrap() as u16;
    let high = |n: u32| (n >> 16) as u16 & 0xF;
    match (src, dst) {
        (Arg::R(s), Arg::R(d)) => vec![s << 8 | (12 + which) << 4 | d],
        (Arg::Imm(n), Arg::R(d)) => vec![high(n) << 8 | (8 + which) << 4 | d, n as u16],
        (Arg::At(s), Arg::R(d)) => vec![s << 8 | d],
        (Arg::Inc(s), Arg::R(d)) => vec![s << 8 | 0x10 | d],
        (Arg::Abs(a), Arg::R(d)) => vec![high(a) << 8 | 0x20 | d, a as u16],
        (Arg::X(x, s), Arg::R(d)) => vec![s << 8 | 0x30 | d, x as u16],
        (Arg::R(s), Arg::Abs(a)) => vec![s << 8 | 0x60 | high(a), a as u16],
        (Arg::R(s), Arg::X(x, d)) => vec![s << 8 | 0x70 | d, x as u16],
        _ => panic!("{op} has no form {src:?}, {dst:?}"),
    }
}

pub fn calla(arg: Arg) -> Vec<u16> {
    let high = |n: u32| (n >> 16) as u16 & 0xF;
    match arg {
        Arg::R(r) => vec![0x1340 | r],
        Arg::X(x, PC) => vec![0x1390 | high(x as u32), x as u16],
        Arg::X(x, r) => vec![0x1350 | r, x as u16],
        Arg::At(r) => vec![0x1360 | r],
        Arg::Inc(r) => vec![0x1370 | r],
        Arg::Abs(a) => vec![0x1380 | high(a), a as u16],
        Arg::Imm(n) => vec![0x13B0 | high(n), n as u16],
        Arg::Cg(_) => panic!("CALLA uses no constant generator"),
    }
}

/// RRCM, RRAM, RLAM, RRUM `#n, Rdst`
pub fn rotate(op: &str, size: Size, n: u16, reg: u16) -> Vec<u16> {
    let which =
        ["RRCM", "RRAM", "RLAM", "RRUM"].iter().position(|&name| name == op).unwrap() as u16;
    vec![(n - 1) << 10 | which << 8 | if size == Size::A { 0x40 } else { 0x50 } | reg]
}

/// PUSHM, POPM `#n, Rdst`, Rdst the highest register.
pub fn many(op: &str, size: Size, n: u16, reg: u16) -> Vec<u16> {
    let word = u16::from(size == Size::W) << 8;
    match op {
        "PUSHM" => vec![0x1400 | word | (n - 1) << 4 | reg],
        "POPM" => vec![0x1600 | word | (n - 1) << 4 | (reg + 1 - n)],
        _ => panic!("{op}"),
    }
}

/// A jump over `words` words, counted from the one behind it.
pub fn jump(condition: &str, words: i16) -> Vec<u16> {
    let code = ["JNE", "JEQ", "JNC", "JC", "JN", "JGE", "JL", "JMP"]
        .iter()
        .position(|&name| name == condition)
        .unwrap() as u16;
    vec![0x2000 | code << 10 | words as u16 & 0x3FF]
}

pub const RETI: u16 = 0x1300;
pub const RET: u16 = 0x4130;
