// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the results of an instruction depend on, from its operands.

use super::insn::{
    Address, Alu, Condition, Context, Field, FloatUnary, Insn, Kind, Mul, MulLong, Shift, Source,
};
use super::{LR, PC, SP};
use crate::{Dataflow, Registers, Transfer};

const NONE: Registers = Registers::NONE;

/// A core register; the program counter is known to everyone.
fn r(n: u8) -> Registers {
    if usize::from(n) == PC { NONE } else { Registers::of(n) }
}

/// Set of one floating-point register.
fn s(n: u8) -> Registers {
    Registers::of(32 + (n & 31))
}

/// The flags that a condition looks at.
fn condition_flags(condition: Condition) -> Registers {
    use Condition as C;
    match condition {
        C::Eq | C::Ne => Registers::Z,
        C::Cs | C::Cc => Registers::C,
        C::Mi | C::Pl => Registers::N,
        C::Vs | C::Vc => Registers::V,
        C::Hi | C::Ls => Registers::C | Registers::Z,
        C::Ge | C::Lt => Registers::N | Registers::V,
        C::Gt | C::Le => Registers::Z | Registers::N | Registers::V,
        C::Al => NONE,
    }
}

/// The registers of an address.
fn address(addr: Address) -> Registers {
    match addr {
        Address::Offset(rn, _) | Address::Pre(rn, _) | Address::Post(rn, _) => r(rn),
        Address::Register(rn, rm, _) => r(rn) | r(rm),
        Address::Literal(_) => NONE,
    }
}

fn source(src: Source) -> Registers {
    match src {
        Source::Imm { .. } => NONE,
        Source::Reg(rm) => r(rm),
        Source::Shifted(rm, Shift::Rrx, _) => r(rm) | Registers::C,
        Source::Shifted(rm, ..) => r(rm),
        Source::ByRegister(rm, _, rs) => r(rm) | r(rs),
    }
}

fn alu(op: Alu, set: bool, rd: u8, rn: u8, src: Source) -> Dataflow {
    let mut reads = source(src);
    if !op.moves() {
        reads |= r(rn);
    }
    if matches!(op, Alu::Adc | Alu::Sbc) {
        reads |= Registers::C;
    }
    // The same for every operand.
    if matches!(op, Alu::Eor | Alu::Sub) && src == Source::Reg(rn) {
        reads = NONE;
    }
    let mut writes = NONE;
    let mut keeps = NONE;
    if set {
        writes = Registers::N | Registers::Z;
        if !op.logical() {
            writes |= Registers::C | Registers::V;
        } else if let Source::ByRegister(..) = src {
            // By zero the carry stays.
            writes |= Registers::C;
            keeps = Registers::C;
        } else if !matches!(src, Source::Reg(_) | Source::Imm { carry: None, .. }) {
            writes |= Registers::C;
        }
    }
    let mut flow = Dataflow { reads, keeps, ..Dataflow::default() };
    if op.compares() {
        flow.writes = writes;
    } else if usize::from(rd) == PC {
        flow.branch = reads;
        flow.reads = NONE;
    } else {
        flow.writes = writes | r(rd);
    }
    flow
}

/// A load or store of `moved`, in the order of `transfer`.
fn transfers(address: Registers, transfer: Transfer, moved: Registers, load: bool) -> Dataflow {
    let (reads, writes) = if load { (NONE, moved) } else { (moved, NONE) };
    let (reads_memory, writes_memory) = (load, !load);
    Dataflow {
        address,
        reads,
        writes,
        reads_memory,
        writes_memory,
        transfer,
        ..Dataflow::default()
    }
}

/// Transfers of `list`, lowest first.
fn many(rn: u8, list: u16, load: bool) -> Dataflow {
    let mut transfer = Transfer::NONE;
    let mut moved = NONE;
    for n in (0..16u8).filter(|&n| list & 1 << n != 0) {
        if usize::from(n) == PC {
            transfer.push(Transfer::BRANCH);
        } else {
            transfer.push(n);
            moved |= r(n);
        }
    }
    let branch_memory = load && list & 1 << PC != 0;
    Dataflow { branch_memory, ..transfers(r(rn), transfer, moved, load) }
}

fn floats(first: u8, words: u8, base: Registers, load: bool) -> Dataflow {
    let mut transfer = Transfer::NONE;
    let mut moved = NONE;
    for n in first..first + words {
        transfer.push(32 + n);
        moved |= s(n);
    }
    transfers(base, transfer, moved, load)
}

fn pair(rt: u8, rt2: u8, addr: Address, load: bool) -> Dataflow {
    let mut transfer = Transfer::NONE;
    transfer.push(rt);
    transfer.push(rt2);
    let moved = r(rt) | r(rt2);
    transfers(address(addr), transfer, moved, load)
}

/// What the results of `insn` depend on. In an IT block it is kept from happening by a condition: what it writes keeps what
/// it depended on, and the flags of the condition flow into it; into its time, too, unless it takes one cycle either way.
#[must_use]
pub fn dataflow(insn: &Insn) -> Dataflow {
    let mut flow = unconditional(&insn.kind);
    let flags = condition_flags(insn.context.condition());
    if insn.context != Context::Outside {
        let goes = !flow.branch.is_empty()
            || flow.branch_memory
            || matches!(insn.kind, Kind::Branch { .. } | Kind::BranchLink { .. });
        flow.reads |= if flow.transfer.is_empty() { flags } else { NONE };
        flow.keeps |= flow.writes;
        if goes || !takes_one_cycle(&insn.kind) {
            flow.time |= flags;
        }
        if goes {
            flow.branch |= flags;
        }
    }
    flow
}

/// Core data processing takes the one cycle that an instruction takes whose condition fails. What it leaves to the
/// next (a load or store by its result waits) shows in an address made of that result.
fn takes_one_cycle(kind: &Kind) -> bool {
    match kind {
        Kind::Mul { op, .. } => !matches!(op, Mul::Sdiv | Mul::Udiv),
        Kind::Alu { .. }
        | Kind::AddWide { .. }
        | Kind::Adr { .. }
        | Kind::Movw { .. }
        | Kind::Movt { .. }
        | Kind::MulLong { .. }
        | Kind::Parallel { .. }
        | Kind::Saturating { .. }
        | Kind::Sat { .. }
        | Kind::Extend { .. }
        | Kind::Unary { .. }
        | Kind::Sel { .. }
        | Kind::Pkh { .. }
        | Kind::Field { .. } => true,
        _ => false,
    }
}

fn unconditional(kind: &Kind) -> Dataflow {
    let simple =
        |reads: Registers, writes: Registers| Dataflow { reads, writes, ..Dataflow::default() };
    match *kind {
        Kind::Alu { op, set, rd, rn, src } => alu(op, set || op.compares(), rd, rn, src),
        Kind::AddWide { rd, rn, .. } => simple(r(rn), r(rd)),
        Kind::Adr { rd, .. } | Kind::Movw { rd, .. } => simple(NONE, r(rd)),
        Kind::Movt { rd, .. } => Dataflow { keeps: r(rd), ..simple(NONE, r(rd)) },
        Kind::Mul { op, set, rd, rn, rm, ra } => {
            let mut flow = simple(r(rn) | r(rm), r(rd));
            if op.accumulates() {
                flow.reads |= r(ra);
            }
            if set {
                flow.writes |= Registers::N | Registers::Z;
            }
            match op {
                // TRM r0p1 table 3-1: 2 to 12 cycles by the operands.
                Mul::Sdiv | Mul::Udiv => flow.time = flow.reads,
                Mul::Smla(..) | Mul::Smlaw(_) | Mul::Smuad(_) | Mul::Smlad(_) | Mul::Smlsd(_) => {
                    flow.writes |= Registers::Q;
                    flow.keeps = Registers::Q;
                }
                _ => {}
            }
            flow
        }
        Kind::MulLong { op, lo, hi, rn, rm } => {
            let old = match op {
                MulLong::Smull | MulLong::Umull => NONE,
                _ => r(lo) | r(hi),
            };
            simple(r(rn) | r(rm) | old, r(lo) | r(hi))
        }
        Kind::Parallel { lanes, rd, rn, rm, .. } => {
            use super::insn::Lanes;
            let sets = matches!(lanes, Lanes::Signed | Lanes::Unsigned);
            simple(r(rn) | r(rm), r(rd) | if sets { Registers::GE } else { NONE })
        }
        Kind::Saturating { rd, rm, rn, .. } => {
            Dataflow { keeps: Registers::Q, ..simple(r(rm) | r(rn), r(rd) | Registers::Q) }
        }
        Kind::Sat { rd, rn, .. } => {
            Dataflow { keeps: Registers::Q, ..simple(r(rn), r(rd) | Registers::Q) }
        }
        Kind::Extend { rd, rn, rm, .. } => simple(r(rn) | r(rm), r(rd)),
        Kind::Unary { rd, rm, .. } => simple(r(rm), r(rd)),
        Kind::Sel { rd, rn, rm } => simple(r(rn) | r(rm) | Registers::GE, r(rd)),
        Kind::Pkh { rd, rn, rm, .. } => simple(r(rn) | r(rm), r(rd)),
        Kind::Field { op: Field::Bfc, rd, .. } => Dataflow { keeps: r(rd), ..simple(NONE, r(rd)) },
        Kind::Field { op: Field::Bfi, rd, rn, .. } => {
            Dataflow { keeps: r(rd), ..simple(r(rn), r(rd)) }
        }
        Kind::Field { rd, rn, .. } => simple(r(rn), r(rd)),
        Kind::Load { rt, addr, .. } => {
            let to_pc = usize::from(rt) == PC;
            Dataflow {
                address: address(addr),
                reads_memory: !to_pc,
                branch_memory: to_pc,
                writes: r(rt),
                ..Dataflow::default()
            }
        }
        Kind::Store { rt, addr, .. } => Dataflow {
            reads: r(rt),
            address: address(addr),
            writes_memory: true,
            ..Dataflow::default()
        },
        Kind::LoadDual { rt, rt2, addr } => pair(rt, rt2, addr, true),
        Kind::StoreDual { rt, rt2, addr } => pair(rt, rt2, addr, false),
        Kind::LoadMany { rn, list, .. } => many(rn, list, true),
        Kind::StoreMany { rn, list, .. } => many(rn, list, false),
        Kind::LoadExclusive { rt, rn, .. } => {
            Dataflow { address: r(rn), reads_memory: true, writes: r(rt), ..Dataflow::default() }
        }
        // Whether it succeeds depends on no operand; the result that says so is a second, free of them.
        Kind::StoreExclusive { rd, rt, rn, .. } => Dataflow {
            reads: r(rt),
            address: r(rn),
            writes: r(rd),
            writes_memory: true,
            ..Dataflow::default()
        },
        Kind::Branch { condition, .. } => {
            Dataflow { branch: condition_flags(condition), ..Dataflow::default() }
        }
        Kind::BranchLink { .. } => simple(NONE, r(LR as u8)),
        Kind::BranchExchange { rm } => Dataflow { branch: r(rm), ..Dataflow::default() },
        Kind::BranchLinkExchange { rm } => Dataflow { branch: r(rm), ..simple(NONE, r(LR as u8)) },
        Kind::CompareBranch { rn, .. } => Dataflow { branch: r(rn), ..Dataflow::default() },
        Kind::TableBranch { rn, rm, .. } => {
            Dataflow { address: r(rn) | r(rm), branch_memory: true, ..Dataflow::default() }
        }
        Kind::It { .. }
        | Kind::Clrex
        | Kind::Preload { .. }
        | Kind::Svc { .. }
        | Kind::Bkpt { .. }
        | Kind::Cps { .. }
        | Kind::Hint(_)
        | Kind::Barrier(..) => Dataflow::default(),
        Kind::Mrs { rd, special } => {
            let reads = match special {
                0..=3 => Registers::NZCV | Registers::Q | Registers::GE,
                8 | 9 => Registers::of(SP as u8),
                _ => NONE,
            };
            simple(reads, r(rd))
        }
        Kind::Msr { rn, mask, special } => {
            let mut writes = NONE;
            if special < 4 && mask & 2 != 0 {
                writes |= Registers::NZCV | Registers::Q;
            }
            if special < 4 && mask & 1 != 0 {
                writes |= Registers::GE;
            }
            if matches!(special, 8 | 9) {
                writes |= Registers::of(SP as u8);
            }
            simple(r(rn), writes)
        }
        Kind::Float { op, sd, sn, sm } => {
            let addend = if op.accumulates() { s(sd) } else { NONE };
            simple(s(sn) | s(sm) | addend, s(sd))
        }
        Kind::FloatUnary { op, sd, sm } => {
            let half = matches!(op, FloatUnary::ToHalf(_));
            Dataflow { keeps: if half { s(sd) } else { NONE }, ..simple(s(sm), s(sd)) }
        }
        Kind::FloatImm { sd, .. } => simple(NONE, s(sd)),
        Kind::FloatCompare { sd, sm, .. } => simple(s(sd) | sm.map_or(NONE, s), Registers::FP),
        Kind::FloatToCore { rt, sn } | Kind::HalfToCore { rt, s: sn } => simple(s(sn), r(rt)),
        Kind::CoreToFloat { rt, sn } | Kind::CoreToHalf { rt, s: sn } => simple(r(rt), s(sn)),
        Kind::FloatsToCore { rt, rt2, sm, .. } => simple(s(sm) | s(sm + 1), r(rt) | r(rt2)),
        Kind::CoreToFloats { rt, rt2, sm, .. } => simple(r(rt) | r(rt2), s(sm) | s(sm + 1)),
        Kind::FloatLoad { double, fd, rn, .. } => {
            let (first, words) = if double { (fd * 2, 2) } else { (fd, 1) };
            floats(first, words, r(rn), true)
        }
        Kind::FloatStore { double, fd, rn, .. } => {
            let (first, words) = if double { (fd * 2, 2) } else { (fd, 1) };
            floats(first, words, r(rn), false)
        }
        Kind::FloatMany { load, double, first, count, rn, .. } => {
            let (first, words) = if double { (first * 2, count * 2) } else { (first, count) };
            floats(first, words, r(rn), load)
        }
        Kind::Vmrs { rt: 15 } => simple(Registers::FP, Registers::NZCV),
        Kind::Vmrs { rt } => simple(Registers::FP, r(rt)),
        Kind::Vmsr { rt } => simple(r(rt), Registers::FP),
    }
}
