// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the results of each instruction depend on.

use super::insn::{Insn, Mnemonic, Operand, Z};
use super::io;
use crate::{Dataflow, Registers, Transfer};

const SIGNED: Registers = Registers::N.or(Registers::V).or(Registers::S);
const LOGIC: Registers = SIGNED.or(Registers::Z);
const SHIFT: Registers = LOGIC.or(Registers::C);
const ALL: Registers = SHIFT.or(Registers::H);
const STATUS: Registers = ALL.or(Registers::T);

/// The flag that a bit of SREG is; I is none.
fn flag(bit: u8) -> Registers {
    [
        Registers::C,
        Registers::Z,
        Registers::N,
        Registers::V,
        Registers::S,
        Registers::H,
        Registers::T,
        Registers::NONE,
    ][usize::from(bit & 7)]
}

fn pair(low: u8) -> Registers {
    Registers::of(low) | Registers::of(low + 1)
}

fn of(operand: Operand) -> Registers {
    match operand {
        Operand::Reg(reg) => Registers::of(reg),
        Operand::Pair(low) => pair(low),
        _ => Registers::NONE,
    }
}

/// Registers that an operand's address is made of.
fn address(operand: Operand) -> Registers {
    match operand {
        Operand::Pointer(low, _) => pair(low),
        _ => Registers::NONE,
    }
}

/// What the results of `insn` depend on. RAMPZ and the stack pointer are followed by nobody; IN and OUT of SREG
/// move flags, of other registers memory.
#[must_use]
pub fn dataflow(insn: &Insn) -> Dataflow {
    use Mnemonic as M;
    let (first, second) = (of(insn.first), of(insn.second));
    let none = Dataflow::default();
    let compute = |reads, writes| Dataflow { reads, writes, ..none };
    match insn.mnemonic {
        // The same result whatever the register holds.
        M::Sub | M::Eor if insn.first == insn.second => {
            let flags = if insn.mnemonic == M::Sub { ALL } else { LOGIC };
            compute(Registers::NONE, first | flags)
        }
        M::Cp if insn.first == insn.second => compute(Registers::NONE, ALL),
        M::Add | M::Sub => compute(first | second, first | ALL),
        M::Adc => compute(first | second | Registers::C, first | ALL),
        M::Sbc | M::Sbci => {
            // Between equal registers only the carry is left.
            let same = insn.first == insn.second;
            let operands = if same { Registers::NONE } else { first | second };
            Dataflow { keeps: Registers::Z, ..compute(operands | Registers::C, first | ALL) }
        }
        M::Cpc => {
            let same = insn.first == insn.second;
            let operands = if same { Registers::NONE } else { first | second };
            Dataflow { keeps: Registers::Z, ..compute(operands | Registers::C, ALL) }
        }
        M::Subi => compute(first, first | ALL),
        M::Cp => compute(first | second, ALL),
        M::Cpi => compute(first, ALL),
        M::And | M::Or | M::Eor => compute(first | second, first | LOGIC),
        M::Andi if insn.second == Operand::Immediate(0) => compute(Registers::NONE, first | LOGIC),
        M::Ori if insn.second == Operand::Immediate(0xFF) => {
            compute(Registers::NONE, first | LOGIC)
        }
        M::Andi | M::Ori => compute(first, first | LOGIC),
        M::Com => compute(first, first | SHIFT),
        M::Neg => compute(first, first | ALL),
        M::Inc | M::Dec => compute(first, first | LOGIC),
        M::Asr | M::Lsr => compute(first, first | SHIFT),
        M::Ror => compute(first | Registers::C, first | SHIFT),
        M::Swap => compute(first, first),
        M::Adiw | M::Sbiw => compute(first, first | SHIFT),
        M::Mul | M::Muls | M::Mulsu | M::Fmul | M::Fmuls | M::Fmulsu => {
            compute(first | second, pair(0) | Registers::C | Registers::Z)
        }
        M::Mov | M::Movw => compute(second, first),
        M::Ldi => compute(Registers::NONE, first),
        M::Bld => Dataflow { keeps: first, ..compute(Registers::T, first) },
        M::Bst => compute(first, Registers::T),
        M::Bset | M::Bclr => match insn.first {
            Operand::Bit(bit) => compute(Registers::NONE, flag(bit)),
            _ => none,
        },
        M::Brbs | M::Brbc => match insn.first {
            // Taken and not taken branches differ in time too, as any path does: `branch` says it.
            Operand::Bit(bit) => Dataflow { branch: flag(bit), ..none },
            _ => none,
        },
        M::Cpse if insn.first == insn.second => none,
        M::Cpse => Dataflow { branch: first | second, ..none },
        M::Sbrc | M::Sbrs => Dataflow { branch: first, ..none },
        M::Sbic | M::Sbis => Dataflow { branch_memory: true, ..none },
        M::Ld => Dataflow {
            address: address(insn.second),
            reads_memory: true,
            ..compute(Registers::NONE, first)
        },
        M::Lds | M::Pop => Dataflow { reads_memory: true, ..compute(Registers::NONE, first) },
        M::Lpm | M::Elpm => {
            let to = if insn.first == Operand::None { Registers::of(0) } else { first };
            Dataflow { address: pair(Z), reads_memory: true, ..compute(Registers::NONE, to) }
        }
        M::St => Dataflow {
            address: address(insn.first),
            writes_memory: true,
            ..compute(second, Registers::NONE)
        },
        M::Sts => Dataflow { writes_memory: true, ..compute(second, Registers::NONE) },
        M::Push => Dataflow { writes_memory: true, ..compute(first, Registers::NONE) },
        M::In => match insn.second {
            Operand::Io(io::SREG) => compute(STATUS, first),
            Operand::Io(io::SPL | io::SPH | io::RAMPZ) => compute(Registers::NONE, first),
            _ => Dataflow { reads_memory: true, ..compute(Registers::NONE, first) },
        },
        M::Out => match insn.first {
            Operand::Io(io::SREG) => compute(second, STATUS),
            // What a pointer of the core becomes decides addresses from there on.
            Operand::Io(io::SPL | io::SPH | io::RAMPZ) => Dataflow { address: second, ..none },
            _ => Dataflow { writes_memory: true, ..compute(second, Registers::NONE) },
        },
        M::Sbi | M::Cbi => Dataflow { reads_memory: true, writes_memory: true, ..none },
        M::Ijmp => Dataflow { branch: pair(Z), ..none },
        M::Icall => Dataflow { branch: pair(Z), writes_memory: true, ..none },
        M::Call | M::Rcall => Dataflow { writes_memory: true, ..none },
        M::Ret | M::Reti => {
            let mut transfer = Transfer::NONE;
            transfer.push(Transfer::BRANCH);
            transfer.push(Transfer::BRANCH);
            Dataflow { branch_memory: true, reads_memory: true, transfer, ..none }
        }
        M::Spm => Dataflow { address: pair(Z), ..compute(pair(0), Registers::NONE) },
        M::Jmp | M::Rjmp | M::Nop | M::Sleep | M::Break | M::Wdr => none,
    }
}
