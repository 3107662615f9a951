// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each instruction's results depend on.

use super::insn::{Condition, Insn, Mnemonic, Operand, Repeat, Size};
use super::{PC, SP, SR, sr};
use crate::{Dataflow, Registers, Transfer};

const STACK: Registers = Registers::of(SP as u8);

/// What a register's content is in data flow: PC and R3 hold nothing of it, SR holds the flags.
const fn register(reg: u8) -> Registers {
    match reg as usize {
        PC | 3 => Registers::NONE,
        SR => Registers::NZCV,
        _ => Registers::of(reg),
    }
}

/// The flags among bits of SR.
fn flags_in(bits: u32) -> Registers {
    let named = [
        (sr::C, Registers::C),
        (sr::Z, Registers::Z),
        (sr::N, Registers::N),
        (sr::V, Registers::V),
    ];
    let there = named.into_iter().filter(|(bit, _)| bits & bit != 0);
    there.fold(Registers::NONE, |all, (_, flag)| all | flag)
}

/// An operand: the register that holds it, the register that its address is made of, whether it is in memory.
struct Place {
    holds: Registers,
    address: Registers,
    in_memory: bool,
}

fn place(operand: Operand) -> Place {
    let none = Registers::NONE;
    let (holds, address, in_memory) = match operand {
        Operand::None | Operand::Constant(_) | Operand::Immediate(_) => (none, none, false),
        Operand::Reg(reg) => (register(reg), none, false),
        Operand::Symbolic(_) | Operand::Absolute(_) => (none, none, true),
        Operand::Indexed { reg, .. } | Operand::Indirect(reg) | Operand::Increment(reg) => {
            (none, register(reg), true)
        }
    };
    Place { holds, address, in_memory }
}

/// How an operation uses what is there: whether it needs the destination's old value, which flags it
/// needs and sets, whether it stores.
struct Use {
    old: bool,
    flags_read: Registers,
    flags_written: Registers,
    stores: bool,
}

fn use_of(mnemonic: Mnemonic, zero_carry: bool) -> Use {
    use Mnemonic as M;
    let carry = match mnemonic {
        M::Addc | M::Subc | M::Dadd | M::Rrc if zero_carry => Registers::NONE,
        M::Addc | M::Subc | M::Dadd | M::Rrc | M::Rrcm => Registers::C,
        _ => Registers::NONE,
    };
    let sets = !matches!(mnemonic, M::Mov | M::Mova | M::Bic | M::Bis | M::Swpb);
    Use {
        old: !matches!(mnemonic, M::Mov | M::Mova),
        flags_read: carry,
        flags_written: if sets { Registers::NZCV } else { Registers::NONE },
        stores: !matches!(mnemonic, M::Cmp | M::Bit | M::Cmpa),
    }
}

/// Whether the result is the same whatever the operands hold (`SUB Rn, Rn`, `AND #0, Rn`); for SUBC it
/// then depends on the carry alone. XOR is none of these: its V tells whether both operands are negative.
fn forgets_operands(insn: &Insn) -> bool {
    use Mnemonic as M;
    match insn.mnemonic {
        M::Sub | M::Subc | M::Cmp | M::Suba | M::Cmpa => {
            matches!(insn.src, Operand::Reg(4..)) && insn.src == insn.dst
        }
        M::And | M::Bit => insn.src == Operand::Constant(0),
        _ => false,
    }
}

/// What the results of `insn` depend on. Registers are R1 (SP) and R4 to R15; SR is its flags C, Z, N
/// and V, PC and R3 are no data.
#[must_use]
pub fn dataflow(insn: &Insn) -> Dataflow {
    use Mnemonic as M;
    let mut flow = match insn.mnemonic {
        M::Jump(condition) => jump(condition),
        M::Reti => {
            let mut transfer = Transfer::NONE;
            transfer.push(Transfer::FLAGS);
            transfer.push(Transfer::BRANCH);
            Dataflow {
                writes: Registers::NZCV,
                address: STACK,
                branch_memory: true,
                reads_memory: true,
                transfer,
                ..Dataflow::default()
            }
        }
        M::Push => {
            let src = place(insn.dst);
            Dataflow {
                reads: src.holds,
                address: src.address | STACK,
                reads_memory: src.in_memory,
                writes_memory: true,
                ..Dataflow::default()
            }
        }
        M::Call | M::Calla => {
            let target = place(insn.dst);
            Dataflow {
                address: target.address | STACK,
                branch: target.holds,
                branch_memory: target.in_memory,
                writes_memory: true,
                ..Dataflow::default()
            }
        }
        M::Pushm | M::Popm => many(insn),
        _ => operation(insn),
    };
    if let Repeat::Register(reg) = insn.repeat {
        flow.time |= register(reg);
        // How often decides what comes out, too.
        flow.reads |= register(reg);
        if insn.mnemonic == M::Push {
            flow.writes |= STACK;
            flow.keeps |= STACK;
        }
    }
    flow
}

fn jump(condition: Condition) -> Dataflow {
    let branch = match condition {
        Condition::Ne | Condition::Eq => Registers::Z,
        Condition::Nc | Condition::C => Registers::C,
        Condition::N => Registers::N,
        Condition::Ge | Condition::L => Registers::N | Registers::V,
        Condition::Always => Registers::NONE,
    };
    Dataflow { branch, ..Dataflow::default() }
}

/// Double-operand instructions, and single-operand ones that change their operand.
fn operation(insn: &Insn) -> Dataflow {
    let how = use_of(insn.mnemonic, insn.zero_carry);
    let (src, dst) = (place(insn.src), place(insn.dst));
    let to_pc = insn.dst == Operand::Reg(PC as u8);
    let to_status = insn.dst == Operand::Reg(SR as u8);
    let mut flow = Dataflow {
        address: src.address | dst.address,
        reads_memory: src.in_memory || dst.in_memory && how.old,
        writes_memory: dst.in_memory && how.stores,
        ..Dataflow::default()
    };
    if !forgets_operands(insn) {
        flow.reads = src.holds | if how.old { dst.holds } else { Registers::NONE };
    } else if insn.src == insn.dst {
        flow.reads_memory = false;
    }
    flow.reads |= how.flags_read;
    flow.writes = how.flags_written;
    if insn.mnemonic == Mnemonic::Dadd {
        // V is undefined; devices that keep it keep what it depends on.
        flow.keeps = Registers::V;
    }
    if to_pc && how.stores {
        flow.branch = flow.reads;
        flow.branch_memory = src.in_memory;
        if !matches!(insn.mnemonic, Mnemonic::Mov | Mnemonic::Mova) {
            return flow;
        }
        flow.reads = Registers::NONE;
        flow.reads_memory = false;
    } else if how.stores {
        flow.writes |= dst.holds;
    }
    if let (true, Mnemonic::Bic | Mnemonic::Bis, Operand::Constant(n) | Operand::Immediate(n)) =
        (to_status, insn.mnemonic, insn.src)
    {
        // EINT, DINT, CLRC, SETC, entering a low-power mode: the flags named become constant.
        flow.reads = Registers::NONE;
        flow.writes = flags_in(n);
    }
    flow
}

/// PUSHM and POPM: a register an access, or two where it has 20 bits.
fn many(insn: &Insn) -> Dataflow {
    let (Operand::Constant(count), Operand::Reg(highest)) = (insn.src, insn.dst) else {
        return Dataflow::default(); // the decoder makes no others
    };
    let pushes = insn.mnemonic == Mnemonic::Pushm;
    let mut flow = Dataflow {
        address: STACK,
        reads_memory: !pushes,
        writes_memory: pushes,
        ..Dataflow::default()
    };
    let mut all = Registers::NONE;
    for i in 0..count as u8 {
        let reg = if pushes { highest - i } else { highest + 1 + i - count as u8 };
        let moved = match usize::from(reg) {
            PC | 3 => Transfer::NOTHING,
            SR => Transfer::FLAGS,
            SP if !pushes => Transfer::NOTHING,
            _ => reg,
        };
        if moved != Transfer::NOTHING {
            all |= register(reg);
        }
        for _ in 0..if insn.size == Size::A { 2 } else { 1 } {
            flow.transfer.push(moved);
        }
    }
    *if pushes { &mut flow.reads } else { &mut flow.writes } = all;
    flow
}
