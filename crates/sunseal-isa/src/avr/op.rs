// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoded instructions in the four bytes that the execution loop reads: kind 8 | b 16 | a 8.

use super::insn::{Insn, Mnemonic, Operand, Step, Z};

/// Operations of two registers, in this order in [`kind`]. Those up to `CP` also come with a constant.
pub(crate) mod alu {
    pub const SUB: u8 = 0;
    pub const SBC: u8 = 1;
    pub const AND: u8 = 2;
    pub const OR: u8 = 3;
    pub const MOV: u8 = 4;
    pub const CP: u8 = 5;
    pub const CONSTANTS: u8 = 6;
    pub const CPC: u8 = 6;
    pub const ADD: u8 = 7;
    pub const ADC: u8 = 8;
    pub const EOR: u8 = 9;
    pub const COUNT: u8 = 10;
}

/// Operations of one register.
pub(crate) mod one {
    pub const COM: u8 = 0;
    pub const NEG: u8 = 1;
    pub const SWAP: u8 = 2;
    pub const INC: u8 = 3;
    pub const ASR: u8 = 4;
    pub const LSR: u8 = 5;
    pub const ROR: u8 = 6;
    pub const DEC: u8 = 7;
    pub const COUNT: u8 = 8;
}

/// Multiplications.
pub(crate) mod mul {
    pub const MUL: u8 = 0;
    pub const MULS: u8 = 1;
    pub const MULSU: u8 = 2;
    pub const FMUL: u8 = 3;
    pub const FMULS: u8 = 4;
    pub const FMULSU: u8 = 5;
    pub const COUNT: u8 = 6;
}

/// What a pointer does.
pub(crate) mod step {
    pub const STAY: u8 = 0;
    pub const INCREMENT: u8 = 1;
    pub const DECREMENT: u8 = 2;
    pub const COUNT: u8 = 3;
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
    /// + 2 * (stay or increment), + 1 for ELPM
    pub const PROGRAM: u8 = DATA + 2 * step::COUNT;
    /// CPSE, SBRC, SBRS, SBIC, SBIS; + 1 over a long instruction
    pub const SKIP: u8 = PROGRAM + 4;
    pub const MOVW: u8 = SKIP + 10;
    pub const ADIW: u8 = MOVW + 1;
    pub const SBIW: u8 = MOVW + 2;
    pub const BST: u8 = MOVW + 3;
    pub const BLD: u8 = MOVW + 4;
    pub const LDS: u8 = MOVW + 5;
    pub const STS: u8 = MOVW + 6;
    pub const IN: u8 = MOVW + 7;
    pub const OUT: u8 = MOVW + 8;
    pub const CBI: u8 = MOVW + 9;
    pub const SBI: u8 = MOVW + 10;
    pub const PUSH: u8 = MOVW + 11;
    pub const POP: u8 = MOVW + 12;
    pub const RJMP: u8 = MOVW + 13;
    pub const JMP: u8 = MOVW + 14;
    pub const IJMP: u8 = MOVW + 15;
    pub const RCALL: u8 = MOVW + 16;
    pub const CALL: u8 = MOVW + 17;
    pub const ICALL: u8 = MOVW + 18;
    pub const RET: u8 = MOVW + 19;
    pub const RETI: u8 = MOVW + 20;
    pub const NOP: u8 = MOVW + 21;
    pub const SLEEP: u8 = MOVW + 22;
    pub const BREAK: u8 = MOVW + 23;
    pub const WDR: u8 = MOVW + 24;
    pub const SPM: u8 = MOVW + 25;
}

/// What a skip looks at, in the order of [`kind::SKIP`].
pub(crate) mod skip {
    pub const CPSE: u8 = 0;
    pub const SBRC: u8 = 1;
    pub const SBRS: u8 = 2;
    pub const SBIC: u8 = 3;
    pub const SBIS: u8 = 4;
}

/// A decoded instruction.
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
    /// An address.
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
    let skip = |what: u8| plain(kind::SKIP + 2 * what + u8::from(over_long));
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
    let program = |extended: u8| {
        let increment = matches!(insn.second, Operand::Pointer(_, Step::Increment));
        Op::new(kind::PROGRAM + 2 * u8::from(increment) + extended, first as u8, u16::from(Z) << 8)
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
        M::Lpm => program(0),
        M::Elpm => program(1),
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
