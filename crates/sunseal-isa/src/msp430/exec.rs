// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each decoded instruction does: one handler a kind, generic over bus and observer.
//!
//! A handler returns the next program counter; bits above it say that the loop ends
//! ([`STATUS`], [`FAULT`]). Quick ones go on with the next instruction by themselves ([`follow`]). Cycle positions of accesses: a source is read in cycle 2 (`@Rn`) or 3
//! (`X(Rn)`, `&EDE`), results are written in the last cycle and read before that.

use super::alu::{Flags, alu, loads, op as alu_op, quick, rotate_flags, stores, test_flags};
use super::insn::{self, MASK20, Size, indexed};
use super::likely::LIKELY;
use super::op::{Extra, Op, dst, kind, lower, mode, rotate, single, src};
use super::sr::C;
use super::timing::repeat_cycles;
use super::{Bus, Width};
use super::{Cpu, DaddOverflow, PC, SP, SR, sr};
use crate::breakpoints::MARK;
use crate::threading::{self, Likely, dispatch};
use crate::{Access, Cycles, Fault, Flow, Observer};

/// The instruction changed GIE, CPUOFF, OSCOFF, SCG0 or SCG1.
pub(crate) const STATUS: u32 = 1 << 30;
/// The instruction at the program counter did not run; `Cpu::fault` says why.
pub(crate) const FAULT: u32 = 1 << 31;

/// A breakpoint is at the instruction, which did not run.
pub(crate) const BREAKPOINT: u32 = 1 << 29;

pub(crate) type Handler<B, O> = fn(&mut Cpu, &mut B, &mut O, u64, u64, u32) -> u32;

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

macro_rules! or_fault {
    ($cpu:expr, $pc:expr, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(fault) => return stop($cpu, fault, $pc),
        }
    };
}

#[cold]
#[inline(never)]
fn stop(cpu: &mut Cpu, fault: Fault, pc: u32) -> u32 {
    cpu.fault = Some(fault.at_pc(pc));
    FAULT | pc
}

#[inline(always)]
fn finish<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    cycles: u32,
    next: u32,
    flow: Flow,
) -> u32 {
    end::<B, O, true>(cpu, bus, obs, pc, cycles, next, flow)
}

/// The same; without `ACCESSES`, of an instruction that surely made no data access.
#[inline(always)]
fn end<B: Bus, O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    cycles: u32,
    next: u32,
    flow: Flow,
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

/// The handlers that are likely behind one.
const fn likely(kind: u16) -> Likely {
    threading::likely(LIKELY, kind)
}

/// To the handler of the instruction at `next`, behind one that did nothing outside CPU and plain memory.
#[inline(always)]
fn follow<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    next: u32,
    likely: Likely,
) -> u32 {
    // Where fetches wait, they may draw the deadline near.
    let end = if B::WAITS { cpu.threaded_until.min(bus.deadline()) } else { cpu.threaded_until };
    if cpu.cycles >= end {
        return next;
    }
    let op = cpu.slot(bus, next);
    let handlers = &Table::<B, O>::HANDLERS;
    dispatch!([return] handlers, op.kind(), likely, (cpu, bus, obs, op.head, op.data, next))
}

/// Books an instruction that leads to the one behind it.
#[inline(always)]
fn pass<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, pc: u32, op: Op) -> u32 {
    finish(cpu, bus, obs, pc, op.cycles(), op.next(), Flow::Next)
}

/// To the instruction behind this one; for `ACCESSES` see [`end`].
#[inline(always)]
fn proceed<B: Bus, O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    op: Op,
    likely: Likely,
) -> u32 {
    let next = end::<B, O, ACCESSES>(cpu, bus, obs, pc, op.cycles(), op.next(), Flow::Next);
    follow(cpu, bus, obs, next, likely)
}

/// To `target`, which must be even.
#[inline(always)]
fn go<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    cycles: u32,
    target: u32,
    flow: Flow,
) -> u32 {
    if target & 1 != 0 {
        return odd(cpu, target, pc);
    }
    finish(cpu, bus, obs, pc, cycles, target, flow)
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
fn tell_step<O: Observer>(cpu: &Cpu, obs: &mut O, mode: u32, reg: usize, bytes: u32) {
    if O::RESULTS && mode == mode::INC && reg != SP {
        tell(obs, reg, cpu.r[reg].wrapping_sub(bytes) & cpu.mask, cpu.r[reg]);
    }
}

#[cold]
#[inline(never)]
fn odd(cpu: &mut Cpu, target: u32, pc: u32) -> u32 {
    stop(cpu, Fault::odd_program_counter(target), pc)
}

/// The even address of a word, or why there is none.
#[inline(always)]
fn align(cpu: &Cpu, addr: u32) -> Result<u32, Fault> {
    if addr & 1 == 0 {
        return Ok(addr);
    }
    misaligned(cpu.timing.trap_misaligned, addr)
}

#[cold]
#[inline(never)]
fn misaligned(trap: bool, addr: u32) -> Result<u32, Fault> {
    if trap { Err(Fault::misaligned(addr)) } else { Ok(addr & !1) }
}

#[inline(always)]
fn load<B: Bus, O: Observer>(
    cpu: &Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    width: Width,
    at: Cycles,
) -> Result<u32, Fault> {
    let addr = if matches!(width, Width::Word) { align(cpu, addr)? } else { addr };
    let value = u32::from(bus.read(addr, width, at)?);
    if O::ACCESSES {
        obs.access(pc, addr, Access::Read, width.into(), value, at);
    }
    Ok(value)
}

#[inline(always)]
#[allow(clippy::too_many_arguments)] // one access, told whole
fn store<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    width: Width,
    value: u32,
    at: Cycles,
) -> Result<(), Fault> {
    let addr = if matches!(width, Width::Word) { align(cpu, addr)? } else { addr };
    bus.write(addr, width, value as u16, at)?;
    if B::STORES_CHANGE_CODE && bus.cacheable(addr) {
        cpu.invalidate(addr..addr + width.bytes());
    }
    if O::ACCESSES {
        obs.access(pc, addr, Access::Write, width.into(), value, at);
    }
    Ok(())
}

/// As [`load`]; `None`: it failed, and `Cpu::fault` says why. Not inlined: a handler that keeps a fault on its stack
/// cannot jump to the next one.
#[inline(never)]
fn load_slow<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    width: Width,
    at: Cycles,
) -> Option<u32> {
    load(cpu, bus, obs, pc, addr, width, at).map_err(|fault| stop(cpu, fault, pc)).ok()
}

/// As [`load_slow`].
#[inline(never)]
#[allow(clippy::too_many_arguments)] // one access, told whole
fn store_slow<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    width: Width,
    value: u32,
    at: Cycles,
) -> Option<()> {
    store(cpu, bus, obs, pc, addr, width, value, at).map_err(|fault| stop(cpu, fault, pc)).ok()
}

/// An operand of any size; 20-bit ones are two words, low first, the second in the next cycle.
fn load_sized<B: Bus, O: Observer>(
    cpu: &Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    size: Size,
    at: Cycles,
) -> Result<u32, Fault> {
    match size {
        Size::B => load(cpu, bus, obs, pc, addr, Width::Byte, at),
        Size::W => load(cpu, bus, obs, pc, addr, Width::Word, at),
        Size::A => {
            let low = load(cpu, bus, obs, pc, addr, Width::Word, at)?;
            let high = load(cpu, bus, obs, pc, (addr + 2) & MASK20, Width::Word, at + 1)?;
            Ok(low | (high & 0xF) << 16)
        }
    }
}

#[allow(clippy::too_many_arguments)] // one access, told whole
fn store_sized<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    addr: u32,
    size: Size,
    value: u32,
    at: Cycles,
) -> Result<(), Fault> {
    match size {
        Size::B => store(cpu, bus, obs, pc, addr, Width::Byte, value & 0xFF, at),
        Size::W => store(cpu, bus, obs, pc, addr, Width::Word, value & 0xFFFF, at),
        Size::A => {
            store(cpu, bus, obs, pc, addr, Width::Word, value & 0xFFFF, at - 1)?;
            let high = value >> 16 & 0xF;
            store(cpu, bus, obs, pc, (addr + 2) & MASK20, Width::Word, high, at)
        }
    }
}

/// Writes R1 to R15 by the rules of each; returns [`STATUS`] if the loop has to end.
#[inline(always)]
fn write_register<O: Observer>(cpu: &mut Cpu, obs: &mut O, reg: usize, value: u32) -> u32 {
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
fn write_status(cpu: &mut Cpu, value: u32, shadow: bool) -> u32 {
    let old = cpu.r[SR];
    let new = value & 0x1FF;
    cpu.r[SR] = new;
    if (old ^ new) & sr::STATUS == 0 {
        return 0;
    }
    cpu.interrupt_shadow = shadow && new & !old & sr::GIE != 0 && new & sr::CPUOFF == 0;
    STATUS
}

/// Decodes, keeps what may be kept, and runs; or ends the loop at a breakpoint.
fn undecoded<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    _: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let marked = data == u64::from(MARK);
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
    let next = handlers[op.kind()](cpu, bus, obs, op.head, op.data, pc);
    if !cacheable {
        cpu.cycles_uncached += cpu.cycles - before;
    }
    next
}

/// Reads plain memory; `None` has the slow handler run the instruction from its beginning.
#[inline(always)]
fn load_plain<B: Bus>(bus: &B, addr: u32, width: Width, at: Cycles) -> Option<u32> {
    if matches!(width, Width::Word) && addr & 1 != 0 {
        return None;
    }
    bus.read_plain(addr, width, at).map(u32::from)
}

/// Writes plain memory, or returns false and nothing is written.
#[inline(always)]
fn store_plain<B: Bus>(bus: &mut B, addr: u32, width: Width, value: u32, at: Cycles) -> bool {
    let aligned = matches!(width, Width::Byte) || addr & 1 == 0;
    aligned && bus.write_plain(addr, width, value as u16, at)
}

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

/// Double-operand instructions without extension word, destination R4 to R15 or memory, as long as
/// all operands are in plain memory. Accesses are told when all have succeeded: until then the slow
/// handler may begin anew.
fn double<B: Bus, O: Observer, const OP: u8, const SRC: u8, const DST: u8, const BYTE: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    macro_rules! or_watched {
        ($value:expr) => {
            match $value {
                Some(value) => value,
                None => {
                    return double_watched::<B, O, SRC, DST, BYTE>(cpu, bus, obs, head, data, pc);
                }
            }
        };
    }
    let op = Op { head, data };
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
        let likely = const { likely(kind::double(OP, SRC, DST, BYTE)) };
        if from_memory {
            return proceed::<B, O, true>(cpu, bus, obs, pc, op, likely);
        }
        return proceed::<B, O, false>(cpu, bus, obs, pc, op, likely);
    }
    let base = cpu.r[op.rd()];
    let addr = if DST == dst::ABS { op.b() } else { indexed(base, op.b() as i32, true) };
    let mut flags = cpu.flags;
    let last = cpu.cycles + Cycles::from(op.cycles()) - 1;
    let at = if stores(OP) { last - 1 } else { last };
    let old = if loads(OP) { load_plain(bus, addr, width, at) } else { Some(0) };
    let result = old.map(|old| quick(OP, BYTE, src, old, &mut flags));
    let done = result.filter(|&value| !stores(OP) || store_plain(bus, addr, width, value, last));
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
    proceed::<B, O, true>(cpu, bus, obs, pc, op, const { likely(kind::double(OP, SRC, DST, BYTE)) })
}

/// MOV, or ADD and ADDC from a register, to a peripheral's register, as long as that leads to nothing else: TI's
/// multiplier works by such instructions.
fn to_io<B: Bus, O: Observer, const OP: u8, const SRC: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
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
        return double_watched::<B, O, SRC, { dst::ABS }, false>(cpu, bus, obs, head, data, pc);
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
    proceed::<B, O, true>(cpu, bus, obs, pc, op, const { likely(kind::to_io(OP, SRC)) })
}

/// MOV from a peripheral's register to R4 to R15 or plain memory, ADD and ADDC to R4 to R15, as long as reading it
/// has no effect.
fn from_io<B: Bus, O: Observer, const OP: u8, const DST: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let (from, from_at) = source::<{ src::IO }>(cpu, op);
    let old = cpu.r[op.rd()];
    let addr = if DST == dst::ABS { op.b() } else { indexed(old, op.b() as i32, true) };
    let last = cpu.cycles + Cycles::from(op.cycles()) - 1;
    let src = bus.read_plain_register(from, from_at).map(u32::from);
    let Some(src) =
        src.filter(|&value| DST == dst::REG || store_plain(bus, addr, Width::Word, value, last))
    else {
        return double_watched::<B, O, { src::IO }, DST, false>(cpu, bus, obs, head, data, pc);
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
    proceed::<B, O, true>(cpu, bus, obs, pc, op, const { likely(kind::from_io(OP, DST)) })
}

/// What [`double`] and the handlers of registers leave: effects and faults.
fn double_watched<B: Bus, O: Observer, const SRC: u8, const DST: u8, const BYTE: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    macro_rules! or_stop {
        ($value:expr) => {
            match $value {
                Some(value) => value,
                None => return FAULT | pc,
            }
        };
    }
    let op = Op { head, data };
    let operation = Extra(op.extra()).op();
    let mask = if BYTE { 0xFF } else { 0xFFFF };
    let width = if BYTE { Width::Byte } else { Width::Word };
    let start = cpu.cycles;
    let src = match SRC {
        src::REG => cpu.r[op.rs()] & mask,
        src::CONST => op.a(),
        src::ABS | src::IO => or_stop!(load_slow(cpu, bus, obs, pc, op.a(), width, start + 2)),
        src::IDX => {
            let addr = indexed(cpu.r[op.rs()], op.a() as i32, true);
            or_stop!(load_slow(cpu, bus, obs, pc, addr, width, start + 2))
        }
        _ => {
            let addr = cpu.r[op.rs()];
            let value = or_stop!(load_slow(cpu, bus, obs, pc, addr, width, start + 1));
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
            or_stop!(load_slow(cpu, bus, obs, pc, addr, width, at))
        } else {
            0
        };
        let mut flags = cpu.flags;
        let result = quick(operation, BYTE, src, old, &mut flags);
        if stores(operation) {
            or_stop!(store_slow(cpu, bus, obs, pc, addr, width, result, last));
        }
        cpu.flags = flags;
        tell_step(cpu, obs, src_mode, op.rs(), width.bytes());
    }
    let next = pass(cpu, bus, obs, pc, op);
    if cpu.cycles >= bus.deadline() {
        // A peripheral may have drawn it near.
        return next;
    }
    follow(cpu, bus, obs, next, threading::UNKNOWN)
}

/// The address an operand in memory lies at.
#[inline(always)]
fn effective(cpu: &Cpu, mode: u32, reg: usize, value: u32) -> u32 {
    match mode {
        mode::ABS => value,
        mode::IDX16 => indexed(cpu.r[reg], value as i32, true),
        mode::IDX20 => indexed(cpu.r[reg], value as i32, false),
        _ => cpu.r[reg],
    }
}

/// By how much `@Rn+` increments: SP stays even.
fn increment(size: Size, reg: usize) -> u32 {
    match size {
        Size::B if reg == SP => 2,
        size => size.bytes(),
    }
}

/// A source operand in any mode, incremented where the mode says so ([`tell_step`] tells it, behind the
/// instruction's accesses).
#[allow(clippy::too_many_arguments)] // an operand, told whole
fn fetch_source<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    mode: u32,
    reg: usize,
    value: u32,
    size: Size,
    at: Cycles,
) -> Result<u32, Fault> {
    match mode {
        mode::REG => Ok(cpu.r[reg] & size.mask()),
        mode::CONST => Ok(value & size.mask()),
        _ => {
            let addr = effective(cpu, mode, reg, value);
            let operand_words = Cycles::from(!matches!(mode, mode::IND | mode::INC));
            let value = load_sized(cpu, bus, obs, pc, addr, size, at + operand_words)?;
            if mode == mode::INC {
                cpu.r[reg] = (addr + increment(size, reg)) & cpu.mask;
            }
            Ok(value)
        }
    }
}

/// Double-operand instructions of any length, mode and destination, repeated or not.
fn general_double<B: Bus, O: Observer, const EXTENDED: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    cpu.flags_to_status();
    let next = run_double::<B, O, EXTENDED>(cpu, bus, obs, Op { head, data }, pc);
    cpu.flags_from_status();
    next
}

fn run_double<B: Bus, O: Observer, const EXTENDED: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let extra = Extra(op.extra());
    let (operation, size) = (extra.op(), extra.size());
    let mask = size.mask();
    let times = extra.times(&cpu.r);
    let cycles = op.cycles() + (times - 1) * repeat_cycles(false, size);
    let start = cpu.cycles + Cycles::from(EXTENDED);
    let last = cpu.cycles + Cycles::from(cycles) - 1;
    let mut status = 0;
    let mut target = None;
    for _ in 0..times {
        let src = fetch_source(cpu, bus, obs, pc, op.src_mode(), op.rs(), op.a(), size, start + 1);
        let src = or_fault!(cpu, pc, src);
        let in_memory = !matches!(op.dst_mode(), mode::REG | mode::CONST);
        let addr = effective(cpu, op.dst_mode(), op.rd(), op.b());
        let old = match op.dst_mode() {
            mode::REG => cpu.r[op.rd()],
            mode::CONST => target.unwrap_or(op.b()),
            _ if !loads(operation) => 0,
            _ => {
                let words = Cycles::from(size == Size::A) + 1;
                let after = if stores(operation) { words } else { 0 };
                let at = last - after - (words - 1);
                or_fault!(cpu, pc, load_sized(cpu, bus, obs, pc, addr, size, at))
            }
        } & mask;
        let flags = cpu.r[SR];
        let carried = if extra.zero_carry() { flags & !C } else { flags };
        let (result, mut new) = alu(operation, mask, src, old, carried);
        match operation {
            alu_op::MOV | alu_op::BIC | alu_op::BIS => new = flags,
            alu_op::DADD if cpu.timing.dadd_overflow == DaddOverflow::Clear => new &= !sr::V,
            _ => {}
        }
        if stores(operation) && in_memory {
            or_fault!(cpu, pc, store_sized(cpu, bus, obs, pc, addr, size, result, last));
        }
        cpu.r[SR] = new;
        tell_step(cpu, obs, op.src_mode(), op.rs(), increment(size, op.rs()));
        if stores(operation) && !in_memory {
            if op.dst_mode() == mode::CONST {
                target = Some(result);
            } else {
                status |= write_register(cpu, obs, op.rd(), result);
            }
        }
    }
    match target {
        Some(target) => {
            let ret = operation == alu_op::MOV && op.src_mode() == mode::INC && op.rs() == SP;
            let flow = if ret { Flow::Return } else { Flow::Jump };
            go(cpu, bus, obs, pc, cycles, target, flow)
        }
        None => finish(cpu, bus, obs, pc, cycles, op.next(), Flow::Next) | status,
    }
}

/// The handler of [`single_reg`].
const fn reg_kind(which: u8) -> u16 {
    match which {
        single::RRC => kind::RRC_REG,
        single::RRA => kind::RRA_REG,
        single::SWPB => kind::SWPB_REG,
        _ => kind::SXT_REG,
    }
}

/// RRC, SWPB, RRA and SXT of a word in R4 to R15.
fn single_reg<B: Bus, O: Observer, const WHICH: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
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
    proceed::<B, O, false>(cpu, bus, obs, pc, op, const { likely(reg_kind(WHICH)) })
}

/// The result and status of a single-operand operation. SXT extends `sign_bit`, in a register to 20 bits.
#[inline(always)]
fn single(
    which: u8,
    size: Size,
    value: u32,
    flags: u32,
    sign_bit: u32,
    in_register: bool,
) -> (u32, u32) {
    let mask = size.mask();
    let top = mask ^ mask >> 1;
    let old = value & mask;
    match which {
        single::RRC => {
            let result = old >> 1 | if flags & C != 0 { top } else { 0 };
            (result, rotate_flags(mask, result, old & 1, flags))
        }
        single::RRA => {
            let result = old >> 1 | old & top;
            (result, rotate_flags(mask, result, old & 1, flags))
        }
        single::SWPB => ((old & !0xFFFF) | (old >> 8 & 0xFF) | (old & 0xFF) << 8, flags),
        _ => {
            let mask = if in_register { MASK20 } else { mask };
            let shift = 31 - sign_bit;
            let result = ((value << shift) as i32 >> shift) as u32 & mask;
            (result, test_flags(mask, result, flags))
        }
    }
}

/// Single-operand instructions of any length and mode, repeated or not, PUSH and CALL.
fn general_single<B: Bus, O: Observer, const EXTENDED: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    cpu.flags_to_status();
    let next = run_single::<B, O, EXTENDED>(cpu, bus, obs, Op { head, data }, pc);
    cpu.flags_from_status();
    next
}

fn run_single<B: Bus, O: Observer, const EXTENDED: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let extra = Extra(op.extra());
    let (which, size) = (extra.op(), extra.size());
    let times = extra.times(&cpu.r);
    let cycles = op.cycles() + (times - 1) * repeat_cycles(which == single::PUSH, size);
    let start = cpu.cycles + Cycles::from(EXTENDED);
    let last = cpu.cycles + Cycles::from(cycles) - 1;
    let (mode, reg) = (op.dst_mode(), op.rd());
    if which >= single::PUSH {
        let mut next = op.next();
        let by_stack = reg == SP && !matches!(mode, mode::REG | mode::CONST | mode::ABS);
        if by_stack {
            bus.stack_operand(pc, start);
        }
        for _ in 0..times {
            let bytes = if size == Size::A { 4 } else { 2 };
            let old = cpu.r[SP];
            let mut stack = old.wrapping_sub(bytes) & cpu.mask;
            if by_stack && cpu.timing.stack_operand_after(mode, EXTENDED) {
                cpu.r[SP] = stack;
            }
            let value = fetch_source(cpu, bus, obs, pc, mode, reg, op.b(), size, start + 1);
            cpu.r[SP] = old;
            let mut value = or_fault!(cpu, pc, value);
            if which == single::CALL {
                or_fault!(cpu, pc, store_sized(cpu, bus, obs, pc, stack, Size::W, next, last));
                next = value;
            } else {
                if mode == mode::REG && reg == SP && !cpu.timing.push_sp_stores_old {
                    value = stack & size.mask();
                }
                or_fault!(cpu, pc, store_sized(cpu, bus, obs, pc, stack, size, value, last));
            }
            tell_step(cpu, obs, mode, reg, increment(size, reg));
            if by_stack && mode == mode::INC {
                // `@SP+` steps behind the push (openMSP430's RTL, Ghidra's model of the FR5994).
                stack = (stack + increment(size, reg)) & cpu.mask;
            }
            cpu.r[SP] = stack;
        }
        return if which == single::CALL {
            go(cpu, bus, obs, pc, cycles, next, Flow::Call { target: next })
        } else {
            finish(cpu, bus, obs, pc, cycles, next, Flow::Next)
        };
    }
    let sign_bit = if extra.zero_carry() && cpu.timing.sxtx_zc_extends_bit_15 { 15 } else { 7 };
    let mut status = 0;
    let mut target = None;
    for _ in 0..times {
        let carried = cpu.r[SR] & if extra.zero_carry() { !C } else { !0 };
        match mode {
            mode::REG | mode::CONST => {
                let old = if mode == mode::REG { cpu.r[reg] } else { target.unwrap_or(op.b()) };
                let (result, new) = single(which, size, old, carried, sign_bit, true);
                if which != single::SWPB {
                    cpu.r[SR] = new;
                }
                if mode == mode::REG {
                    status |= write_register(cpu, obs, reg, result);
                } else {
                    target = Some(result);
                }
            }
            _ => {
                let addr = effective(cpu, mode, reg, op.b());
                let words = Cycles::from(size == Size::A) + 1;
                let at = last + 1 - 2 * words;
                let old = or_fault!(cpu, pc, load_sized(cpu, bus, obs, pc, addr, size, at));
                let (result, new) = single(which, size, old, carried, sign_bit, false);
                or_fault!(cpu, pc, store_sized(cpu, bus, obs, pc, addr, size, result, last));
                if which != single::SWPB {
                    cpu.r[SR] = new;
                }
                if mode == mode::INC {
                    cpu.r[reg] = (addr + increment(size, reg)) & cpu.mask;
                    tell_step(cpu, obs, mode, reg, increment(size, reg));
                }
            }
        }
    }
    match target {
        Some(target) => go(cpu, bus, obs, pc, cycles, target, Flow::Jump),
        None => finish(cpu, bus, obs, pc, cycles, op.next(), Flow::Next) | status,
    }
}

fn jump<B: Bus, O: Observer, const CONDITION: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
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
    let next = if taken {
        end::<B, O, false>(cpu, bus, obs, pc, op.cycles(), op.b(), Flow::Jump)
    } else {
        end::<B, O, false>(cpu, bus, obs, pc, op.cycles(), op.next(), Flow::Next)
    };
    follow(cpu, bus, obs, next, const { likely(kind::JUMP + CONDITION as u16) })
}

fn push_word_reg<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let stack = cpu.r[SP].wrapping_sub(2) & cpu.mask;
    let at = cpu.cycles + Cycles::from(op.cycles()) - 1;
    let value = cpu.r[op.rd()] & 0xFFFF;
    if !store_plain(bus, stack, Width::Word, value, at) {
        return general_single::<B, O, false>(cpu, bus, obs, head, data, pc);
    }
    if O::ACCESSES {
        obs.access(pc, stack, Access::Write, crate::Width::W16, value, at);
    }
    cpu.r[SP] = stack;
    proceed::<B, O, true>(cpu, bus, obs, pc, op, const { likely(kind::PUSH_WORD_REG) })
}

/// `CALL #address`
fn call_const<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let stack = cpu.r[SP].wrapping_sub(2) & cpu.mask;
    let target = op.b() & 0xFFFF;
    let at = cpu.cycles + Cycles::from(op.cycles()) - 1;
    if target & 1 != 0 || !store_plain(bus, stack, Width::Word, op.next(), at) {
        return general_single::<B, O, false>(cpu, bus, obs, head, data, pc);
    }
    if O::ACCESSES {
        obs.access(pc, stack, Access::Write, crate::Width::W16, op.next() & 0xFFFF, at);
    }
    cpu.r[SP] = stack;
    let next = finish(cpu, bus, obs, pc, op.cycles(), target, Flow::Call { target });
    follow(cpu, bus, obs, next, const { likely(kind::CALL_CONST) })
}

/// RET: `MOV @SP+, PC`
fn ret<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let stack = cpu.r[SP];
    let at = cpu.cycles + 1;
    match load_plain(bus, stack, Width::Word, at) {
        Some(target) if target & 1 == 0 => {
            if O::ACCESSES {
                obs.access(pc, stack, Access::Read, crate::Width::W16, target, at);
            }
            cpu.r[SP] = (stack + 2) & cpu.mask;
            let next = finish(cpu, bus, obs, pc, op.cycles(), target, Flow::Return);
            follow(cpu, bus, obs, next, const { likely(kind::RET) })
        }
        _ => general_double::<B, O, false>(cpu, bus, obs, head, data, pc),
    }
}

/// BR: `MOV #address, PC`
fn branch_const<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    if op.a() & 1 != 0 {
        return odd(cpu, op.a(), pc);
    }
    let next = end::<B, O, false>(cpu, bus, obs, pc, op.cycles(), op.a(), Flow::Jump);
    follow(cpu, bus, obs, next, const { likely(kind::BRANCH_CONST) })
}

fn nop<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    proceed::<B, O, false>(cpu, bus, obs, pc, Op { head, data }, const { likely(kind::NOP) })
}

/// `ADD #n, SP` and `SUB #n, SP`
fn add_sp<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let old = cpu.r[SP] & 0xFFFF;
    let result = if op.extra() == u32::from(alu_op::ADD) {
        quick(alu_op::ADD, false, op.a(), old, &mut cpu.flags)
    } else {
        quick(alu_op::SUB, false, op.a(), old, &mut cpu.flags)
    };
    tell(obs, SP, cpu.r[SP], result & !1);
    cpu.r[SP] = result & !1;
    proceed::<B, O, false>(cpu, bus, obs, pc, op, const { likely(kind::ADD_SP) })
}

fn reti<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let stack = cpu.r[SP];
    let status = load(cpu, bus, obs, pc, stack, Width::Word, cpu.cycles + 1);
    let status = or_fault!(cpu, pc, status);
    let above = (stack + 2) & cpu.mask;
    let low = or_fault!(cpu, pc, load(cpu, bus, obs, pc, above, Width::Word, cpu.cycles + 2));
    let target = (low | (status >> 12 & 0xF) << 16) & cpu.mask;
    // Observers hear of the stack pointer behind the instruction.
    cpu.r[SP] = (stack + 4) & cpu.mask;
    let next = go(cpu, bus, obs, pc, op.cycles(), target, Flow::InterruptReturn);
    if next & FAULT != 0 {
        cpu.r[SP] = stack;
        return next;
    }
    let status = write_status(cpu, status, false);
    cpu.flags_from_status();
    next | status
}

fn calla<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let (start, mode, reg) = (cpu.cycles, op.dst_mode(), op.rd());
    if reg == SR {
        cpu.flags_to_status();
    }
    let old = cpu.r[SP];
    if reg == SP && mode != mode::REG {
        bus.stack_operand(pc, start);
        if mode == mode::IDX20 && cpu.timing.calla_indexed_sp_after {
            cpu.r[SP] = old.wrapping_sub(4) & MASK20;
        }
    }
    let target = fetch_source(cpu, bus, obs, pc, mode, reg, op.b(), Size::A, start + 1);
    if mode == mode::IDX20 {
        cpu.r[SP] = old;
    }
    let target = or_fault!(cpu, pc, target);
    let back = op.next();
    let last = start + Cycles::from(op.cycles()) - 1;
    let high = cpu.r[SP].wrapping_sub(2) & MASK20;
    let low = cpu.r[SP].wrapping_sub(4) & MASK20;
    or_fault!(cpu, pc, store(cpu, bus, obs, pc, high, Width::Word, back >> 16, last - 1));
    or_fault!(cpu, pc, store(cpu, bus, obs, pc, low, Width::Word, back & 0xFFFF, last));
    tell_step(cpu, obs, mode, reg, increment(Size::A, reg));
    cpu.r[SP] = low;
    go(cpu, bus, obs, pc, op.cycles(), target, Flow::Call { target })
}

fn mova<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let (start, mode, reg) = (cpu.cycles, op.src_mode(), op.rs());
    if reg == SR || op.rd() == SR {
        cpu.flags_to_status();
    }
    let value = fetch_source(cpu, bus, obs, pc, mode, reg, op.a(), Size::A, start + 1);
    let value = or_fault!(cpu, pc, value);
    tell_step(cpu, obs, mode, reg, increment(Size::A, reg));
    match op.dst_mode() {
        mode::REG => {
            let status = write_register(cpu, obs, op.rd(), value);
            if op.rd() == SR {
                cpu.flags_from_status();
            }
            pass(cpu, bus, obs, pc, op) | status
        }
        mode::CONST => {
            let ret = mode == mode::INC && reg == SP;
            let flow = if ret { Flow::Return } else { Flow::Jump };
            go(cpu, bus, obs, pc, op.cycles(), value, flow)
        }
        dst_mode => {
            let addr = effective(cpu, dst_mode, op.rd(), op.b());
            let last = start + Cycles::from(op.cycles()) - 1;
            or_fault!(cpu, pc, store_sized(cpu, bus, obs, pc, addr, Size::A, value, last));
            pass(cpu, bus, obs, pc, op)
        }
    }
}

/// CMPA, ADDA and SUBA
fn address_alu<B: Bus, O: Observer, const OP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    cpu.flags_to_status();
    let src = if op.src_mode() == mode::REG { cpu.r[op.rs()] } else { op.a() };
    let to_pc = op.dst_mode() == mode::CONST;
    let old = if to_pc { op.b() } else { cpu.r[op.rd()] };
    let (result, new) = alu(OP, MASK20, src, old, cpu.r[SR]);
    cpu.r[SR] = new;
    let mut status = 0;
    if stores(OP) && !to_pc {
        status = write_register(cpu, obs, op.rd(), result);
    }
    cpu.flags_from_status();
    if stores(OP) && to_pc {
        return go(cpu, bus, obs, pc, op.cycles(), result, Flow::Jump);
    }
    pass(cpu, bus, obs, pc, op) | status
}

/// RRCM, RRAM, RLAM and RRUM by 1 to 4 bits
fn rotate_many<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let size = if op.extra() & 4 != 0 { Size::A } else { Size::W };
    cpu.flags_to_status();
    let mut value = cpu.r[op.rd()] & size.mask();
    let mut flags = cpu.r[SR];
    for _ in 0..op.a() {
        (value, flags) = match op.extra() & 3 {
            rotate::RRC => single(single::RRC, size, value, flags, 7, true),
            rotate::RRA => single(single::RRA, size, value, flags, 7, true),
            rotate::RLA => alu(alu_op::ADD, size.mask(), value, value, flags),
            _ => single(single::RRC, size, value, flags & !C, 7, true),
        };
    }
    cpu.r[SR] = flags;
    let status = write_register(cpu, obs, op.rd(), value);
    cpu.flags_from_status();
    pass(cpu, bus, obs, pc, op) | status
}

fn pushm<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let size = if op.extra() != 0 { Size::A } else { Size::W };
    // The highest register first. PC, the lowest, has its value in the operand.
    let highest = op.rd() as u32;
    if highest - (op.a() - 1) <= SR as u32 {
        cpu.flags_to_status();
    }
    let mut stack = cpu.r[SP];
    let mut at = cpu.cycles + 2;
    for i in 0..op.a() {
        let reg = (highest - i) as usize & 0xF;
        let value = if reg == PC { op.next() } else { cpu.r[reg] };
        stack = stack.wrapping_sub(size.bytes()) & MASK20;
        at += Cycles::from(size.bytes() / 2) - 1;
        or_fault!(cpu, pc, store_sized(cpu, bus, obs, pc, stack, size, value, at));
        at += 1;
    }
    cpu.r[SP] = stack;
    pass(cpu, bus, obs, pc, op)
}

fn popm<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    head: u64,
    data: u64,
    pc: u32,
) -> u32 {
    let op = Op { head, data };
    let size = if op.extra() != 0 { Size::A } else { Size::W };
    let lowest = op.rd() as u32 + 1 - op.a();
    let mut stack = cpu.r[SP];
    let mut at = cpu.cycles + 2;
    let mut status = 0;
    let before = cpu.r;
    for i in 0..op.a() {
        let value = or_fault!(cpu, pc, load_sized(cpu, bus, obs, pc, stack, size, at));
        stack = (stack + size.bytes()) & MASK20;
        at += Cycles::from(size.bytes() / 2);
        status |= write_register(cpu, &mut crate::Silent, (lowest + i) as usize, value);
        if lowest + i == SR as u32 {
            cpu.flags_from_status();
        }
    }
    if O::RESULTS {
        for reg in (lowest..lowest + op.a()).map(|reg| reg as usize).filter(|&reg| reg > 3) {
            obs.result(reg as u8, before[reg], cpu.r[reg]);
        }
    }
    cpu.r[SP] = stack;
    pass(cpu, bus, obs, pc, op) | status
}
