// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each decoded instruction does: one handler a kind, generic over bus and observer.
//!
//! A handler returns the next program counter in words; bits above it say that the loop ends. Quick
//! ones go on with the next instruction by themselves (`follow!`). Accesses are
//! in the last cycle of loads and stores (IN, OUT and skips: in their first), of CBI and SBI in both, of
//! calls and returns in the cycles before the last.

use super::access::*;
use super::insn::{PC_MASK, Z, decode, is_long};
use super::op::{Op, alu, kind, lower, mul, one, skip, step};
use super::{Access, Bus, Cpu, Cycles, DATA_SPACE, Fault, Flow, Observer, SLOTS, Width, io, sreg};
use crate::FaultKind;
use crate::breakpoints::MARK;
use crate::threading::{dispatch, follow, handler, or_fault, watched};

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
                t[kind::load(step::$step) as usize] = load::<B, O, { step::$step }>;
                t[kind::store(step::$step) as usize] = store::<B, O, { step::$step }>;
            )* };
        }
        data!(STAY INCREMENT DECREMENT ABSOLUTE);
        t[kind::POP as usize] = load::<B, O, { step::POP }>;
        t[kind::PUSH as usize] = store::<B, O, { step::PUSH }>;
        macro_rules! programs {
            ($($increment:literal $extended:literal)*) => { $(
                t[kind::program($increment, $extended) as usize] =
                    load_program::<B, O, $increment, $extended>;
            )* };
        }
        programs!(false false false true true false true true);
        macro_rules! skips {
            ($($what:ident)*) => { $(
                t[kind::skip(skip::$what, 1) as usize] = skip_over::<B, O, { skip::$what }, 1>;
                t[kind::skip(skip::$what, 2) as usize] = skip_over::<B, O, { skip::$what }, 2>;
            )* };
        }
        skips!(CPSE SBRC SBRS SBIC SBIS);
        t[kind::MOVW as usize] = movw;
        t[kind::ADIW as usize] = add_wide::<B, O, false>;
        t[kind::SBIW as usize] = add_wide::<B, O, true>;
        t[kind::BST as usize] = bst;
        t[kind::BLD as usize] = bld;
        t[kind::IN as usize] = input;
        t[kind::OUT as usize] = output;
        t[kind::CBI as usize] = change_bit::<B, O, false>;
        t[kind::SBI as usize] = change_bit::<B, O, true>;
        t[kind::RJMP as usize] = jump::<B, O, 2>;
        t[kind::JMP as usize] = jump::<B, O, 3>;
        t[kind::IJMP as usize] = ijmp;
        t[kind::RCALL as usize] = call::<B, O, { kind::RCALL }>;
        t[kind::CALL as usize] = call::<B, O, { kind::CALL }>;
        t[kind::ICALL as usize] = call::<B, O, { kind::ICALL }>;
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

/// What every instruction ends with: cycles and where it leads; without `ACCESSES`, of one that surely made no data
/// access.
#[inline(always)]
fn end<O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    obs: &mut O,
    pc: u32,
    (cycles, next, flow): (u32, u32, Flow),
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

/// The same of one that leads to the next word.
#[inline(always)]
fn pass<O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    obs: &mut O,
    pc: u32,
    cycles: u32,
) -> u32 {
    end::<O, ACCESSES>(cpu, obs, pc, (cycles, pc + 1, Flow::Next))
}

/// The same of one of so many words that wrote: with the cycles it was halted, and [`STATUS`] if I is now set.
#[inline(always)]
fn written<O: Observer>(
    cpu: &mut Cpu,
    obs: &mut O,
    pc: u32,
    (cycles, words): (u32, u32),
    after: u32,
) -> u32 {
    let cycles = cycles + (after & !STATUS);
    end::<O, true>(cpu, obs, pc, (cycles, pc + words, Flow::Next)) | after & STATUS
}

// Decodes, keeps, and runs; or ends the loop at a breakpoint.
handler!(undecoded, |cpu, bus, obs, slot, pc| {
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
});

// ---- arithmetic and logic

handler!(two { OP: u8 }, follow(kind::TWO + OP), |cpu, bus, obs, op, pc| {
    let (d, r) = (reg(cpu, op.a()), reg(cpu, op.b()));
    if let Some(result) = cpu.flags.operate::<OP>(d, r) {
        set(cpu, obs, op.a(), result);
    }
    pass::<O, false>(cpu, obs, pc, 1)
});

handler!(constant { OP: u8 }, follow(kind::CONSTANT + OP), |cpu, bus, obs, op, pc| {
    let d = reg(cpu, op.a());
    if let Some(result) = cpu.flags.operate::<OP>(d, op.b()) {
        set(cpu, obs, op.a(), result);
    }
    pass::<O, false>(cpu, obs, pc, 1)
});

handler!(one_operand { OP: u8 }, follow(kind::ONE + OP), |cpu, bus, obs, op, pc| {
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
    pass::<O, false>(cpu, obs, pc, 1)
});

handler!(multiply { OP: u8 }, follow(kind::MUL + OP), |cpu, bus, obs, op, pc| {
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
    pass::<O, false>(cpu, obs, pc, 2)
});

handler!(movw, follow(kind::MOVW), |cpu, bus, obs, op, pc| {
    let value = pair(cpu, op.b());
    set_pair(cpu, obs, op.a(), value);
    pass::<O, false>(cpu, obs, pc, 1)
});

handler!(
    add_wide { SUBTRACT: bool },
    follow(kind::ADIW + SUBTRACT as u8),
    |cpu, bus, obs, op, pc| {
        let old = pair(cpu, op.a());
        let k = u16::from(op.b());
        let result = if SUBTRACT { old.wrapping_sub(k) } else { old.wrapping_add(k) };
        cpu.flags.wide(old, result, SUBTRACT);
        set_pair(cpu, obs, op.a(), result);
        pass::<O, false>(cpu, obs, pc, 2)
    }
);

handler!(bst, follow(kind::BST), |cpu, bus, obs, op, pc| {
    let bit = reg(cpu, op.a()) >> (op.b() & 7) & 1;
    cpu.control = cpu.control & !sreg::T | bit << 6;
    pass::<O, false>(cpu, obs, pc, 1)
});

handler!(bld, follow(kind::BLD), |cpu, bus, obs, op, pc| {
    let bit = cpu.control >> 6 & 1;
    let n = op.b() & 7;
    let value = reg(cpu, op.a()) & !(1 << n) | bit << n;
    set(cpu, obs, op.a(), value);
    pass::<O, false>(cpu, obs, pc, 1)
});

// BSET (0 to 7) and BCLR (8 to 15).
handler!(flag { WHICH: u8 }, |cpu, _bus, obs, _op, pc| {
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
    pass::<O, true>(cpu, obs, pc, 1) | status
});

// ---- where the program goes

// BRBS (0 to 7) and BRBC (8 to 15).
handler!(branch { WHICH: u8 }, follow(kind::BRANCH + WHICH), |cpu, bus, obs, op, pc| {
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
    // Two jumps to handlers: each is predicted for itself.
    if is_set == (WHICH < 8) {
        let next = end::<O, false>(cpu, obs, pc, (2, op.wide().into(), Flow::Jump));
        return follow!(next, kind::BRANCH + WHICH, cpu, bus, obs);
    }
    pass::<O, false>(cpu, obs, pc, 1)
});

handler!(
    skip_over { WHAT: u8, WORDS: u32 },
    follow_access(kind::skip(WHAT, WORDS)),
    |cpu, bus, obs, op, pc| {
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
        if skips {
            end::<O, true>(cpu, obs, pc, (1 + WORDS, pc + 1 + WORDS, Flow::Jump))
        } else {
            pass::<O, true>(cpu, obs, pc, 1)
        }
    }
);

handler!(jump { CYCLES: u32 }, follow(kind::RJMP + (CYCLES - 2) as u8), |cpu, bus, obs, op, pc| {
    end::<O, false>(cpu, obs, pc, (CYCLES, op.wide().into(), Flow::Jump))
});

handler!(ijmp, follow(kind::IJMP), |cpu, bus, obs, _op, pc| {
    let target = pair(cpu, Z).into();
    end::<O, true>(cpu, obs, pc, (2, target, Flow::Jump))
});

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

/// Where a call leads, its words and its cycles.
#[inline(always)]
fn callee<const KIND: u8>(cpu: &Cpu, op: Op) -> (u32, u32, u32) {
    match KIND {
        kind::RCALL => (op.wide().into(), 1, 3),
        kind::CALL => (op.wide().into(), 2, 4),
        _ => (pair(cpu, Z).into(), 1, 3),
    }
}

// RCALL, CALL and ICALL
handler!(call { KIND: u8 }, follow(KIND), |cpu, bus, obs, op, pc| {
    let (target, words, cycles) = callee::<KIND>(cpu, op);
    let back = (pc + words) as u16;
    let sp = cpu.sp;
    if O::ACCESSES
        || !bus.write_plain(sp, back as u8)
        || !bus.write_plain(sp.wrapping_sub(1), (back >> 8) as u8)
    {
        return call_watched::<B, O, KIND>(cpu, bus, obs, op, pc);
    }
    cpu.sp = sp.wrapping_sub(2);
    end::<O, true>(cpu, obs, pc, (cycles, target, Flow::Call { target: 2 * target }))
});

// A call whose stack is not plain memory, or where somebody looks on.
watched!(call_watched { KIND: u8 }, |cpu, bus, obs, op, pc| {
    let (target, words, cycles) = callee::<KIND>(cpu, op);
    let at = cpu.cycles + Cycles::from(cycles) - 2;
    or_fault!(cpu, pc, push_address(cpu, bus, obs, pc, (pc + words) as u16, at));
    end::<O, true>(cpu, obs, pc, (cycles, target, Flow::Call { target: 2 * target }))
});

handler!(ret { INTERRUPT: bool }, follow(kind::RET), |cpu, bus, obs, op, pc| {
    let sp = cpu.sp;
    let plain = (bus.read_plain(sp.wrapping_add(1)), bus.read_plain(sp.wrapping_add(2)));
    let (false, (Some(high), Some(low))) = (O::ACCESSES, plain) else {
        return ret_watched::<B, O, INTERRUPT>(cpu, bus, obs, op, pc);
    };
    let next = return_to::<O, INTERRUPT>(cpu, obs, pc, high, low);
    if INTERRUPT {
        return next;
    }
    next
});

watched!(ret_watched { INTERRUPT: bool }, |cpu, bus, obs, _op, pc| {
    let sp = cpu.sp;
    let at = cpu.cycles + 1;
    let Some(high) = read(cpu, bus, obs, pc, sp.wrapping_add(1), at) else { return FAULT | pc };
    let at = at + 1;
    let Some(low) = read(cpu, bus, obs, pc, sp.wrapping_add(2), at) else { return FAULT | pc };
    return_to::<O, INTERRUPT>(cpu, obs, pc, high, low)
});

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
        end::<O, true>(cpu, obs, pc, (4, target, Flow::InterruptReturn)) | STATUS
    } else {
        end::<O, true>(cpu, obs, pc, (4, target, Flow::Return))
    }
}

// ---- data

/// The address of the access, and what its pointer holds behind it if it steps.
#[inline(always)]
fn point<const HOW: u8>(cpu: &Cpu, op: Op) -> (u16, Option<u16>) {
    let base = match HOW {
        step::ABSOLUTE => op.wide(),
        step::PUSH | step::POP => cpu.sp,
        _ => pair(cpu, op.pointer()),
    };
    let (below, above) = (base.wrapping_sub(1), base.wrapping_add(1));
    match HOW {
        step::ABSOLUTE => (base, None),
        step::STAY => (base.wrapping_add(op.b().into()), None),
        step::INCREMENT => (base, Some(above)),
        step::PUSH => (base, Some(below)),
        step::DECREMENT => (below, Some(below)),
        _ => (above, Some(above)),
    }
}

#[inline(always)]
fn step_pointer<O: Observer, const HOW: u8>(cpu: &mut Cpu, obs: &mut O, op: Op, to: Option<u16>) {
    match to {
        Some(to) if matches!(HOW, step::PUSH | step::POP) => cpu.sp = to,
        Some(to) => set_pair(cpu, obs, op.pointer(), to),
        None => {}
    }
}

/// Words of a load or store.
const fn words(how: u8) -> u32 {
    1 + (how == step::ABSOLUTE) as u32
}

// LD, LDS and POP; ST, STS and PUSH. Each has a fast form for plain memory where nobody looks on, without calls but one at
// its end, and a general one that runs the instruction from its beginning.

handler!(load { HOW: u8 }, follow(kind::load(HOW)), |cpu, bus, obs, op, pc| {
    let (addr, stepped) = point::<HOW>(cpu, op);
    let value = match bus.read_plain(addr) {
        Some(value) if !O::ACCESSES => value,
        _ => return load_watched::<B, O, HOW>(cpu, bus, obs, op, pc),
    };
    step_pointer::<O, HOW>(cpu, obs, op, stepped);
    set(cpu, obs, op.a(), value);
    end::<O, true>(cpu, obs, pc, (2, pc + words(HOW), Flow::Next))
});

watched!(load_watched { HOW: u8 }, follow_access(kind::load(HOW)), |cpu, bus, obs, op, pc| {
    let (addr, stepped) = point::<HOW>(cpu, op);
    let at = cpu.cycles + 1;
    let Some(value) = read(cpu, bus, obs, pc, addr, at) else { return FAULT | pc };
    step_pointer::<O, HOW>(cpu, obs, op, stepped);
    set(cpu, obs, op.a(), value);
    end::<O, true>(cpu, obs, pc, (2, pc + words(HOW), Flow::Next))
});

handler!(store { HOW: u8 }, follow(kind::store(HOW)), |cpu, bus, obs, op, pc| {
    let (addr, stepped) = point::<HOW>(cpu, op);
    if O::ACCESSES || !bus.write_plain(addr, reg(cpu, op.a())) {
        return store_watched::<B, O, HOW>(cpu, bus, obs, op, pc);
    }
    step_pointer::<O, HOW>(cpu, obs, op, stepped);
    end::<O, true>(cpu, obs, pc, (2, pc + words(HOW), Flow::Next))
});

watched!(store_watched { HOW: u8 }, follow_write(kind::store(HOW)), |cpu, bus, obs, op, pc| {
    let (addr, stepped) = point::<HOW>(cpu, op);
    let value = reg(cpu, op.a());
    let after = or_fault!(cpu, pc, write(cpu, bus, obs, pc, addr, value, cpu.cycles + 1));
    step_pointer::<O, HOW>(cpu, obs, op, stepped);
    written(cpu, obs, pc, (2, words(HOW)), after)
});

// IN of a core register is a move, not an access.
handler!(input, follow_access(kind::IN), |cpu, bus, obs, op, pc| {
    let addr = io::BASE + u16::from(op.b());
    let at = cpu.cycles;
    let Some(value) = read_slow(cpu, bus, pc, addr, at) else { return FAULT | pc };
    if O::ACCESSES && !is_core(addr) {
        let whole = DATA_SPACE | u32::from(addr);
        obs.access(2 * pc, whole, Access::Read, Width::W8, value.into(), at);
    }
    set(cpu, obs, op.a(), value);
    pass::<O, true>(cpu, obs, pc, 1)
});

// OUT to a core register is a move, not an access.
handler!(output, follow_write(kind::OUT), |cpu, bus, obs, op, pc| {
    let addr = io::BASE + u16::from(op.b());
    let (at, value) = (cpu.cycles, reg(cpu, op.a()));
    let after = or_fault!(cpu, pc, write_other(cpu, bus, obs, addr, value, at));
    if O::ACCESSES && !is_core(addr) {
        let whole = DATA_SPACE | u32::from(addr);
        obs.access(2 * pc, whole, Access::Write, Width::W8, value.into(), at);
    }
    written(cpu, obs, pc, (1, 1), after)
});

// SBI and CBI read and write the whole register (ATmega128 datasheet 2467X, "Instruction Set Summary",
// note: flags read as set are written back).
handler!(change_bit { ON: bool }, follow_write(kind::CBI + ON as u8), |cpu, bus, obs, op, pc| {
    let addr = io::BASE + u16::from(op.a());
    let bit = 1 << (op.b() & 7);
    let at = cpu.cycles;
    let Some(old) = read(cpu, bus, obs, pc, addr, at) else { return FAULT | pc };
    let value = if ON { old | bit } else { old & !bit };
    let after = or_fault!(cpu, pc, write(cpu, bus, obs, pc, addr, value, at + 1));
    written(cpu, obs, pc, (2, 1), after)
});

// ---- program memory

handler!(
    load_program { INCREMENT: bool, EXTENDED: bool },
    follow_access(kind::program(INCREMENT, EXTENDED)),
    |cpu, bus, obs, op, pc| {
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
        pass::<O, true>(cpu, obs, pc, 3)
    }
);

handler!(spm, |cpu, bus, obs, _op, pc| {
    let addr = u32::from(cpu.rampz) << 16 | u32::from(pair(cpu, Z));
    or_fault!(cpu, pc, bus.spm(2 * pc, addr, pair(cpu, 0), cpu.cycles));
    pass::<O, true>(cpu, obs, pc, 1)
});

// ---- the rest

handler!(nop, follow(kind::NOP), |cpu, bus, obs, _op, pc| { pass::<O, false>(cpu, obs, pc, 1) });

handler!(sleep, |cpu, _bus, obs, _op, pc| { pass::<O, true>(cpu, obs, pc, 1) | SLEEP });

handler!(break_, |cpu, _bus, obs, _op, pc| { pass::<O, true>(cpu, obs, pc, 1) | BREAK });

handler!(wdr, |cpu, bus, obs, _op, pc| {
    bus.watchdog_reset(cpu.cycles);
    pass::<O, true>(cpu, obs, pc, 1)
});
