// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each decoded instruction does: one handler a kind, generic over bus and observer.
//!
//! A handler returns the next program counter; bits above it say that the loop ends
//! ([`STATUS`], [`FAULT`]). Quick ones, which are here, go on with the next instruction by themselves (`follow!`); the
//! others are in `general.rs`. Cycle positions of accesses: a source is read in cycle 2 (`@Rn`) or 3 (`X(Rn)`, `&EDE`),
//! results are written in the last cycle and read before that.

use super::access::{access_slow, load_plain, odd, stop, store_plain};
use super::alu::{Flags, loads, op as alu_op, quick, stores};
use super::general::*;
use super::insn::{self, MASK20, indexed};
use super::op::{Extra, Op, dst, kind, lower, mode, single, src};
use super::{Bus, Cpu, SP, SR, Width, sr};
use crate::breakpoints::MARK;
use crate::threading::{dispatch, follow, handler, or_fault};
use crate::{Access, Cycles, Flow, Observer};

/// The instruction changed GIE, CPUOFF, OSCOFF, SCG0 or SCG1.
pub(crate) const STATUS: u32 = 1 << 30;
/// The instruction at the program counter did not run; `Cpu::fault` says why.
pub(crate) const FAULT: u32 = 1 << 31;

/// A breakpoint is at the instruction, which did not run.
pub(crate) const BREAKPOINT: u32 = 1 << 29;

pub(crate) type Handler<B, O> = fn(&mut Cpu, &mut B, &mut O, Op, u32) -> u32;

/// A power of two, so that an index needs a mask and no check.
pub(crate) const HANDLERS: usize = 512;
const _: () = assert!(kind::COUNT <= HANDLERS);

pub(crate) struct Table<B, O>(std::marker::PhantomData<(B, O)>);

impl<B: Bus, O: Observer> Table<B, O> {
    pub(crate) const HANDLERS: [Handler<B, O>; HANDLERS] = {
        let mut t: [Handler<B, O>; HANDLERS] = [undecoded::<B, O>; HANDLERS];
        macro_rules! jumps {
            ($($n:literal)*) => { $(t[kind::JUMP as usize + $n] = jump::<B, O, $n>;)* };
        }
        jumps!(0 1 2 3 4 5 6 7);
        t[kind::GENERAL_DOUBLE as usize] = general_double::<B, O, false>;
        t[kind::GENERAL_DOUBLE_X as usize] = general_double::<B, O, true>;
        t[kind::GENERAL_SINGLE as usize] = general_single::<B, O, false>;
        t[kind::GENERAL_SINGLE_X as usize] = general_single::<B, O, true>;
        t[kind::PUSH_WORD_REG as usize] = push_word_reg;
        t[kind::CALL_CONST as usize] = call_const;
        t[kind::RET as usize] = ret;
        t[kind::BRANCH_CONST as usize] = branch_const;
        t[kind::RETI as usize] = reti;
        t[kind::CALLA as usize] = calla;
        t[kind::MOVA as usize] = mova;
        t[kind::CMPA as usize] = address_alu::<B, O, { alu_op::CMP }>;
        t[kind::ADDA as usize] = address_alu::<B, O, { alu_op::ADD }>;
        t[kind::SUBA as usize] = address_alu::<B, O, { alu_op::SUB }>;
        t[kind::ROTATE_MANY as usize] = rotate_many;
        t[kind::PUSHM as usize] = pushm;
        t[kind::POPM as usize] = popm;
        t[kind::RRC_REG as usize] = single_reg::<B, O, { single::RRC }>;
        t[kind::RRA_REG as usize] = single_reg::<B, O, { single::RRA }>;
        t[kind::SWPB_REG as usize] = single_reg::<B, O, { single::SWPB }>;
        t[kind::SXT_REG as usize] = single_reg::<B, O, { single::SXT }>;
        t[kind::ADD_SP as usize] = add_sp;
        t[kind::NOP as usize] = nop;
        macro_rules! doubles {
            ($($op:ident)*) => { $(doubles!(@dst $op REG ABS IDX);)* };
            (@dst $op:ident $($dst:ident)*) => { $(doubles!(@src $op $dst REG CONST ABS IDX IND INC);)* };
            (@src $op:ident $dst:ident $($src:ident)*) => { $(
                t[kind::double(alu_op::$op, src::$src, dst::$dst, false) as usize] =
                    double::<B, O, { alu_op::$op }, { src::$src }, { dst::$dst }, false>;
                t[kind::double(alu_op::$op, src::$src, dst::$dst, true) as usize] =
                    double::<B, O, { alu_op::$op }, { src::$src }, { dst::$dst }, true>;
            )* };
        }
        // DADD always takes the general handler.
        doubles!(MOV ADD ADDC SUBC SUB CMP BIT BIC BIS XOR AND);
        macro_rules! to_io {
            ($op:ident $($src:ident)*) => { $(
                t[kind::to_io(alu_op::$op, src::$src) as usize] =
                    to_io::<B, O, { alu_op::$op }, { src::$src }>;
            )* };
        }
        to_io!(MOV REG CONST ABS IDX IND INC IO);
        to_io!(ADD REG);
        to_io!(ADDC REG);
        macro_rules! from_io {
            ($op:ident $($dst:ident)*) => { $(
                t[kind::from_io(alu_op::$op, dst::$dst) as usize] =
                    from_io::<B, O, { alu_op::$op }, { dst::$dst }>;
            )* };
        }
        from_io!(MOV REG ABS IDX);
        from_io!(ADD REG);
        from_io!(ADDC REG);
        t
    };
}

/// What every instruction ends with: cycles and where it leads; without `ACCESSES`, of one that surely made no data
/// access.
#[inline(always)]
pub(super) fn end<B: Bus, O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    (cycles, next, flow): (u32, u32, Flow),
) -> u32 {
    // Waits for the instruction's own words are in `cpu.cycles` already.
    let stall = if B::WAITS { bus.stall() } else { 0 };
    cpu.cycles += Cycles::from(cycles) + stall;
    if O::INSTRUCTIONS {
        let waits = if B::WAITS { (cpu.fetch_waits + stall) as u32 } else { 0 };
        let late = if ACCESSES {
            obs.instruction_soon(pc, cpu.r[SP], cycles + waits, flow)
        } else {
            obs.instruction_inside(pc, cpu.r[SP], cycles + waits, flow)
        };
        if late {
            cpu.threaded_until = 0;
        }
    }
    next
}

/// The same of one that leads to the one behind it.
#[inline(always)]
pub(super) fn pass<B: Bus, O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    op: Op,
) -> u32 {
    end::<B, O, ACCESSES>(cpu, bus, obs, pc, (op.cycles(), op.next(), Flow::Next))
}

/// The same of one that leads to an address, which must be even.
#[inline(always)]
pub(super) fn go<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    done: (u32, u32, Flow),
) -> u32 {
    let (_, target, _) = done;
    if target & 1 != 0 {
        return odd(cpu, target, pc);
    }
    end::<B, O, true>(cpu, bus, obs, pc, done)
}

/// Says that a general register got a result.
#[inline(always)]
fn tell<O: Observer>(obs: &mut O, reg: usize, old: u32, new: u32) {
    if O::RESULTS {
        obs.result(reg as u8, old, new);
    }
}

/// Says that `@Rn+` has stepped its register by `bytes`; steps of the stack pointer are not told.
#[inline(always)]
pub(super) fn tell_step<O: Observer>(cpu: &Cpu, obs: &mut O, mode: u32, reg: usize, bytes: u32) {
    if O::RESULTS && mode == mode::INC && reg != SP {
        tell(obs, reg, cpu.r[reg].wrapping_sub(bytes) & cpu.mask, cpu.r[reg]);
    }
}

/// Writes R1 to R15 by the rules of each; returns [`STATUS`] if the loop has to end.
#[inline(always)]
pub(super) fn write_register<O: Observer>(
    cpu: &mut Cpu,
    obs: &mut O,
    reg: usize,
    value: u32,
) -> u32 {
    let value = match reg {
        SP => value & cpu.mask & !1,
        SR => return write_status(cpu, value, true),
        3 => return 0,
        _ => value & cpu.mask,
    };
    tell(obs, reg, cpu.r[reg & 0xF], value);
    cpu.r[reg & 0xF] = value;
    0
}

/// Bits 15:9 of SR are reserved and read as zero.
pub(super) fn write_status(cpu: &mut Cpu, value: u32, shadow: bool) -> u32 {
    let old = cpu.r[SR];
    let new = value & 0x1FF;
    cpu.r[SR] = new;
    if (old ^ new) & sr::STATUS == 0 {
        return 0;
    }
    cpu.interrupt_shadow = shadow && new & !old & sr::GIE != 0 && new & sr::CPUOFF == 0;
    STATUS
}

// Decodes, keeps what may be kept, and runs; or ends the loop at a breakpoint.
handler!(undecoded, |cpu, bus, obs, found, pc| {
    let marked = found.data == u64::from(MARK);
    if marked && !cpu.single {
        return BREAKPOINT | pc;
    }
    let family = cpu.timing.family;
    let insn = or_fault!(cpu, pc, insn::decode_for(family, pc, |addr| bus.fetch(addr)));
    let op = lower(&insn, pc, &cpu.timing);
    let last = op.next().wrapping_sub(2) & MASK20;
    let cacheable = bus.cacheable(pc) && bus.cacheable(last);
    if cacheable && !marked {
        cpu.cache[(pc >> 1) as usize & (super::SLOTS - 1)] = [op.head, op.data];
    }
    let before = cpu.cycles;
    cpu.await_fetch(bus, pc, op);
    // This one alone.
    cpu.threaded_until = 0;
    let handlers = &Table::<B, O>::HANDLERS;
    let next = handlers[op.kind()](cpu, bus, obs, op, pc);
    if !cacheable {
        cpu.cycles_uncached += cpu.cycles - before;
    }
    next
});

/// Where the source lies, and when it is read.
#[inline(always)]
fn source<const SRC: u8>(cpu: &Cpu, op: Op) -> (u32, Cycles) {
    let pointer = cpu.r[op.rs()];
    match SRC {
        src::ABS | src::IO => (op.a(), cpu.cycles + 2),
        src::IDX => (indexed(pointer, op.a() as i32, true), cpu.cycles + 2),
        _ => (pointer, cpu.cycles + 1),
    }
}

// Double-operand instructions without extension word, destination R4 to R15 or memory, as long as
// all operands are in plain memory. Accesses are told when all have succeeded: until then the slow
// handler may begin anew.
handler!(
    double { OP: u8, SRC: u8, DST: u8, BYTE: bool },
    follow(kind::double(OP, SRC, DST, BYTE)),
    |cpu, bus, obs, op, pc| {
        macro_rules! or_watched {
            ($value:expr) => {
                match $value {
                    Some(value) => value,
                    None => {
                        return double_watched::<B, O, SRC, DST, BYTE>(cpu, bus, obs, op, pc);
                    }
                }
            };
        }
        let mask = if BYTE { 0xFF } else { 0xFFFF };
        let width = if BYTE { Width::Byte } else { Width::Word };
        let pointer = cpu.r[op.rs()];
        let from_memory = !matches!(SRC, src::REG | src::CONST);
        let (from, from_at) = source::<SRC>(cpu, op);
        let src = match SRC {
            src::REG => pointer & mask,
            src::CONST => op.a(),
            _ => or_watched!(load_plain(bus, from, width, from_at)),
        };
        let stepped = (pointer + width.bytes()) & cpu.mask;
        if SRC == src::INC {
            cpu.r[op.rs()] = stepped;
        }
        if DST == dst::REG {
            let old = cpu.r[op.rd()];
            let result = quick(OP, BYTE, src, old & mask, &mut cpu.flags);
            if O::ACCESSES && from_memory {
                obs.access(pc, from, Access::Read, width.into(), src, from_at);
            }
            if SRC == src::INC && op.rs() != SP {
                tell(obs, op.rs(), pointer, stepped);
            }
            if stores(OP) {
                tell(obs, op.rd(), old, result);
                cpu.r[op.rd()] = result;
            }
            let next = if from_memory {
                pass::<B, O, true>(cpu, bus, obs, pc, op)
            } else {
                pass::<B, O, false>(cpu, bus, obs, pc, op)
            };
            return follow!(next, kind::double(OP, SRC, DST, BYTE), cpu, bus, obs);
        }
        let base = cpu.r[op.rd()];
        let addr = if DST == dst::ABS { op.b() } else { indexed(base, op.b() as i32, true) };
        let mut flags = cpu.flags;
        let last = cpu.cycles + Cycles::from(op.cycles()) - 1;
        let at = if stores(OP) { last - 1 } else { last };
        let old = if loads(OP) { load_plain(bus, addr, width, at) } else { Some(0) };
        let result = old.map(|old| quick(OP, BYTE, src, old, &mut flags));
        let done =
            result.filter(|&value| !stores(OP) || store_plain(bus, addr, width, value, last));
        if done.is_none() {
            cpu.r[op.rs()] = pointer;
        }
        let result = or_watched!(done);
        cpu.flags = flags;
        if O::ACCESSES {
            if from_memory {
                obs.access(pc, from, Access::Read, width.into(), src, from_at);
            }
            if loads(OP) {
                obs.access(pc, addr, Access::Read, width.into(), old.unwrap_or(0), at);
            }
            if stores(OP) {
                obs.access(pc, addr, Access::Write, width.into(), result, last);
            }
        }
        if SRC == src::INC && op.rs() != SP {
            tell(obs, op.rs(), pointer, stepped);
        }
        pass::<B, O, true>(cpu, bus, obs, pc, op)
    }
);

// MOV, or ADD and ADDC from a register, to a peripheral's register, as long as that leads to nothing else: TI's
// multiplier works by such instructions.
handler!(to_io { OP: u8, SRC: u8 }, follow(kind::to_io(OP, SRC)), |cpu, bus, obs, op, pc| {
    let pointer = cpu.r[op.rs()];
    let (from, from_at) = source::<SRC>(cpu, op);
    let src = match SRC {
        src::REG => Some(pointer & 0xFFFF),
        src::CONST => Some(op.a()),
        src::IO => bus.read_plain_register(from, from_at).map(u32::from),
        _ => load_plain(bus, from, Width::Word, from_at),
    };
    let addr = op.b();
    let last = cpu.cycles + Cycles::from(op.cycles()) - 1;
    let old = if loads(OP) { bus.read_plain_register(addr, last - 1) } else { Some(0) };
    let mut flags = cpu.flags;
    let result = src.zip(old).map(|(src, old)| quick(OP, false, src, old.into(), &mut flags));
    let Some(result) = result.filter(|&value| bus.write_plain_register(addr, value as u16, last))
    else {
        return double_watched::<B, O, SRC, { dst::ABS }, false>(cpu, bus, obs, op, pc);
    };
    if loads(OP) {
        cpu.flags = flags;
    }
    if O::ACCESSES {
        if !matches!(SRC, src::REG | src::CONST) {
            obs.access(pc, from, Access::Read, crate::Width::W16, result, from_at);
        }
        if let (true, Some(old)) = (loads(OP), old) {
            obs.access(pc, addr, Access::Read, crate::Width::W16, old.into(), last - 1);
        }
        obs.access(pc, addr, Access::Write, crate::Width::W16, result, last);
    }
    if SRC == src::INC {
        cpu.r[op.rs()] = (pointer + 2) & cpu.mask;
        tell_step(cpu, obs, mode::INC, op.rs(), 2);
    }
    pass::<B, O, true>(cpu, bus, obs, pc, op)
});

// MOV from a peripheral's register to R4 to R15 or plain memory, ADD and ADDC to R4 to R15, as long as reading it
// has no effect.
handler!(from_io { OP: u8, DST: u8 }, follow(kind::from_io(OP, DST)), |cpu, bus, obs, op, pc| {
    let (from, from_at) = source::<{ src::IO }>(cpu, op);
    let old = cpu.r[op.rd()];
    let addr = if DST == dst::ABS { op.b() } else { indexed(old, op.b() as i32, true) };
    let last = cpu.cycles + Cycles::from(op.cycles()) - 1;
    let src = bus.read_plain_register(from, from_at).map(u32::from);
    let Some(src) =
        src.filter(|&value| DST == dst::REG || store_plain(bus, addr, Width::Word, value, last))
    else {
        return double_watched::<B, O, { src::IO }, DST, false>(cpu, bus, obs, op, pc);
    };
    if O::ACCESSES {
        obs.access(pc, from, Access::Read, crate::Width::W16, src, from_at);
        if DST != dst::REG {
            obs.access(pc, addr, Access::Write, crate::Width::W16, src, last);
        }
    }
    if DST == dst::REG {
        let result = quick(OP, false, src, old & 0xFFFF, &mut cpu.flags);
        tell(obs, op.rd(), old, result);
        cpu.r[op.rd()] = result;
    }
    pass::<B, O, true>(cpu, bus, obs, pc, op)
});

// What [`double`] and the handlers of registers leave: effects and faults.
handler!(
    double_watched { SRC: u8, DST: u8, BYTE: bool },
    follow_access(kind::UNKNOWN),
    |cpu, bus, obs, op, pc| {
        macro_rules! or_stop {
            ($value:expr) => {
                match $value {
                    Some(value) => value,
                    None => return FAULT | pc,
                }
            };
        }
        let operation = Extra(op.extra()).op();
        let mask = if BYTE { 0xFF } else { 0xFFFF };
        let width = if BYTE { Width::Byte } else { Width::Word };
        let start = cpu.cycles;
        let src = match SRC {
            src::REG => cpu.r[op.rs()] & mask,
            src::CONST => op.a(),
            src::ABS | src::IO => {
                or_stop!(access_slow(cpu, bus, obs, pc, (op.a(), width, start + 2), None))
            }
            src::IDX => {
                let addr = indexed(cpu.r[op.rs()], op.a() as i32, true);
                or_stop!(access_slow(cpu, bus, obs, pc, (addr, width, start + 2), None))
            }
            _ => {
                let addr = cpu.r[op.rs()];
                let value =
                    or_stop!(access_slow(cpu, bus, obs, pc, (addr, width, start + 1), None));
                if SRC == src::INC {
                    cpu.r[op.rs()] = (addr + width.bytes()) & cpu.mask;
                }
                value
            }
        };
        let src_mode = if SRC == src::INC { mode::INC } else { mode::REG };
        if DST == dst::REG {
            tell_step(cpu, obs, src_mode, op.rs(), width.bytes());
            let old = cpu.r[op.rd()];
            let result = quick(operation, BYTE, src, old & mask, &mut cpu.flags);
            if stores(operation) {
                tell(obs, op.rd(), old, result);
                cpu.r[op.rd()] = result;
            }
        } else {
            let addr =
                if DST == dst::ABS { op.b() } else { indexed(cpu.r[op.rd()], op.b() as i32, true) };
            let last = start + Cycles::from(op.cycles()) - 1;
            let old = if loads(operation) {
                let at = if stores(operation) { last - 1 } else { last };
                or_stop!(access_slow(cpu, bus, obs, pc, (addr, width, at), None))
            } else {
                0
            };
            let mut flags = cpu.flags;
            let result = quick(operation, BYTE, src, old, &mut flags);
            if stores(operation) {
                or_stop!(access_slow(cpu, bus, obs, pc, (addr, width, last), Some(result)));
            }
            cpu.flags = flags;
            tell_step(cpu, obs, src_mode, op.rs(), width.bytes());
        }
        pass::<B, O, true>(cpu, bus, obs, pc, op)
    }
);

/// The handler of [`single_reg`].
const fn reg_kind(which: u8) -> u16 {
    match which {
        single::RRC => kind::RRC_REG,
        single::RRA => kind::RRA_REG,
        single::SWPB => kind::SWPB_REG,
        _ => kind::SXT_REG,
    }
}

// RRC, SWPB, RRA and SXT of a word in R4 to R15.
handler!(single_reg { WHICH: u8 }, follow(reg_kind(WHICH)), |cpu, bus, obs, op, pc| {
    let old = cpu.r[op.rd()] & 0xFFFF;
    let (result, flags) = match WHICH {
        single::RRC => {
            let result = old >> 1 | u32::from(cpu.flags.c()) << 15;
            (result, Flags::of_result(result, 16, old & 1 != 0))
        }
        single::RRA => {
            let result = old >> 1 | old & 0x8000;
            (result, Flags::of_result(result, 16, old & 1 != 0))
        }
        single::SWPB => (old >> 8 | (old & 0xFF) << 8, cpu.flags),
        _ => {
            let result = i32::from(old as u8 as i8) as u32 & MASK20;
            (result & cpu.mask, Flags::of_result(result, 20, result != 0))
        }
    };
    tell(obs, op.rd(), cpu.r[op.rd()], result);
    cpu.r[op.rd()] = result;
    cpu.flags = flags;
    pass::<B, O, false>(cpu, bus, obs, pc, op)
});

handler!(jump { CONDITION: u8 }, follow(kind::JUMP + CONDITION as u16), |cpu, bus, obs, op, pc| {
    let flags = cpu.flags;
    let taken = match CONDITION {
        0 => !flags.z(),
        1 => flags.z(),
        2 => !flags.c(),
        3 => flags.c(),
        4 => flags.n(),
        5 => !flags.less(),
        6 => flags.less(),
        _ => true,
    };
    if taken {
        end::<B, O, false>(cpu, bus, obs, pc, (op.cycles(), op.b(), Flow::Jump))
    } else {
        end::<B, O, false>(cpu, bus, obs, pc, (op.cycles(), op.next(), Flow::Next))
    }
});

handler!(push_word_reg, follow(kind::PUSH_WORD_REG), |cpu, bus, obs, op, pc| {
    let stack = cpu.r[SP].wrapping_sub(2) & cpu.mask;
    let at = cpu.cycles + Cycles::from(op.cycles()) - 1;
    let value = cpu.r[op.rd()] & 0xFFFF;
    if !store_plain(bus, stack, Width::Word, value, at) {
        return general_single::<B, O, false>(cpu, bus, obs, op, pc);
    }
    if O::ACCESSES {
        obs.access(pc, stack, Access::Write, crate::Width::W16, value, at);
    }
    cpu.r[SP] = stack;
    pass::<B, O, true>(cpu, bus, obs, pc, op)
});

// `CALL #address`
handler!(call_const, follow(kind::CALL_CONST), |cpu, bus, obs, op, pc| {
    let stack = cpu.r[SP].wrapping_sub(2) & cpu.mask;
    let target = op.b() & 0xFFFF;
    let at = cpu.cycles + Cycles::from(op.cycles()) - 1;
    if target & 1 != 0 || !store_plain(bus, stack, Width::Word, op.next(), at) {
        return general_single::<B, O, false>(cpu, bus, obs, op, pc);
    }
    if O::ACCESSES {
        obs.access(pc, stack, Access::Write, crate::Width::W16, op.next() & 0xFFFF, at);
    }
    cpu.r[SP] = stack;
    end::<B, O, true>(cpu, bus, obs, pc, (op.cycles(), target, Flow::Call { target }))
});

// RET: `MOV @SP+, PC`
handler!(ret, follow(kind::RET), |cpu, bus, obs, op, pc| {
    let stack = cpu.r[SP];
    let at = cpu.cycles + 1;
    let target = match load_plain(bus, stack, Width::Word, at) {
        Some(target) if target & 1 == 0 => target,
        _ => return general_double::<B, O, false>(cpu, bus, obs, op, pc),
    };
    if O::ACCESSES {
        obs.access(pc, stack, Access::Read, crate::Width::W16, target, at);
    }
    cpu.r[SP] = (stack + 2) & cpu.mask;
    end::<B, O, true>(cpu, bus, obs, pc, (op.cycles(), target, Flow::Return))
});

// BR: `MOV #address, PC`
handler!(branch_const, follow(kind::BRANCH_CONST), |cpu, bus, obs, op, pc| {
    if op.a() & 1 != 0 {
        return odd(cpu, op.a(), pc);
    }
    end::<B, O, false>(cpu, bus, obs, pc, (op.cycles(), op.a(), Flow::Jump))
});

handler!(nop, follow(kind::NOP), |cpu, bus, obs, op, pc| {
    pass::<B, O, false>(cpu, bus, obs, pc, op)
});

// `ADD #n, SP` and `SUB #n, SP`
handler!(add_sp, follow(kind::ADD_SP), |cpu, bus, obs, op, pc| {
    let old = cpu.r[SP] & 0xFFFF;
    let result = if op.extra() == u32::from(alu_op::ADD) {
        quick(alu_op::ADD, false, op.a(), old, &mut cpu.flags)
    } else {
        quick(alu_op::SUB, false, op.a(), old, &mut cpu.flags)
    };
    tell(obs, SP, cpu.r[SP], result & !1);
    cpu.r[SP] = result & !1;
    pass::<B, O, false>(cpu, bus, obs, pc, op)
});
