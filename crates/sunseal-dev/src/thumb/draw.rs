// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random instructions of every class of encodings (Armv7-M ARM chapters A5 and A6), with addresses in memory.

use sunseal_isa::thumb::{Address, Condition, Context, Insn, Kind, Source, branches, decode};
use sunseal_isa::{Fault, FaultKind};

use crate::random::Random;

/// First address of the data of drawn programs.
pub(super) const RAM: u32 = 0x2000_0000;
pub(super) const RAM_BYTES: u32 = 0x1000;

/// Instructions that belong together: those that make an address and the one that uses it, IT and what it conditions,
/// a branch and what it leaps over. Free of its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit(pub Vec<u16>);

/// Classes of encodings: the first halfword and its free bits, the second and its own. A second of all zeros is none.
const CLASSES: &[(u16, u16, u16, u16)] = &[
    (0x0000, 0x3FFF, 0, 0),           // shifts, add, subtract, move, compare
    (0x4000, 0x03FF, 0, 0),           // data processing
    (0x4400, 0x02FF, 0, 0),           // high registers
    (0x4800, 0x07FF, 0, 0),           // literals
    (0x5000, 0x0FFF, 0, 0),           // loads and stores, register offset
    (0x6000, 0x3FFF, 0, 0),           // immediate offset
    (0xA000, 0x0FFF, 0, 0),           // ADR, ADD SP
    (0xB000, 0x0FFF, 0, 0),           // miscellaneous
    (0xC000, 0x0FFF, 0, 0),           // LDM, STM
    (0xE800, 0x01BF, 0x0000, 0xDFFF), // LDM, STM
    (0xE840, 0x01BF, 0x0000, 0xFFFF), // dual, exclusive
    (0xE8D0, 0x000F, 0x0F4F, 0xF010), // LDREXB, LDREXH
    (0xE8C0, 0x000F, 0x0F40, 0xF01F), // STREXB, STREXH
    (0xEA4F, 0x0010, 0x0030, 0x0F0F), // RRX
    (0xEA00, 0x01FF, 0x0000, 0x7FFF), // shifted register
    (0xEA00, 0x01FF, 0x0000, 0x7FFF),
    (0xF000, 0x05FF, 0x0000, 0x7FFF), // modified immediate
    (0xF200, 0x05FF, 0x0000, 0x7FFF), // plain immediate
    (0xF300, 0x00FF, 0x0000, 0x7FFF), // saturation, bit fields
    (0xF3E0, 0x001F, 0x8000, 0x0FFF), // MRS
    (0xF380, 0x000F, 0x8000, 0x0C03), // MSR APSR
    (0xF3AF, 0x0000, 0x8000, 0x00FF), // hints
    (0xF3BF, 0x0000, 0x8F00, 0x007F), // barriers
    (0xF800, 0x01FF, 0x0000, 0xFFFF), // single loads and stores
    (0xF880, 0x017F, 0x0000, 0xFFFF),
    (0xF800, 0x017F, 0x0800, 0xF7FF),
    (0xF800, 0x017F, 0x0000, 0xF03F),
    (0xFA00, 0x007F, 0xF000, 0x0F0F), // shifts by register
    (0xFA00, 0x007F, 0xF080, 0x0F3F), // extensions
    (0xFA80, 0x007F, 0xF000, 0x0F7F), // parallel
    (0xFA80, 0x003F, 0xF080, 0x0F3F), // miscellaneous
    (0xFB00, 0x007F, 0x0000, 0xFF3F), // multiplications
    (0xFB00, 0x007F, 0xF000, 0x0F3F),
    (0xFB80, 0x007F, 0x0000, 0xFFFF), // long ones
    (0xFB80, 0x007F, 0x0000, 0xFF0F),
    (0xFBE0, 0x000F, 0x0060, 0xFF0F), // UMAAL
    (0xFB90, 0x002F, 0xF0F0, 0x0F0F), // divisions
    (0xEE00, 0x00FF, 0x0A00, 0xF0EF), // floating point
    (0xEE00, 0x00FF, 0x0A00, 0xF0EF),
    (0xEEB0, 0x004F, 0x0A40, 0xF0AF),
    (0xEEB0, 0x004F, 0x0A40, 0xF0AF),
    (0xEE00, 0x00FF, 0x0A10, 0xF180), // moves
    (0xEEE1, 0x0010, 0x0A10, 0xF000), // VMRS, VMSR
    (0xEC00, 0x01FF, 0x0A00, 0xF11F), // floating-point memory
    (0xED00, 0x00DF, 0x0A00, 0xF1FF),
    (0xEC40, 0x001F, 0x0A10, 0xF12F), // two registers
];

fn no_code(addr: u32) -> Fault {
    Fault::new(FaultKind::NotCode, addr)
}

/// Decodes an instruction that does not depend on its address.
pub(super) fn decoded(words: &[u16], context: Context) -> Option<Insn> {
    let word = |addr: u32| words.get(addr as usize / 2).copied().ok_or_else(|| no_code(addr));
    decode(0, context, word).ok()
}

/// One instruction of any class, decodable mostly.
fn any(random: &mut Random, context: Context) -> Vec<u16> {
    loop {
        let (a, free_a, b, free_b) = random.pick(CLASSES);
        let mut words = vec![a | random.word() as u16 & free_a];
        if words[0] >> 11 >= 0b11101 {
            words.push(b | random.word() as u16 & free_b);
        }
        match decoded(&words, context) {
            Some(insn) if leads_away(insn.kind) => {}
            Some(_) => return words,
            None if random.one_in(4000) => return words,
            None => {}
        }
    }
}

/// Instructions that end the program, or reach what the other simulator has not.
fn leads_away(kind: Kind) -> bool {
    match kind {
        kind if branches(kind) => true,
        Kind::It { .. }
        | Kind::Svc { .. }
        | Kind::Bkpt { .. }
        | Kind::Cps { .. }
        | Kind::Hint(_)
        | Kind::Alu { rd: 15, .. } => true,
        // Unicorn's monitor knows an address, the Cortex-M4's has none (TRM r0p1 3.8): see `exclusive`.
        Kind::StoreExclusive { .. } => true,
        // Unicorn keeps the two lowest bits of SP, which do not exist (B1.4.1).
        Kind::Alu { rd: 13, op, src, .. } => {
            !op.compares() && !matches!(src, Source::Imm { value, .. } if value & 3 == 0)
        }
        Kind::AddWide { rd: 13, imm, .. } => imm & 3 != 0,
        Kind::Load { rt: 13, .. } => true,
        Kind::Load { addr: Address::Pre(13, imm) | Address::Post(13, imm), .. }
        | Kind::Store { addr: Address::Pre(13, imm) | Address::Post(13, imm), .. } => imm & 3 != 0,
        Kind::Msr { special, .. } => special > 3,
        _ => false,
    }
}

/// Loads a constant of 32 bits by MOVW and MOVT.
fn load_constant(words: &mut Vec<u16>, rd: u8, value: u32) {
    for (op, half) in [(0xF240, value & 0xFFFF), (0xF2C0, value >> 16)] {
        words.push((op | half >> 12 | half >> 1 & 0x400) as u16);
        words.push((half << 4 & 0x7000 | u32::from(rd) << 8 | half & 0xFF) as u16);
    }
}

/// Registers made of constants, so that the instruction meets memory: `(register, value)`.
fn addresses(kind: Kind, random: &mut Random) -> Vec<(u8, u32)> {
    let mut target = RAM + 0x100 + random.below(RAM_BYTES - 0x200);
    if !random.one_in(4) {
        target &= !3;
    }
    let aligned = target & !3;
    match kind {
        Kind::Load { addr, .. } | Kind::Store { addr, .. } => of(addr, target, random),
        Kind::LoadDual { addr, .. } | Kind::StoreDual { addr, .. } => of(addr, aligned, random),
        Kind::LoadMany { rn, .. } | Kind::StoreMany { rn, .. } => vec![(rn, aligned)],
        Kind::LoadExclusive { rn, offset, .. } | Kind::StoreExclusive { rn, offset, .. } => {
            vec![(rn, aligned.wrapping_sub(offset))]
        }
        Kind::FloatLoad { rn, offset, .. } | Kind::FloatStore { rn, offset, .. } if rn != 15 => {
            vec![(rn, aligned.wrapping_add_signed(-offset))]
        }
        Kind::FloatMany { rn, .. } if rn != 15 => vec![(rn, aligned)],
        _ => Vec::new(),
    }
}

fn of(addr: Address, target: u32, random: &mut Random) -> Vec<(u8, u32)> {
    match addr {
        Address::Offset(rn, offset) | Address::Pre(rn, offset) => {
            vec![(rn, target.wrapping_add_signed(-offset))]
        }
        Address::Post(rn, _) => vec![(rn, target)],
        Address::Register(rn, rm, n) if rn != rm => {
            let index = random.value(16).wrapping_sub(random.below(3));
            vec![(rm, index), (rn, target.wrapping_sub(index << n))]
        }
        _ => Vec::new(),
    }
}

fn prepare(words: &mut Vec<u16>, insn: &[u16], context: Context, random: &mut Random) {
    let Some(insn) = decoded(insn, context) else { return };
    for (register, value) in addresses(insn.kind, random) {
        if register == 13 {
            load_constant(words, 12, value & !3);
            words.push(0x46E5); // MOV SP, R12
        } else {
            load_constant(words, register, value);
        }
    }
}

/// IT and one to four instructions under it.
fn block(random: &mut Random) -> Vec<u16> {
    let count = 1 + random.below(4);
    let first = random.below(14) as u16;
    let ends = 1u16 << (4 - count);
    let mask = random.word() as u16 & 0xF & !(ends | (ends - 1)) | ends;
    let mut before = Vec::new();
    let mut words = vec![0xBF00 | first << 4 | mask];
    for i in 0..count {
        let condition = Condition::of(first.into());
        let last = i == count - 1;
        let context = if last { Context::Last(condition) } else { Context::Inside(condition) };
        let insn = loop {
            let insn = any(random, context);
            // Unicorn loses the rest of ITSTATE at a barrier.
            let known = decoded(&insn, context);
            if known.is_some_and(|insn| !matches!(insn.kind, Kind::Barrier(..))) {
                break insn;
            }
        };
        prepare(&mut before, &insn, context, random);
        words.extend(insn);
    }
    before.extend(words);
    before
}

/// A branch of each kind, over an instruction or to the next.
fn branch(random: &mut Random) -> Vec<u16> {
    let narrow = 0x3000 | random.word() as u16 & 0x07FF; // ADDS Rd, #imm
    let condition = random.below(14) as u16;
    let low = random.below(8) as u16;
    match random.below(9) {
        0 => vec![0xD000 | condition << 8, narrow],
        1 => vec![0xB100 | random.word() as u16 & 0x0800 | low, narrow],
        2 => vec![0xF000 | condition << 6, 0x8001, narrow],
        3 => vec![0xE000, narrow],
        4 => vec![0xF000, 0xB801, narrow],
        5 => vec![0xF000, 0xF801, narrow],
        6 => {
            let op = if random.one_in(2) { 0x4700 } else { 0x4780 };
            vec![0x4678 | low, 0x3003 | low << 8, op | low << 3]
        }
        7 => {
            let mut words = Vec::new();
            load_constant(&mut words, 5, random.below(2));
            words.extend([0xE8DF, 0xF005, 0x0101]); // TBB [PC, R5]
            words
        }
        _ => vec![0x4678 | low, 0x3005 | low << 8, 0xB400 | 1 << low, 0xBD00], // PUSH, POP {PC}
    }
}

/// LDREX and STREX of one address, with CLREX between sometimes.
fn exclusive(random: &mut Random) -> Vec<u16> {
    let mut words = Vec::new();
    let target = RAM + 0x400 + (random.below(0x400) & !3);
    load_constant(&mut words, 4, target);
    let (t, t2) = (random.below(4) as u16, random.below(4) as u16);
    let size = random.below(3) as u16;
    let offset = random.below(256) as u16;
    words.extend(match size {
        0 => [0xE854, t << 12 | 0xF00 | offset],
        _ => [0xE8D4, (t << 12) | (0xF3F + (size << 4))],
    });
    if random.one_in(4) {
        words.extend([0xF3BF, 0x8F2F]);
    }
    words.extend(match size {
        0 => [0xE844, t2 << 12 | 0x500 | offset],
        _ => [0xE8C4, (t2 << 12) | (0xF35 + (size << 4))],
    });
    words
}

pub(super) fn unit(random: &mut Random) -> Unit {
    Unit(match random.below(24) {
        0 | 1 => block(random),
        2 | 3 => branch(random),
        4 => exclusive(random),
        _ => {
            let insn = any(random, Context::Outside);
            let mut words = Vec::new();
            prepare(&mut words, &insn, Context::Outside, random);
            words.extend(insn);
            words
        }
    })
}

/// Encodings that a program may not have as they come, but a single step may.
const BRANCHES: &[(u16, u16, u16, u16)] = &[
    (0xD000, 0x0FFF, 0, 0),           // Bcc
    (0xE000, 0x07FF, 0, 0),           // B
    (0xB100, 0x0AFF, 0, 0),           // CBZ, CBNZ
    (0x4700, 0x00F8, 0, 0),           // BX, BLX
    (0x4687, 0x0078, 0, 0),           // MOV PC
    (0xBD00, 0x00FF, 0, 0),           // POP {PC}
    (0xF000, 0x07FF, 0x8000, 0x3FFF), // B.W
    (0xF000, 0x07FF, 0xD000, 0x2FFF), // BL
    (0xE8D0, 0x000F, 0xF000, 0x001F), // TBB, TBH
    (0xBF00, 0x0050, 0, 0),           // hints
    (0xF850, 0x000F, 0xFB04, 0x0000), // LDR PC
];

/// The chapter of the manual that an instruction is in: its name without condition, S, width and data type.
pub(super) fn name(insn: &Insn) -> String {
    let text = Insn { context: Context::Outside, ..*insn }.to_string();
    let first = text.split([' ', '.']).next().unwrap_or_default();
    match insn.kind {
        Kind::Branch { .. } => "B".to_owned(),
        Kind::It { .. } => "IT".to_owned(),
        Kind::Cps { .. } => "CPS".to_owned(),
        Kind::Alu { set: true, op, .. } if !op.compares() => {
            first.strip_suffix('S').unwrap_or(first).to_owned()
        }
        Kind::Mul { set: true, .. } => "MUL".to_owned(),
        _ => first.to_owned(),
    }
}

/// Whether it belongs to the floating-point unit.
pub(super) fn is_float(insn: &Insn) -> bool {
    name(insn).starts_with('V')
}

/// Any instruction, of which `wanted` may choose, as its halfwords.
pub(super) fn choose(
    random: &mut Random,
    context: Context,
    wanted: impl Fn(&Insn) -> bool,
) -> Vec<u16> {
    loop {
        let classes = if random.one_in(4) { BRANCHES } else { CLASSES };
        let (a, free_a, b, free_b) = random.pick(classes);
        let mut words = vec![a | random.word() as u16 & free_a];
        if words[0] >> 11 >= 0b11101 {
            words.push(b | random.word() as u16 & free_b);
        }
        if decoded(&words, context).is_some_and(|insn| wanted(&insn)) {
            return words;
        }
    }
}

/// Registers with which an instruction at `pc` meets aligned memory, most of the time.
pub(super) fn aim(words: &[u16], context: Context, registers: &mut [u32], random: &mut Random) {
    let Some(insn) = decoded(words, context) else { return };
    for (register, value) in addresses(insn.kind, random) {
        registers[usize::from(register)] = value;
    }
}
