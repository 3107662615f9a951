// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoded instructions in the sixteen bytes that the execution loop reads.

use super::alu::{op as alu_op, stores};
use super::insn::{Insn, MASK20, Mnemonic, Operand, Repeat, Size};
use super::timing::Timing;
use super::{SP, SR};

/// Source forms of the fast double-operand handlers; IO, a peripheral's register, has handlers of its own.
pub(crate) mod src {
    numbers! { u8: REG, CONST, ABS, IDX, IND, INC, IO }
    /// How many forms handlers of registers and memory have: all but IO.
    pub const COUNT: u8 = IO;
}

/// Destination forms of the fast double-operand handlers.
pub(crate) mod dst {
    numbers! { u8: REG, ABS, IDX, COUNT }
}

/// Numbers of the handlers. Zero is "not decoded".
pub(crate) mod kind {
    use super::{alu_op, dst, src};

    /// None: nothing is likely behind it.
    pub const UNKNOWN: u16 = 0;
    pub const JUMP: u16 = 1; // + condition
    numbers! { u16, 9;
        GENERAL_DOUBLE, GENERAL_SINGLE, PUSH_WORD_REG, CALL_CONST, RET, BRANCH_CONST, RETI, CALLA,
        MOVA, CMPA, ADDA, SUBA, ROTATE_MANY, PUSHM, POPM, RRC_REG, RRA_REG, SWPB_REG, SXT_REG,
        ADD_SP, GENERAL_DOUBLE_X, GENERAL_SINGLE_X, NOP, FIRST_DOUBLE
    }

    /// The fast handler of a double-operand instruction.
    pub const fn double(op: u8, src: u8, dst: u8, byte: bool) -> u16 {
        FIRST_DOUBLE
            + (((op * dst::COUNT + dst) as u16 * src::COUNT as u16) + src as u16) * 2
            + byte as u16
    }

    const FIRST_TO_IO: u16 = double(alu_op::COUNT, 0, 0, false);
    const FIRST_FROM_IO: u16 = FIRST_TO_IO + src::IO as u16 + alu_op::ADDC as u16 + 1;

    /// The handler of a word to a peripheral's register: MOV of any source form, [`src::IO`] included, ADD and ADDC
    /// from a register.
    pub const fn to_io(op: u8, src: u8) -> u16 {
        FIRST_TO_IO + if op == alu_op::MOV { src as u16 } else { (src::IO + op) as u16 }
    }

    /// The handler of a word from there: MOV to any destination form, ADD and ADDC to a register.
    pub const fn from_io(op: u8, dst: u8) -> u16 {
        FIRST_FROM_IO + if op == alu_op::MOV { dst as u16 } else { (dst::COUNT - 1 + op) as u16 }
    }

    pub const COUNT: usize = from_io(alu_op::ADDC, dst::REG) as usize + 1;
}

/// A decoded instruction: two machine words, so that handlers take it in registers.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Op {
    /// destination register 4 and mode 4 | source register 4 and mode 4 | address of the instruction
    /// behind 24 | cycles 8 | none 7 | kind 9
    pub head: u64,
    /// a 32 | b 20 | extra 12
    pub data: u64,
}

/// Modes of operands that the general handlers interpret, in bits 7:4 of a register field.
pub(crate) mod mode {
    numbers! { u32: REG, CONST, ABS, IDX16, IDX20, IND, INC }
}

impl Op {
    #[inline(always)]
    pub fn kind(self) -> usize {
        (self.head >> 55) as usize
    }
    #[inline(always)]
    pub fn cycles(self) -> u32 {
        (self.head >> 40) as u32 & 0xFF
    }
    /// Where the instruction behind this one lies.
    #[inline(always)]
    pub fn next(self) -> u32 {
        (self.head >> 16) as u32 & MASK20
    }
    #[inline(always)]
    pub fn rs(self) -> usize {
        (self.head >> 8) as usize & 0xF
    }
    #[inline(always)]
    pub fn src_mode(self) -> u32 {
        (self.head >> 12) as u32 & 0xF
    }
    #[inline(always)]
    pub fn rd(self) -> usize {
        self.head as usize & 0xF
    }
    #[inline(always)]
    pub fn dst_mode(self) -> u32 {
        (self.head >> 4) as u32 & 0xF
    }
    #[inline(always)]
    pub fn extra(self) -> u32 {
        (self.data >> 52) as u32
    }
    /// The source's constant, address or index.
    #[inline(always)]
    pub fn a(self) -> u32 {
        self.data as u32
    }
    /// The destination's address or index, 20 bits.
    #[inline(always)]
    pub fn b(self) -> u32 {
        (self.data >> 32) as u32 & MASK20
    }
}

/// Fields of `extra` in general instructions: operation 4, size 2, ZC 1, repeat from register 1,
/// repeat 4.
#[derive(Clone, Copy)]
pub(crate) struct Extra(pub u32);

impl Extra {
    fn pack(op: u32, insn: &Insn) -> u32 {
        let (from_register, repeat) = match insn.repeat {
            Repeat::Times(n) => (0, u32::from(n) - 1),
            Repeat::Register(reg) => (1, u32::from(reg)),
        };
        op | (insn.size as u32) << 4
            | u32::from(insn.zero_carry) << 6
            | from_register << 7
            | repeat << 8
    }
    pub fn op(self) -> u8 {
        self.0 as u8 & 0xF
    }
    pub fn size(self) -> Size {
        match self.0 >> 4 & 3 {
            0 => Size::B,
            1 => Size::W,
            _ => Size::A,
        }
    }
    pub fn zero_carry(self) -> bool {
        self.0 & 0x40 != 0
    }
    /// How often the instruction runs, given the registers.
    pub fn times(self, r: &[u32; 16]) -> u32 {
        let field = self.0 >> 8 & 0xF;
        1 + if self.0 & 0x80 != 0 { r[field as usize] & 0xF } else { field }
    }
}

/// Rotations by several bits, in the order of their opcodes.
pub(crate) mod rotate {
    numbers! { u32: RRC, RRA, RLA, RRU }
}

/// Single-operand operations of the general handler.
pub(crate) mod single {
    numbers! { u8: RRC, SWPB, RRA, SXT, PUSH, CALL }
}

#[derive(Clone, Copy)]
struct Place {
    mode: u32,
    reg: u8,
    value: u32,
}

/// An operand. The program counter has no storage while instructions run: reading it is the constant
/// `pc_value`, and as a destination, which no constant is, it is that constant too.
fn place(operand: Operand, opcode: u32, pc_value: u32) -> Place {
    let (mode, reg, value) = match operand {
        Operand::None => (mode::CONST, 0, 0),
        Operand::Reg(0) => (mode::CONST, 0, pc_value),
        Operand::Reg(reg) => (mode::REG, reg, 0),
        Operand::Constant(value) | Operand::Immediate(value) => (mode::CONST, 0, value),
        Operand::Symbolic(addr) | Operand::Absolute(addr) => (mode::ABS, 0, addr),
        // The word behind the opcode; the program counter does not move on.
        Operand::Indirect(0) => (mode::ABS, 0, opcode + 2),
        Operand::Indexed { reg, index, wraps } => {
            (if wraps { mode::IDX16 } else { mode::IDX20 }, reg, index as u32)
        }
        Operand::Indirect(reg) => (mode::IND, reg, 0),
        Operand::Increment(reg) => (mode::INC, reg, 0),
    };
    Place { mode, reg, value }
}

fn pack(kind: u16, cycles: u8, next: u32, src: Place, dst: Place, extra: u32) -> Op {
    Op {
        head: u64::from(u32::from(dst.reg) | dst.mode << 4)
            | u64::from(u32::from(src.reg) | src.mode << 4) << 8
            | u64::from(next) << 16
            | u64::from(cycles) << 40
            | u64::from(kind) << 55,
        data: u64::from(src.value) | u64::from(dst.value & MASK20) << 32 | u64::from(extra) << 52,
    }
}

/// The instruction at `pc` as the loop runs it.
pub(crate) fn lower(insn: &Insn, pc: u32, timing: &Timing) -> Op {
    use Mnemonic as M;
    let cycles = timing.cycles(insn);
    let next = (pc + u32::from(insn.words) * 2) & timing.family.mask();
    // Register mode reads PC behind the whole instruction, its destination's word included: `MOV PC, &0x2000` at
    // 0x4400 stores 0x4404 (Ghidra's model of the FR5994, openMSP430's RTL).
    let opcode = pc + if insn.extended { 2 } else { 0 };
    let src = place(insn.src, opcode, next);
    let dst = place(insn.dst, opcode, next);
    let op = |kind, extra| pack(kind, cycles, next, src, dst, extra);
    let size_a = u32::from(insn.size == Size::A);
    let plain_word = !insn.extended && insn.size == Size::W;
    let plain_reg = plain_word && dst.mode == mode::REG && dst.reg >= 4;
    let single = |which: u8| {
        let kind = if insn.extended { kind::GENERAL_SINGLE_X } else { kind::GENERAL_SINGLE };
        op(kind, Extra::pack(u32::from(which), insn))
    };
    match insn.mnemonic {
        M::Jump(condition) => op(kind::JUMP + condition as u16, 0),
        M::Reti => op(kind::RETI, 0),
        M::Mova => op(kind::MOVA, 0),
        M::Cmpa => op(kind::CMPA, 0),
        M::Adda => op(kind::ADDA, 0),
        M::Suba => op(kind::SUBA, 0),
        M::Rrcm => op(kind::ROTATE_MANY, rotate::RRC | size_a << 2),
        M::Rram => op(kind::ROTATE_MANY, rotate::RRA | size_a << 2),
        M::Rlam => op(kind::ROTATE_MANY, rotate::RLA | size_a << 2),
        M::Rrum => op(kind::ROTATE_MANY, rotate::RRU | size_a << 2),
        M::Pushm => op(kind::PUSHM, size_a),
        M::Popm => op(kind::POPM, size_a),
        M::Calla => op(kind::CALLA, 0),
        M::Call if dst.mode == mode::CONST => {
            op(kind::CALL_CONST, Extra::pack(u32::from(single::CALL), insn))
        }
        M::Push if plain_reg => op(kind::PUSH_WORD_REG, Extra::pack(u32::from(single::PUSH), insn)),
        M::Rrc if plain_reg => op(kind::RRC_REG, 0),
        M::Rra if plain_reg => op(kind::RRA_REG, 0),
        M::Swpb if plain_reg => op(kind::SWPB_REG, 0),
        M::Sxt if plain_reg => op(kind::SXT_REG, 0),
        M::Rrc => single(single::RRC),
        M::Rra => single(single::RRA),
        M::Swpb => single(single::SWPB),
        M::Sxt => single(single::SXT),
        M::Push => single(single::PUSH),
        M::Call => single(single::CALL),
        M::Mov => double(alu_op::MOV, insn, timing, next, src, dst),
        M::Add => double(alu_op::ADD, insn, timing, next, src, dst),
        M::Addc => double(alu_op::ADDC, insn, timing, next, src, dst),
        M::Subc => double(alu_op::SUBC, insn, timing, next, src, dst),
        M::Sub => double(alu_op::SUB, insn, timing, next, src, dst),
        M::Cmp => double(alu_op::CMP, insn, timing, next, src, dst),
        M::Dadd => double(alu_op::DADD, insn, timing, next, src, dst),
        M::Bit => double(alu_op::BIT, insn, timing, next, src, dst),
        M::Bic => double(alu_op::BIC, insn, timing, next, src, dst),
        M::Bis => double(alu_op::BIS, insn, timing, next, src, dst),
        M::Xor => double(alu_op::XOR, insn, timing, next, src, dst),
        M::And => double(alu_op::AND, insn, timing, next, src, dst),
    }
}

/// Chooses a fast handler where there is one.
fn double(op: u8, insn: &Insn, timing: &Timing, next: u32, mut src: Place, dst: Place) -> Op {
    let cycles = timing.cycles(insn);
    src.value = if src.mode == mode::CONST { src.value & insn.size.mask() } else { src.value };
    let kind = if insn.extended { kind::GENERAL_DOUBLE_X } else { kind::GENERAL_DOUBLE };
    let general = pack(kind, cycles, next, src, dst, Extra::pack(u32::from(op), insn));
    let byte = insn.size == Size::B;
    let (rs, rd) = (usize::from(src.reg), usize::from(dst.reg));
    // The fast handlers keep flags outside SR, and increment by the operand's length.
    let on_status = (src.mode, rs) == (mode::REG, SR) || (dst.mode, rd) == (mode::REG, SR);
    let byte_from_stack = byte && (src.mode, rs) == (mode::INC, SP);
    if insn.extended || op == alu_op::DADD || on_status || byte_from_stack {
        return general;
    }
    let fast_src = match src.mode {
        mode::REG => src::REG,
        mode::CONST => src::CONST,
        mode::ABS => src::ABS,
        mode::IND => src::IND,
        mode::INC => src::INC,
        _ => src::IDX,
    };
    // The fast handlers leave what is not plain memory to others, which look into `extra`.
    let fast = |kind| pack(kind, cycles, next, src, dst, Extra::pack(u32::from(op), insn));
    let fast_dst = match (dst.mode, rd) {
        (mode::REG, 4..) => dst::REG,
        (mode::REG, _) if !stores(op) => dst::REG,
        (mode::REG, SP) if !byte && src.mode == mode::CONST && src.value & 1 == 0 => match op {
            alu_op::ADD | alu_op::SUB => {
                return pack(kind::ADD_SP, cycles, next, src, dst, u32::from(op));
            }
            _ => return general,
        },
        // What is written there is lost.
        (mode::REG, 3) if op == alu_op::MOV && src.mode == mode::CONST => return fast(kind::NOP),
        (mode::CONST, _) if op == alu_op::MOV && !byte => match (src.mode, rs) {
            (mode::INC, SP) => return fast(kind::RET),
            (mode::CONST, _) => return fast(kind::BRANCH_CONST),
            _ => return general,
        },
        (mode::ABS, _) => dst::ABS,
        (mode::IDX16, _) => dst::IDX,
        _ => return general,
    };
    let io = |place: Place| {
        let at = place.value;
        !byte && place.mode == mode::ABS && at & 1 == 0 && at < timing.family.io_end()
    };
    let kind = match (op, io(src), io(dst), fast_src) {
        (alu_op::MOV, true, true, _) => kind::to_io(op, src::IO),
        (alu_op::MOV, false, true, form) => kind::to_io(op, form),
        (alu_op::ADD | alu_op::ADDC, _, true, src::REG) => kind::to_io(op, src::REG),
        (alu_op::MOV, true, ..) => kind::from_io(op, fast_dst),
        (alu_op::ADD | alu_op::ADDC, true, ..) if fast_dst == dst::REG => {
            kind::from_io(op, dst::REG)
        }
        _ => kind::double(op, fast_src, fast_dst, byte),
    };
    fast(kind)
}
