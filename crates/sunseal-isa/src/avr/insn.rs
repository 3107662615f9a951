// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words to instructions: the bit patterns of the AVR Instruction Set Manual (DS40002198, chapter 6), as far
//! as a core without EIND, DES and the read-modify-write instructions has them (AVRe with multiplier).

use crate::{Fault, FaultKind};

/// What an instruction does. Names that the manual gives to special operands (LSL, TST, SER, SBR) appear as
/// what they are; conditional branches and flag instructions print with the flag's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mnemonic {
    Adc,
    Add,
    Adiw,
    And,
    Andi,
    Asr,
    Bclr,
    Bld,
    Brbc,
    Brbs,
    Break,
    Bset,
    Bst,
    Call,
    Cbi,
    Com,
    Cp,
    Cpc,
    Cpi,
    Cpse,
    Dec,
    Elpm,
    Eor,
    Fmul,
    Fmuls,
    Fmulsu,
    Icall,
    Ijmp,
    In,
    Inc,
    Jmp,
    Ld,
    Ldi,
    Lds,
    Lpm,
    Lsr,
    Mov,
    Movw,
    Mul,
    Muls,
    Mulsu,
    Neg,
    Nop,
    Or,
    Ori,
    Out,
    Pop,
    Push,
    Rcall,
    Ret,
    Reti,
    Rjmp,
    Ror,
    Sbc,
    Sbci,
    Sbi,
    Sbic,
    Sbis,
    Sbiw,
    Sbrc,
    Sbrs,
    Sleep,
    Spm,
    St,
    Sts,
    Sub,
    Subi,
    Swap,
    Wdr,
}

/// What a pointer does around its access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// It stays; the access is this far behind it (0 to 63, Y and Z only).
    Stay(u8),
    /// It grows by one behind the access.
    Increment,
    /// It shrinks by one before the access.
    Decrement,
}

/// An operand. Addresses of code are byte addresses and resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    None,
    Reg(u8),
    /// `Rd+1:Rd`, by the lower one.
    Pair(u8),
    Immediate(u8),
    /// An address of the I/O space, 0 to 63.
    Io(u8),
    /// A bit of a register, 0 to 7, or of SREG.
    Bit(u8),
    /// An address of the data space.
    Data(u16),
    /// Where a jump or call goes, in bytes.
    Code(u32),
    /// Through X, Y or Z, by the lower register: 26, 28 or 30.
    Pointer(u8, Step),
}

/// Instruction of the AVR, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Insn {
    /// What it does, by its name in assembly.
    pub mnemonic: Mnemonic,
    /// The operand written first: the destination of most, the address of stores.
    pub first: Operand,
    /// The operand written second.
    pub second: Operand,
    /// Its length, 1 or 2.
    pub words: u8,
}

/// X, by its lower register.
pub(crate) const X: u8 = 26;
/// Y, by its lower register.
pub(crate) const Y: u8 = 28;
/// Z, by its lower register.
pub(crate) const Z: u8 = 30;

/// The program counter has 16 bits: 64 K words.
pub(crate) const PC_MASK: u32 = 0xFFFF;

/// Whether the first word of an instruction says that there is a second.
pub(crate) const fn is_long(word: u16) -> bool {
    // LDS, STS; JMP, CALL
    word & 0xFC0F == 0x9000 || word & 0xFE0C == 0x940C
}

/// The instruction at word address `pc`, whose words `fetch` gives.
///
/// # Errors
/// What `fetch` says, or that the words are no instruction of this core.
pub fn decode(pc: u32, mut fetch: impl FnMut(u32) -> Result<u16, Fault>) -> Result<Insn, Fault> {
    let w = fetch(pc)?;
    let illegal = |reason| {
        let kind = FaultKind::IllegalOpcode { word: w, reason };
        Err(Fault::new(kind, 2 * pc))
    };
    let d5 = (w >> 4 & 0x1F) as u8;
    let r5 = (w & 0xF | w >> 5 & 0x10) as u8;
    let d4 = 16 + (w >> 4 & 0xF) as u8;
    let k8 = (w & 0xF | w >> 4 & 0xF0) as u8;
    let bit = (w & 7) as u8;
    let insn = |mnemonic, first, second| Insn { mnemonic, first, second, words: 1 };
    let two = |mnemonic| insn(mnemonic, Operand::Reg(d5), Operand::Reg(r5));
    let constant = |mnemonic| insn(mnemonic, Operand::Reg(d4), Operand::Immediate(k8));
    let one = |mnemonic| insn(mnemonic, Operand::Reg(d5), Operand::None);
    let none = |mnemonic| insn(mnemonic, Operand::None, Operand::None);
    let load =
        |mnemonic, pointer, step| insn(mnemonic, Operand::Reg(d5), Operand::Pointer(pointer, step));
    let store =
        |pointer, step| insn(Mnemonic::St, Operand::Pointer(pointer, step), Operand::Reg(d5));
    let code = |target: u32| Operand::Code(2 * (target & PC_MASK));
    Ok(match w >> 12 {
        0x0 => match w >> 8 & 0xF {
            0x0 if w == 0 => none(Mnemonic::Nop),
            0x0 => return illegal("reserved; of 0x00xx only 0x0000 (NOP) is an instruction"),
            0x1 => insn(
                Mnemonic::Movw,
                Operand::Pair((w >> 4 & 0xF) as u8 * 2),
                Operand::Pair((w & 0xF) as u8 * 2),
            ),
            0x2 => insn(Mnemonic::Muls, Operand::Reg(d4), Operand::Reg(16 + (w & 0xF) as u8)),
            0x3 => {
                let mnemonic = match (w >> 7 & 1, w >> 3 & 1) {
                    (0, 0) => Mnemonic::Mulsu,
                    (0, _) => Mnemonic::Fmul,
                    (_, 0) => Mnemonic::Fmuls,
                    _ => Mnemonic::Fmulsu,
                };
                let d3 = 16 + (w >> 4 & 7) as u8;
                insn(mnemonic, Operand::Reg(d3), Operand::Reg(16 + bit))
            }
            0x4..=0x7 => two(Mnemonic::Cpc),
            0x8..=0xB => two(Mnemonic::Sbc),
            _ => two(Mnemonic::Add),
        },
        0x1 => two(match w >> 10 & 3 {
            0 => Mnemonic::Cpse,
            1 => Mnemonic::Cp,
            2 => Mnemonic::Sub,
            _ => Mnemonic::Adc,
        }),
        0x2 => two(match w >> 10 & 3 {
            0 => Mnemonic::And,
            1 => Mnemonic::Eor,
            2 => Mnemonic::Or,
            _ => Mnemonic::Mov,
        }),
        0x3 => constant(Mnemonic::Cpi),
        0x4 => constant(Mnemonic::Sbci),
        0x5 => constant(Mnemonic::Subi),
        0x6 => constant(Mnemonic::Ori),
        0x7 => constant(Mnemonic::Andi),
        0x8 | 0xA => {
            let q = (w & 7 | w >> 7 & 0x18 | w >> 8 & 0x20) as u8;
            let pointer = if w & 8 != 0 { Y } else { Z };
            if w & 0x200 == 0 {
                load(Mnemonic::Ld, pointer, Step::Stay(q))
            } else {
                store(pointer, Step::Stay(q))
            }
        }
        0x9 => match w >> 8 & 0xF {
            0x0..=0x3 => {
                let is_load = w & 0x200 == 0;
                let data = |pointer, step| {
                    if is_load { load(Mnemonic::Ld, pointer, step) } else { store(pointer, step) }
                };
                match (w & 0xF, is_load) {
                    (0x0, true) => Insn {
                        second: Operand::Data(fetch((pc + 1) & PC_MASK)?),
                        words: 2,
                        ..one(Mnemonic::Lds)
                    },
                    (0x0, false) => Insn {
                        mnemonic: Mnemonic::Sts,
                        first: Operand::Data(fetch((pc + 1) & PC_MASK)?),
                        second: Operand::Reg(d5),
                        words: 2,
                    },
                    (0x1, _) => data(Z, Step::Increment),
                    (0x2, _) => data(Z, Step::Decrement),
                    (0x4, true) => load(Mnemonic::Lpm, Z, Step::Stay(0)),
                    (0x5, true) => load(Mnemonic::Lpm, Z, Step::Increment),
                    (0x6, true) => load(Mnemonic::Elpm, Z, Step::Stay(0)),
                    (0x7, true) => load(Mnemonic::Elpm, Z, Step::Increment),
                    (0x4..=0x7, false) => {
                        return illegal("XCH, LAS, LAC and LAT are instructions of XMEGA cores");
                    }
                    (0x9, _) => data(Y, Step::Increment),
                    (0xA, _) => data(Y, Step::Decrement),
                    (0xC, _) => data(X, Step::Stay(0)),
                    (0xD, _) => data(X, Step::Increment),
                    (0xE, _) => data(X, Step::Decrement),
                    (0xF, true) => one(Mnemonic::Pop),
                    (0xF, false) => one(Mnemonic::Push),
                    _ => return illegal("reserved"),
                }
            }
            0x4 | 0x5 => match w & 0xF {
                0x0 => one(Mnemonic::Com),
                0x1 => one(Mnemonic::Neg),
                0x2 => one(Mnemonic::Swap),
                0x3 => one(Mnemonic::Inc),
                0x5 => one(Mnemonic::Asr),
                0x6 => one(Mnemonic::Lsr),
                0x7 => one(Mnemonic::Ror),
                0xA => one(Mnemonic::Dec),
                0x8 => match w >> 4 & 0x1F {
                    s @ 0x00..=0x07 => insn(Mnemonic::Bset, Operand::Bit(s as u8), Operand::None),
                    s @ 0x08..=0x0F => {
                        insn(Mnemonic::Bclr, Operand::Bit(s as u8 & 7), Operand::None)
                    }
                    0x10 => none(Mnemonic::Ret),
                    0x11 => none(Mnemonic::Reti),
                    0x18 => none(Mnemonic::Sleep),
                    0x19 => none(Mnemonic::Break),
                    0x1A => none(Mnemonic::Wdr),
                    0x1C => none(Mnemonic::Lpm),
                    0x1D => none(Mnemonic::Elpm),
                    0x1E => none(Mnemonic::Spm),
                    0x1F => return illegal("SPM Z+ is an instruction of XMEGA cores"),
                    _ => return illegal("reserved"),
                },
                0x9 => match w {
                    0x9409 => none(Mnemonic::Ijmp),
                    0x9509 => none(Mnemonic::Icall),
                    0x9419 | 0x9519 => {
                        return illegal(
                            "EIJMP and EICALL are instructions of parts with more than 128 KB of flash",
                        );
                    }
                    _ => return illegal("reserved"),
                },
                0xC..=0xF => {
                    let low = fetch((pc + 1) & PC_MASK)?;
                    let high = w & 1 | w >> 3 & 0x3E;
                    if high != 0 {
                        return illegal(
                            "the target lies beyond the 64 K words that the program counter reaches",
                        );
                    }
                    let mnemonic = if w & 2 == 0 { Mnemonic::Jmp } else { Mnemonic::Call };
                    Insn { words: 2, ..insn(mnemonic, code(low.into()), Operand::None) }
                }
                0xB if w & 0x100 == 0 => {
                    return illegal("DES is an instruction of XMEGA cores");
                }
                _ => return illegal("reserved"),
            },
            0x6 | 0x7 => {
                let mnemonic = if w & 0x100 == 0 { Mnemonic::Adiw } else { Mnemonic::Sbiw };
                let pair = 24 + (w >> 4 & 3) as u8 * 2;
                let k6 = (w & 0xF | w >> 2 & 0x30) as u8;
                insn(mnemonic, Operand::Pair(pair), Operand::Immediate(k6))
            }
            n @ 0x8..=0xB => {
                let mnemonic =
                    [Mnemonic::Cbi, Mnemonic::Sbic, Mnemonic::Sbi, Mnemonic::Sbis][n as usize - 8];
                insn(mnemonic, Operand::Io((w >> 3 & 0x1F) as u8), Operand::Bit(bit))
            }
            _ => two(Mnemonic::Mul),
        },
        0xB => {
            let io = Operand::Io((w & 0xF | w >> 5 & 0x30) as u8);
            if w & 0x800 == 0 {
                insn(Mnemonic::In, Operand::Reg(d5), io)
            } else {
                insn(Mnemonic::Out, io, Operand::Reg(d5))
            }
        }
        n @ (0xC | 0xD) => {
            let mnemonic = if n == 0xC { Mnemonic::Rjmp } else { Mnemonic::Rcall };
            let offset = i32::from((w << 4) as i16 >> 4);
            insn(mnemonic, code(pc.wrapping_add_signed(1 + offset)), Operand::None)
        }
        0xE => constant(Mnemonic::Ldi),
        _ => match w >> 9 & 7 {
            n @ 0..=3 => {
                let mnemonic = if n < 2 { Mnemonic::Brbs } else { Mnemonic::Brbc };
                let offset = i32::from((w << 6) as i16 >> 9);
                insn(mnemonic, Operand::Bit(bit), code(pc.wrapping_add_signed(1 + offset)))
            }
            _ if w == 0xFFFF => return illegal("erased flash: the program ran out of its code"),
            _ if w & 8 != 0 => return illegal("reserved"),
            n => {
                let mnemonic =
                    [Mnemonic::Bld, Mnemonic::Bst, Mnemonic::Sbrc, Mnemonic::Sbrs][n as usize - 4];
                insn(mnemonic, Operand::Reg(d5), Operand::Bit(bit))
            }
        },
    })
}

impl Insn {
    /// Whether it may skip the instruction behind it, whose length it then has to know.
    #[must_use]
    pub fn is_skip(&self) -> bool {
        matches!(
            self.mnemonic,
            Mnemonic::Cpse | Mnemonic::Sbrc | Mnemonic::Sbrs | Mnemonic::Sbic | Mnemonic::Sbis
        )
    }

    /// Whether it steps the pointer that is also its operand: the manual says that the result is undefined
    /// (LD X, LD Y, LD Z, ST X, ST Y, ST Z, LPM and ELPM).
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        let (pointer, reg) = match (self.first, self.second) {
            (Operand::Reg(reg), Operand::Pointer(pointer, step))
            | (Operand::Pointer(pointer, step), Operand::Reg(reg))
                if !matches!(step, Step::Stay(_)) =>
            {
                (pointer, reg)
            }
            _ => return false,
        };
        reg & !1 == pointer
    }
}
