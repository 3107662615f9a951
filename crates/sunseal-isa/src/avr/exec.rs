// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each decoded instruction does: one handler a kind, generic over bus and observer.
//!
//! A handler returns the next program counter in words; bits above it say that the loop ends. Quick
//! ones go on with the next instruction by themselves ([`follow`]). Accesses are
//! in the last cycle of loads and stores (IN, OUT and skips: in their first), of CBI and SBI in both, of
//! calls and returns in the cycles before the last.

use super::access::*;
use super::insn::{PC_MASK, Z, decode, is_long};
use super::likely::LIKELY;
use super::op::{Op, alu, kind, lower, mul, one, skip, step};
use super::{Access, Bus, Cpu, Cycles, DATA_SPACE, Fault, Flow, Observer, SLOTS, Width, io, sreg};
use crate::FaultKind;
use crate::breakpoints::MARK;
use crate::threading::{self, Likely, dispatch};

/// A breakpoint is at the instruction, which did not run.
pub(crate) const BREAKPOINT: u32 = 1 << 27;
/// I became set, or the instruction was RETI.
pub(crate) const STATUS: u32 = 1 << 28;
/// The instruction was SLEEP.
pub(crate) const SLEEP: u32 = 1 << 29;
/// The instruction was BREAK.
pub(crate) const BREAK: u32 = 1 << 30;
/// The instruction at the program counter did not run; `Cpu::fault` says why.
pub(crate) const FAULT: u32 = 1 << 31;

pub(crate) type Handler<B, O> = fn(&mut Cpu, &mut B, &mut O, Op, u32) -> u32;

/// One for each value of the kind's byte, so that an index needs no check.
const HANDLERS: usize = 256;

pub(crate) struct Table<B, O>(std::marker::PhantomData<(B, O)>);

impl<B: Bus, O: Observer> Table<B, O> {
    pub(crate) const HANDLERS: [Handler<B, O>; HANDLERS] = {
        let mut t: [Handler<B, O>; HANDLERS] = [undecoded::<B, O>; HANDLERS];
        macro_rules! fill {
            ($first:ident: $handler:ident { $($index:expr),* $(,)? }) => {
                $(t[(kind::$first + $index) as usize] = $handler::<B, O, { $index }>;)*
            };
        }
        fill!(TWO: two {
            alu::SUB, alu::SBC, alu::AND, alu::OR, alu::MOV, alu::CP, alu::CPC, alu::ADD, alu::ADC, alu::EOR
        });
        fill!(CONSTANT: constant { alu::SUB, alu::SBC, alu::AND, alu::OR, alu::MOV, alu::CP });
        fill!(ONE: one_operand {
            one::COM, one::NEG, one::SWAP, one::INC, one::ASR, one::LSR, one::ROR, one::DEC
        });
        fill!(MUL: multiply { mul::MUL, mul::MULS, mul::MULSU, mul::FMUL, mul::FMULS, mul::FMULSU });
        fill!(BRANCH: branch { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 });
        fill!(FLAG: flag { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 });
        macro_rules! data {
            ($($step:ident)*) => { $(
                t[(kind::DATA + 2 * step::$step) as usize] = load::<B, O, { step::$step }>;
                t[(kind::DATA + 2 * step::$step + 1) as usize] = store::<B, O, { step::$step }>;
            )* };
        }
        data!(STAY INCREMENT DECREMENT);
        t[kind::PROGRAM as usize] = load_program::<B, O, false, false>;
        t[kind::PROGRAM as usize + 1] = load_program::<B, O, false, true>;
        t[kind::PROGRAM as usize + 2] = load_program::<B, O, true, false>;
        t[kind::PROGRAM as usize + 3] = load_program::<B, O, true, true>;
        macro_rules! skips {
            ($($what:ident)*) => { $(
                t[(kind::SKIP + 2 * skip::$what) as usize] = skip_over::<B, O, { skip::$what }, 1>;
                t[(kind::SKIP + 2 * skip::$what + 1) as usize] = skip_over::<B, O, { skip::$what }, 2>;
            )* };
        }
        skips!(CPSE SBRC SBRS SBIC SBIS);
        t[kind::MOVW as usize] = movw;
        t[kind::ADIW as usize] = add_wide::<B, O, false>;
        t[kind::SBIW as usize] = add_wide::<B, O, true>;
        t[kind::BST as usize] = bst;
        t[kind::BLD as usize] = bld;
        t[kind::LDS as usize] = lds;
        t[kind::STS as usize] = sts;
        t[kind::IN as usize] = input;
        t[kind::OUT as usize] = output;
        t[kind::CBI as usize] = change_bit::<B, O, false>;
        t[kind::SBI as usize] = change_bit::<B, O, true>;
        t[kind::PUSH as usize] = push;
        t[kind::POP as usize] = pop;
        t[kind::RJMP as usize] = jump::<B, O, 2>;
        t[kind::JMP as usize] = jump::<B, O, 3>;
        t[kind::IJMP as usize] = ijmp;
        t[kind::RCALL as usize] = call::<B, O, 1, 3>;
        t[kind::CALL as usize] = call::<B, O, 2, 4>;
        t[kind::ICALL as usize] = icall;
        t[kind::RET as usize] = ret::<B, O, false>;
        t[kind::RETI as usize] = ret::<B, O, true>;
        t[kind::NOP as usize] = nop;
        t[kind::SLEEP as usize] = sleep;
        t[kind::BREAK as usize] = break_;
        t[kind::WDR as usize] = wdr;
        t[kind::SPM as usize] = spm;
        t
    };
}

#[inline(always)]
fn finish<O: Observer>(
    cpu: &mut Cpu,
    obs: &mut O,
    pc: u32,
    cycles: u32,
    next: u32,
    flow: Flow,
) -> u32 {
    end::<O, true>(cpu, obs, pc, cycles, next, flow)
}

/// The same; without `ACCESSES`, of an instruction that surely made no data access.
#[inline(always)]
fn end<O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    obs: &mut O,
    pc: u32,
    cycles: u32,
    next: u32,
    flow: Flow,
) -> u32 {
    cpu.cycles += Cycles::from(cycles);
    if O::INSTRUCTIONS {
        let sp = DATA_SPACE | u32::from(cpu.sp);
        let late = if ACCESSES {
            obs.instruction_soon(2 * pc, sp, cycles, flow)
        } else {
            obs.instruction_inside(2 * pc, sp, cycles, flow)
        };
        if late {
            cpu.threaded_until = 0;
        }
    }
    next & PC_MASK
}

/// The handlers that are likely behind one.
const fn likely(kind: u8) -> Likely {
    threading::likely(LIKELY, kind as u16)
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
    if cpu.cycles >= cpu.threaded_until {
        return next;
    }
    let op = Op(cpu.cache[next as usize & (SLOTS - 1)]);
    dispatch!([return] Table::<B, O>::HANDLERS, op.kind(), likely, (cpu, bus, obs, op, next))
}

/// As [`follow`], behind one that may have reached a peripheral, which may have drawn the deadline near.
#[inline(always)]
fn follow_access<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    next: u32,
    likely: Likely,
) -> u32 {
    if cpu.cycles >= bus.deadline() {
        return next;
    }
    follow(cpu, bus, obs, next, likely)
}

/// To the instruction one word on; for `ACCESSES` see [`end`].
#[inline(always)]
fn proceed<B: Bus, O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    cycles: u32,
    likely: Likely,
) -> u32 {
    let next = end::<O, ACCESSES>(cpu, obs, pc, cycles, pc + 1, Flow::Next);
    follow(cpu, bus, obs, next, likely)
}

/// Ends an instruction that wrote: with the cycles it was halted, and the loop's end if I is now set.
#[inline(always)]
#[allow(clippy::too_many_arguments)] // one instruction's end, told whole
fn written<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    cycles: u32,
    words: u32,
    after: u32,
    likely: Likely,
) -> u32 {
    let stall = after & !STATUS;
    let next = finish(cpu, obs, pc, cycles + stall, pc + words, Flow::Next);
    if after & STATUS != 0 {
        return next | STATUS;
    }
    follow_access(cpu, bus, obs, next, likely)
}

/// Decodes, keeps, and runs; or ends the loop at a breakpoint.
fn undecoded<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    slot: Op,
    pc: u32,
) -> u32 {
    let marked = slot.0 == MARK;
    if marked && !cpu.single {
        return BREAKPOINT | pc;
    }
    let insn = or_fault!(cpu, pc, decode(pc, |addr| bus.fetch(addr)));
    if insn.is_undefined() && cpu.timing.trap_undefined {
        let word = bus.fetch(pc).unwrap_or_default();
        let reason =
            "the manual leaves a pointer undefined that is stepped and loaded or stored at once";
        return stop(cpu, Fault::new(FaultKind::IllegalOpcode { word, reason }, 2 * pc), pc);
    }
    // A skip to where there is no code is seen there.
    let over_long = insn.is_skip() && bus.fetch((pc + 1) & PC_MASK).is_ok_and(is_long);
    let op = lower(&insn, over_long);
    if !marked {
        cpu.cache[pc as usize & (SLOTS - 1)] = op.0;
    }
    Table::<B, O>::HANDLERS[op.kind()](cpu, bus, obs, op, pc)
}

// ---- arithmetic and logic

fn two<B: Bus, O: Observer, const OP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let (d, r) = (reg(cpu, op.a()), reg(cpu, op.b()));
    if let Some(result) = cpu.flags.operate::<OP>(d, r) {
        set(cpu, obs, op.a(), result);
    }
    proceed::<B, O, false>(cpu, bus, obs, pc, 1, const { likely(kind::TWO + OP) })
}

fn constant<B: Bus, O: Observer, const OP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let d = reg(cpu, op.a());
    if let Some(result) = cpu.flags.operate::<OP>(d, op.b()) {
        set(cpu, obs, op.a(), result);
    }
    proceed::<B, O, false>(cpu, bus, obs, pc, 1, const { likely(kind::CONSTANT + OP) })
}

fn one_operand<B: Bus, O: Observer, const OP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let d = reg(cpu, op.a());
    let flags = &mut cpu.flags;
    let result = match OP {
        one::COM => flags.com(d),
        one::NEG => flags.sub(0, d, 0),
        one::SWAP => d.rotate_left(4),
        one::INC => flags.inc(d),
        one::ASR => flags.shift(d, d & 0x80),
        one::LSR => flags.shift(d, 0),
        one::ROR => flags.shift(d, flags.carries & 0x80),
        _ => flags.dec(d),
    };
    set(cpu, obs, op.a(), result);
    proceed::<B, O, false>(cpu, bus, obs, pc, 1, const { likely(kind::ONE + OP) })
}

fn multiply<B: Bus, O: Observer, const OP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let (d, r) = (reg(cpu, op.a()), reg(cpu, op.b()));
    let unsigned = |value: u8| i32::from(value);
    let signed = |value: u8| i32::from(value as i8);
    let product = match OP {
        mul::MUL | mul::FMUL => unsigned(d) * unsigned(r),
        mul::MULS | mul::FMULS => signed(d) * signed(r),
        _ => signed(d) * unsigned(r),
    } as u16;
    let stored = if OP >= mul::FMUL { product << 1 } else { product };
    cpu.flags.product(product, stored);
    set_pair(cpu, obs, 0, stored);
    proceed::<B, O, false>(cpu, bus, obs, pc, 2, const { likely(kind::MUL + OP) })
}

fn movw<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    let value = pair(cpu, op.b());
    set_pair(cpu, obs, op.a(), value);
    proceed::<B, O, false>(cpu, bus, obs, pc, 1, const { likely(kind::MOVW) })
}

fn add_wide<B: Bus, O: Observer, const SUBTRACT: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let old = pair(cpu, op.a());
    let k = u16::from(op.b());
    let result = if SUBTRACT { old.wrapping_sub(k) } else { old.wrapping_add(k) };
    cpu.flags.wide(old, result, SUBTRACT);
    set_pair(cpu, obs, op.a(), result);
    proceed::<B, O, false>(cpu, bus, obs, pc, 2, const { likely(kind::ADIW + SUBTRACT as u8) })
}

fn bst<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    let bit = reg(cpu, op.a()) >> (op.b() & 7) & 1;
    cpu.control = cpu.control & !sreg::T | bit << 6;
    proceed::<B, O, false>(cpu, bus, obs, pc, 1, const { likely(kind::BST) })
}

fn bld<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    let bit = cpu.control >> 6 & 1;
    let n = op.b() & 7;
    let value = reg(cpu, op.a()) & !(1 << n) | bit << n;
    set(cpu, obs, op.a(), value);
    proceed::<B, O, false>(cpu, bus, obs, pc, 1, const { likely(kind::BLD) })
}

/// BSET (0 to 7) and BCLR (8 to 15).
fn flag<B: Bus, O: Observer, const WHICH: u8>(
    cpu: &mut Cpu,
    _: &mut B,
    obs: &mut O,
    _: Op,
    pc: u32,
) -> u32 {
    let on = WHICH < 8;
    let mut status = 0;
    match WHICH & 7 {
        0 => cpu.flags.set::<0>(on),
        1 => cpu.flags.set::<1>(on),
        2 => cpu.flags.set::<2>(on),
        3 => cpu.flags.set::<3>(on),
        4 => cpu.flags.set::<4>(on),
        5 => cpu.flags.set::<5>(on),
        n => {
            let bit = 1 << n;
            if on && bit == sreg::I && cpu.control & sreg::I == 0 {
                cpu.interrupt_shadow = true;
                status = STATUS;
            }
            cpu.control = if on { cpu.control | bit } else { cpu.control & !bit };
        }
    }
    finish(cpu, obs, pc, 1, pc + 1, Flow::Next) | status
}

// ---- where the program goes

/// BRBS (0 to 7) and BRBC (8 to 15).
fn branch<B: Bus, O: Observer, const WHICH: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let flags = cpu.flags;
    let is_set = match WHICH & 7 {
        0 => flags.is_set::<0>(),
        1 => flags.is_set::<1>(),
        2 => flags.is_set::<2>(),
        3 => flags.is_set::<3>(),
        4 => flags.is_set::<4>(),
        5 => flags.is_set::<5>(),
        n => cpu.control & 1 << n != 0,
    };
    if is_set == (WHICH < 8) {
        let next = end::<O, false>(cpu, obs, pc, 2, op.wide().into(), Flow::Jump);
        follow(cpu, bus, obs, next, const { likely(kind::BRANCH + WHICH) })
    } else {
        proceed::<B, O, false>(cpu, bus, obs, pc, 1, const { likely(kind::BRANCH + WHICH) })
    }
}

fn skip_over<B: Bus, O: Observer, const WHAT: u8, const WORDS: u32>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let bit = 1 << (op.b() & 7);
    let skips = match WHAT {
        skip::CPSE => reg(cpu, op.a()) == reg(cpu, op.b()),
        skip::SBRC => reg(cpu, op.a()) & bit == 0,
        skip::SBRS => reg(cpu, op.a()) & bit != 0,
        _ => {
            let addr = io::BASE + u16::from(op.a());
            let at = cpu.cycles;
            let Some(value) = read(cpu, bus, obs, pc, addr, at) else { return FAULT | pc };
            (value & bit != 0) == (WHAT == skip::SBIS)
        }
    };
    let next = if skips {
        finish(cpu, obs, pc, 1 + WORDS, pc + 1 + WORDS, Flow::Jump)
    } else {
        finish(cpu, obs, pc, 1, pc + 1, Flow::Next)
    };
    follow_access(cpu, bus, obs, next, const { likely(kind::SKIP + 2 * WHAT + (WORDS - 1) as u8) })
}

fn jump<B: Bus, O: Observer, const CYCLES: u32>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let next = end::<O, false>(cpu, obs, pc, CYCLES, op.wide().into(), Flow::Jump);
    follow(cpu, bus, obs, next, const { likely(kind::RJMP + (CYCLES - 2) as u8) })
}

fn ijmp<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, _: Op, pc: u32) -> u32 {
    let target = pair(cpu, Z).into();
    let next = finish(cpu, obs, pc, 2, target, Flow::Jump);
    follow(cpu, bus, obs, next, const { likely(kind::IJMP) })
}

/// Low byte first, so that in memory the address stands with its high byte first.
#[inline(always)]
pub(crate) fn push_address<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    value: u16,
    at: Cycles,
) -> Result<(), Fault> {
    let sp = cpu.sp;
    write(cpu, bus, obs, pc, sp, value as u8, at)?;
    write(cpu, bus, obs, pc, sp.wrapping_sub(1), (value >> 8) as u8, at + 1)?;
    cpu.sp = sp.wrapping_sub(2);
    Ok(())
}

#[inline(always)]
#[allow(clippy::too_many_arguments)] // one call, told whole
fn call_to<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    words: u32,
    cycles: u32,
    target: u32,
    likely: Likely,
) -> u32 {
    let back = (pc + words) as u16;
    let sp = cpu.sp;
    if O::ACCESSES
        || !bus.write_plain(sp, back as u8)
        || !bus.write_plain(sp.wrapping_sub(1), (back >> 8) as u8)
    {
        return call_watched(cpu, bus, obs, pc, words, cycles, target);
    }
    cpu.sp = sp.wrapping_sub(2);
    let next = finish(cpu, obs, pc, cycles, target, Flow::Call { target: 2 * target });
    follow(cpu, bus, obs, next, likely)
}

/// A call whose stack is not plain memory, or where somebody looks on.
#[inline(never)]
fn call_watched<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    words: u32,
    cycles: u32,
    target: u32,
) -> u32 {
    let back = (pc + words) as u16;
    let at = cpu.cycles + Cycles::from(cycles) - 2;
    or_fault!(cpu, pc, push_address(cpu, bus, obs, pc, back, at));
    finish(cpu, obs, pc, cycles, target, Flow::Call { target: 2 * target })
}

fn call<B: Bus, O: Observer, const WORDS: u32, const CYCLES: u32>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    call_to(
        cpu,
        bus,
        obs,
        pc,
        WORDS,
        CYCLES,
        op.wide().into(),
        const { likely(if WORDS == 1 { kind::RCALL } else { kind::CALL }) },
    )
}

fn icall<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, _: Op, pc: u32) -> u32 {
    let target = pair(cpu, Z).into();
    call_to(cpu, bus, obs, pc, 1, 3, target, const { likely(kind::ICALL) })
}

fn ret<B: Bus, O: Observer, const INTERRUPT: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let sp = cpu.sp;
    let plain = (bus.read_plain(sp.wrapping_add(1)), bus.read_plain(sp.wrapping_add(2)));
    match plain {
        (Some(high), Some(low)) if !O::ACCESSES => {
            let next = return_to::<O, INTERRUPT>(cpu, obs, pc, high, low);
            if INTERRUPT {
                return next;
            }
            follow(cpu, bus, obs, next, const { likely(kind::RET) })
        }
        _ => ret_watched::<B, O, INTERRUPT>(cpu, bus, obs, op, pc),
    }
}

#[inline(never)]
fn ret_watched<B: Bus, O: Observer, const INTERRUPT: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    _: Op,
    pc: u32,
) -> u32 {
    let sp = cpu.sp;
    let at = cpu.cycles + 1;
    let Some(high) = read(cpu, bus, obs, pc, sp.wrapping_add(1), at) else { return FAULT | pc };
    let at = at + 1;
    let Some(low) = read(cpu, bus, obs, pc, sp.wrapping_add(2), at) else { return FAULT | pc };
    return_to::<O, INTERRUPT>(cpu, obs, pc, high, low)
}

#[inline(always)]
fn return_to<O: Observer, const INTERRUPT: bool>(
    cpu: &mut Cpu,
    obs: &mut O,
    pc: u32,
    high: u8,
    low: u8,
) -> u32 {
    cpu.sp = cpu.sp.wrapping_add(2);
    let target = u32::from(low) | u32::from(high) << 8;
    if INTERRUPT {
        cpu.control |= sreg::I;
        cpu.interrupt_shadow = true;
        finish(cpu, obs, pc, 4, target, Flow::InterruptReturn) | STATUS
    } else {
        finish(cpu, obs, pc, 4, target, Flow::Return)
    }
}

// ---- data

/// The pointer's value for the access, and what it holds behind it if it steps.
#[inline(always)]
fn point<const STEP: u8>(cpu: &Cpu, op: Op) -> (u16, Option<u16>) {
    let pointer = pair(cpu, op.pointer());
    match STEP {
        step::INCREMENT => (pointer, Some(pointer.wrapping_add(1))),
        step::DECREMENT => {
            let pointer = pointer.wrapping_sub(1);
            (pointer, Some(pointer))
        }
        _ => (pointer.wrapping_add(op.b().into()), None),
    }
}

// Each has a fast form for plain memory where nobody looks on, without calls but one at its end, and a general one that
// runs the instruction from its beginning.

fn load<B: Bus, O: Observer, const STEP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let (addr, stepped) = point::<STEP>(cpu, op);
    match bus.read_plain(addr) {
        Some(value) if !O::ACCESSES => {
            if let Some(pointer) = stepped {
                set_pair(cpu, obs, op.pointer(), pointer);
            }
            set(cpu, obs, op.a(), value);
            proceed::<B, O, true>(cpu, bus, obs, pc, 2, const { likely(kind::DATA + 2 * STEP) })
        }
        _ => load_watched::<B, O, STEP>(cpu, bus, obs, op, pc),
    }
}

#[inline(never)]
fn load_watched<B: Bus, O: Observer, const STEP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let (addr, stepped) = point::<STEP>(cpu, op);
    let at = cpu.cycles + 1;
    let Some(value) = read(cpu, bus, obs, pc, addr, at) else { return FAULT | pc };
    if let Some(pointer) = stepped {
        set_pair(cpu, obs, op.pointer(), pointer);
    }
    set(cpu, obs, op.a(), value);
    let next = finish(cpu, obs, pc, 2, pc + 1, Flow::Next);
    follow_access(cpu, bus, obs, next, const { likely(kind::DATA + 2 * STEP) })
}

fn store<B: Bus, O: Observer, const STEP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let (addr, stepped) = point::<STEP>(cpu, op);
    if O::ACCESSES || !bus.write_plain(addr, reg(cpu, op.a())) {
        return store_watched::<B, O, STEP>(cpu, bus, obs, op, pc);
    }
    if let Some(pointer) = stepped {
        set_pair(cpu, obs, op.pointer(), pointer);
    }
    proceed::<B, O, true>(cpu, bus, obs, pc, 2, const { likely(kind::DATA + 2 * STEP + 1) })
}

#[inline(never)]
fn store_watched<B: Bus, O: Observer, const STEP: u8>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let (addr, stepped) = point::<STEP>(cpu, op);
    let value = reg(cpu, op.a());
    let after = or_fault!(cpu, pc, write(cpu, bus, obs, pc, addr, value, cpu.cycles + 1));
    if let Some(pointer) = stepped {
        set_pair(cpu, obs, op.pointer(), pointer);
    }
    written(cpu, bus, obs, pc, 2, 1, after, const { likely(kind::DATA + 2 * STEP + 1) })
}

fn lds<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    match bus.read_plain(op.wide()) {
        Some(value) if !O::ACCESSES => {
            set(cpu, obs, op.a(), value);
            let next = finish(cpu, obs, pc, 2, pc + 2, Flow::Next);
            follow(cpu, bus, obs, next, const { likely(kind::LDS) })
        }
        _ => lds_watched(cpu, bus, obs, op, pc),
    }
}

#[inline(never)]
fn lds_watched<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let at = cpu.cycles + 1;
    let Some(value) = read(cpu, bus, obs, pc, op.wide(), at) else { return FAULT | pc };
    set(cpu, obs, op.a(), value);
    let next = finish(cpu, obs, pc, 2, pc + 2, Flow::Next);
    follow_access(cpu, bus, obs, next, const { likely(kind::LDS) })
}

fn sts<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    if O::ACCESSES || !bus.write_plain(op.wide(), reg(cpu, op.a())) {
        return sts_watched(cpu, bus, obs, op, pc);
    }
    let next = finish(cpu, obs, pc, 2, pc + 2, Flow::Next);
    follow(cpu, bus, obs, next, const { likely(kind::STS) })
}

#[inline(never)]
fn sts_watched<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let value = reg(cpu, op.a());
    let after = or_fault!(cpu, pc, write(cpu, bus, obs, pc, op.wide(), value, cpu.cycles + 1));
    written(cpu, bus, obs, pc, 2, 2, after, const { likely(kind::STS) })
}

fn push<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    let sp = cpu.sp;
    if O::ACCESSES || !bus.write_plain(sp, reg(cpu, op.a())) {
        return push_watched(cpu, bus, obs, op, pc);
    }
    cpu.sp = sp.wrapping_sub(1);
    proceed::<B, O, true>(cpu, bus, obs, pc, 2, const { likely(kind::PUSH) })
}

#[inline(never)]
fn push_watched<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let (sp, value) = (cpu.sp, reg(cpu, op.a()));
    let after = or_fault!(cpu, pc, write(cpu, bus, obs, pc, sp, value, cpu.cycles + 1));
    cpu.sp = sp.wrapping_sub(1);
    written(cpu, bus, obs, pc, 2, 1, after, const { likely(kind::PUSH) })
}

fn pop<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    let sp = cpu.sp.wrapping_add(1);
    match bus.read_plain(sp) {
        Some(value) if !O::ACCESSES => {
            cpu.sp = sp;
            set(cpu, obs, op.a(), value);
            proceed::<B, O, true>(cpu, bus, obs, pc, 2, const { likely(kind::POP) })
        }
        _ => pop_watched(cpu, bus, obs, op, pc),
    }
}

#[inline(never)]
fn pop_watched<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let sp = cpu.sp.wrapping_add(1);
    let at = cpu.cycles + 1;
    let Some(value) = read(cpu, bus, obs, pc, sp, at) else { return FAULT | pc };
    cpu.sp = sp;
    set(cpu, obs, op.a(), value);
    let next = finish(cpu, obs, pc, 2, pc + 1, Flow::Next);
    follow_access(cpu, bus, obs, next, const { likely(kind::POP) })
}

/// IN of a core register is a move, not an access.
fn input<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    let addr = io::BASE + u16::from(op.b());
    let at = cpu.cycles;
    let Some(value) = read_slow(cpu, bus, pc, addr, at) else { return FAULT | pc };
    if O::ACCESSES && !is_core(addr) {
        let whole = DATA_SPACE | u32::from(addr);
        obs.access(2 * pc, whole, Access::Read, Width::W8, value.into(), at);
    }
    set(cpu, obs, op.a(), value);
    let next = finish(cpu, obs, pc, 1, pc + 1, Flow::Next);
    follow_access(cpu, bus, obs, next, const { likely(kind::IN) })
}

/// OUT to a core register is a move, not an access.
fn output<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, op: Op, pc: u32) -> u32 {
    let addr = io::BASE + u16::from(op.b());
    let (at, value) = (cpu.cycles, reg(cpu, op.a()));
    let after = or_fault!(cpu, pc, write_other(cpu, bus, obs, addr, value, at));
    if O::ACCESSES && !is_core(addr) {
        let whole = DATA_SPACE | u32::from(addr);
        obs.access(2 * pc, whole, Access::Write, Width::W8, value.into(), at);
    }
    written(cpu, bus, obs, pc, 1, 1, after, const { likely(kind::OUT) })
}

/// SBI and CBI read and write the whole register (ATmega128 datasheet 2467X, "Instruction Set Summary",
/// note: flags read as set are written back).
fn change_bit<B: Bus, O: Observer, const ON: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let addr = io::BASE + u16::from(op.a());
    let bit = 1 << (op.b() & 7);
    let at = cpu.cycles;
    let Some(old) = read(cpu, bus, obs, pc, addr, at) else { return FAULT | pc };
    let value = if ON { old | bit } else { old & !bit };
    let after = or_fault!(cpu, pc, write(cpu, bus, obs, pc, addr, value, at + 1));
    written(cpu, bus, obs, pc, 2, 1, after, const { likely(kind::CBI + ON as u8) })
}

// ---- program memory

fn load_program<B: Bus, O: Observer, const INCREMENT: bool, const EXTENDED: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
) -> u32 {
    let page = if EXTENDED { u32::from(cpu.rampz) << 16 } else { 0 };
    let addr = page | u32::from(pair(cpu, op.pointer()));
    let at = cpu.cycles + 2;
    let value = or_fault!(cpu, pc, bus.program_byte(addr, at));
    if O::ACCESSES {
        obs.access(2 * pc, addr, Access::Read, Width::W8, value.into(), at);
    }
    if INCREMENT {
        set_pair(cpu, obs, Z, addr.wrapping_add(1) as u16);
        if EXTENDED {
            cpu.rampz = (addr.wrapping_add(1) >> 16) as u8 & 1;
        }
    }
    set(cpu, obs, op.a(), value);
    let next = finish(cpu, obs, pc, 3, pc + 1, Flow::Next);
    follow_access(
        cpu,
        bus,
        obs,
        next,
        const { likely(kind::PROGRAM + 2 * INCREMENT as u8 + EXTENDED as u8) },
    )
}

fn spm<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, _: Op, pc: u32) -> u32 {
    let addr = u32::from(cpu.rampz) << 16 | u32::from(pair(cpu, Z));
    or_fault!(cpu, pc, bus.spm(2 * pc, addr, pair(cpu, 0), cpu.cycles));
    finish(cpu, obs, pc, 1, pc + 1, Flow::Next)
}

// ---- the rest

fn nop<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, _: Op, pc: u32) -> u32 {
    proceed::<B, O, false>(cpu, bus, obs, pc, 1, const { likely(kind::NOP) })
}

fn sleep<B: Bus, O: Observer>(cpu: &mut Cpu, _: &mut B, obs: &mut O, _: Op, pc: u32) -> u32 {
    finish(cpu, obs, pc, 1, pc + 1, Flow::Next) | SLEEP
}

fn break_<B: Bus, O: Observer>(cpu: &mut Cpu, _: &mut B, obs: &mut O, _: Op, pc: u32) -> u32 {
    finish(cpu, obs, pc, 1, pc + 1, Flow::Next) | BREAK
}

fn wdr<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, obs: &mut O, _: Op, pc: u32) -> u32 {
    bus.watchdog_reset(cpu.cycles);
    finish(cpu, obs, pc, 1, pc + 1, Flow::Next)
}
