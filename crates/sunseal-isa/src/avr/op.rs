// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoded instructions in the four bytes that the execution loop reads: kind 8 | b 16 | a 8.

use super::insn::{Insn, Mnemonic, Operand, Step, Z};

/// Operations of two registers, in this order in [`kind`]. Those up to `CP` also come with a constant.
pub(crate) mod alu {
    numbers! { u8: SUB, SBC, AND, OR, MOV, CP, CPC, ADD, ADC, EOR, COUNT }
    pub const CONSTANTS: u8 = CP + 1;
}

/// Operations of one register.
pub(crate) mod one {
    numbers! { u8: COM, NEG, SWAP, INC, ASR, LSR, ROR, DEC, COUNT }
}

/// Numbers of the kinds of multiplication.
pub(crate) mod mul {
    numbers! { u8: MUL, MULS, MULSU, FMUL, FMULS, FMULSU, COUNT }
}

/// How a load or store finds its address: what its pointer does, or its own constant, or the stack.
pub(crate) mod step {
    numbers! { u8: STAY, INCREMENT, DECREMENT, ABSOLUTE, PUSH, POP }
    /// Those of a pointer.
    pub const COUNT: u8 = DECREMENT + 1;
}

/// Numbers of the handlers. Zero is "not decoded".
pub(crate) mod kind {
    use super::{alu, mul, one, step};

    pub const TWO: u8 = 1; // + operation
    pub const CONSTANT: u8 = TWO + alu::COUNT; // + operation
    pub const ONE: u8 = CONSTANT + alu::CONSTANTS; // + operation
    pub const MUL: u8 = ONE + one::COUNT; // + operation
    pub const BRANCH: u8 = MUL + mul::COUNT; // + flag, + 8 where it has to be clear
    pub const FLAG: u8 = BRANCH + 16; // + flag, + 8 where it becomes clear
    /// + 2 * step, + 1 for stores
    pub const DATA: u8 = FLAG + 16;
    /// See [`program`].
    pub const PROGRAM: u8 = DATA + 2 * step::COUNT;
    /// See [`skip`].
    pub const SKIP: u8 = PROGRAM + 4;
    numbers! { u8, SKIP + 10;
        MOVW, ADIW, SBIW, BST, BLD, LDS, STS, IN, OUT, CBI, SBI, PUSH, POP, RJMP, JMP, IJMP, RCALL,
        CALL, ICALL, RET, RETI, NOP, SLEEP, BREAK, WDR, SPM
    }

    /// The handler of LPM or ELPM.
    pub const fn program(increment: bool, extended: bool) -> u8 {
        PROGRAM + 2 * increment as u8 + extended as u8
    }

    /// The handler of a skip over so many words.
    pub const fn skip(what: u8, words: u32) -> u8 {
        SKIP + 2 * what + (words - 1) as u8
    }

    /// The handler of a load.
    pub const fn load(how: u8) -> u8 {
        match how {
            step::ABSOLUTE => LDS,
            step::POP => POP,
            _ => DATA + 2 * how,
        }
    }

    /// The handler of a store.
    pub const fn store(how: u8) -> u8 {
        match how {
            step::ABSOLUTE => STS,
            step::PUSH => PUSH,
            _ => DATA + 2 * how + 1,
        }
    }
}

/// What a skip looks at, in the order of [`kind::SKIP`].
pub(crate) mod skip {
    numbers! { u8: CPSE, SBRC, SBRS, SBIC, SBIS }
}

/// Instruction of the AVR, packed for its handler.
#[derive(Clone, Copy)]
pub(crate) struct Op(pub u32);

impl Op {
    fn new(kind: u8, a: u8, b: u16) -> Self {
        Self(u32::from(kind) << 24 | u32::from(b) << 8 | u32::from(a))
    }
    #[inline(always)]
    pub fn kind(self) -> usize {
        (self.0 >> 24) as usize
    }
    /// A register, or an address of the I/O space.
    #[inline(always)]
    pub fn a(self) -> u8 {
        self.0 as u8
    }
    /// Another register, a constant, a bit, a displacement.
    #[inline(always)]
    pub fn b(self) -> u8 {
        (self.0 >> 8) as u8
    }
    /// The pointer of loads and stores, by its lower register. It is not a constant of the handler, so that the
    /// compiler does not read both bytes at once: what was just stored byte by byte is not at hand as a word.
    #[inline(always)]
    pub fn pointer(self) -> u8 {
        (self.0 >> 16) as u8
    }
    /// Address of 16 bits in the operation.
    #[inline(always)]
    pub fn wide(self) -> u16 {
        (self.0 >> 8) as u16
    }
}

/// The form that runs. `over_long`: whether the instruction behind has two words.
pub(crate) fn lower(insn: &Insn, over_long: bool) -> Op {
    use Mnemonic as M;
    let field = |operand| match operand {
        Operand::Reg(n)
        | Operand::Pair(n)
        | Operand::Immediate(n)
        | Operand::Io(n)
        | Operand::Bit(n) => u16::from(n),
        Operand::Data(addr) => addr,
        Operand::Code(addr) => (addr / 2) as u16,
        Operand::None | Operand::Pointer(..) => 0,
    };
    let (first, second) = (field(insn.first), field(insn.second));
    let plain = |kind| Op::new(kind, first as u8, second);
    let two = |op| plain(kind::TWO + op);
    let constant = |op| plain(kind::CONSTANT + op);
    let one = |op| plain(kind::ONE + op);
    let product = |op| plain(kind::MUL + op);
    let skip = |what: u8| plain(kind::skip(what, 1 + u32::from(over_long)));
    let target = |kind| Op::new(kind, 0, first);
    let data = |pointer: u8, stepping: Step, reg: u16, store: u8| {
        let (step, q) = match stepping {
            Step::Stay(q) => (step::STAY, q),
            Step::Increment => (step::INCREMENT, 0),
            Step::Decrement => (step::DECREMENT, 0),
        };
        let kind = kind::DATA + 2 * step + store;
        Op::new(kind, reg as u8, u16::from(q) | u16::from(pointer) << 8)
    };
    let program = |extended| {
        let increment = matches!(insn.second, Operand::Pointer(_, Step::Increment));
        Op::new(kind::program(increment, extended), first as u8, u16::from(Z) << 8)
    };
    match insn.mnemonic {
        M::Add => two(alu::ADD),
        M::Adc => two(alu::ADC),
        M::Sub => two(alu::SUB),
        M::Sbc => two(alu::SBC),
        M::And => two(alu::AND),
        M::Or => two(alu::OR),
        M::Eor => two(alu::EOR),
        M::Mov => two(alu::MOV),
        M::Cp => two(alu::CP),
        M::Cpc => two(alu::CPC),
        M::Subi => constant(alu::SUB),
        M::Sbci => constant(alu::SBC),
        M::Andi => constant(alu::AND),
        M::Ori => constant(alu::OR),
        M::Ldi => constant(alu::MOV),
        M::Cpi => constant(alu::CP),
        M::Com => one(one::COM),
        M::Neg => one(one::NEG),
        M::Swap => one(one::SWAP),
        M::Inc => one(one::INC),
        M::Asr => one(one::ASR),
        M::Lsr => one(one::LSR),
        M::Ror => one(one::ROR),
        M::Dec => one(one::DEC),
        M::Mul => product(mul::MUL),
        M::Muls => product(mul::MULS),
        M::Mulsu => product(mul::MULSU),
        M::Fmul => product(mul::FMUL),
        M::Fmuls => product(mul::FMULS),
        M::Fmulsu => product(mul::FMULSU),
        M::Brbs => Op::new(kind::BRANCH + first as u8, 0, second),
        M::Brbc => Op::new(kind::BRANCH + 8 + first as u8, 0, second),
        M::Bset => Op::new(kind::FLAG + first as u8, 0, 0),
        M::Bclr => Op::new(kind::FLAG + 8 + first as u8, 0, 0),
        M::Ld => match insn.second {
            Operand::Pointer(pointer, step) => data(pointer, step, first, 0),
            _ => unreachable!("LD loads through a pointer"),
        },
        M::St => match insn.first {
            Operand::Pointer(pointer, step) => data(pointer, step, second, 1),
            _ => unreachable!("ST stores through a pointer"),
        },
        M::Lpm => program(false),
        M::Elpm => program(true),
        M::Cpse => skip(skip::CPSE),
        M::Sbrc => skip(skip::SBRC),
        M::Sbrs => skip(skip::SBRS),
        M::Sbic => skip(skip::SBIC),
        M::Sbis => skip(skip::SBIS),
        M::Movw => plain(kind::MOVW),
        M::Adiw => plain(kind::ADIW),
        M::Sbiw => plain(kind::SBIW),
        M::Bst => plain(kind::BST),
        M::Bld => plain(kind::BLD),
        M::Lds => plain(kind::LDS),
        M::Sts => Op::new(kind::STS, second as u8, first),
        M::In => plain(kind::IN),
        M::Out => Op::new(kind::OUT, second as u8, first),
        M::Cbi => plain(kind::CBI),
        M::Sbi => plain(kind::SBI),
        M::Push => plain(kind::PUSH),
        M::Pop => plain(kind::POP),
        M::Rjmp => target(kind::RJMP),
        M::Jmp => target(kind::JMP),
        M::Ijmp => target(kind::IJMP),
        M::Rcall => target(kind::RCALL),
        M::Call => target(kind::CALL),
        M::Icall => target(kind::ICALL),
        M::Ret => plain(kind::RET),
        M::Reti => plain(kind::RETI),
        M::Nop => plain(kind::NOP),
        M::Sleep => plain(kind::SLEEP),
        M::Break => plain(kind::BREAK),
        M::Wdr => plain(kind::WDR),
        M::Spm => plain(kind::SPM),
    }
}
