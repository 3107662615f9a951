// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handlers of what is rare: any mode and length of the double-operand and single-operand instructions, RETI, and the address
//! instructions, multiple shifts and multiple pushes of the 430X.

use super::access::{access, access_sized, stop};
use super::alu::{alu, loads, op as alu_op, rotate_flags, stores, test_flags};
use super::exec::{FAULT, end, go, pass, tell_step, write_register, write_status};
use super::insn::{MASK20, Size, indexed};
use super::op::{Extra, Op, mode, rotate, single};
use super::sr::C;
use super::timing::repeat_cycles;
use super::{Bus, Cpu, DaddOverflow, PC, SP, SR, Width, sr};
use crate::threading::{handler, or_fault};
use crate::{Cycles, Fault, Flow, Observer};

/// The address an operand in memory lies at.
#[inline(always)]
pub(super) fn effective(cpu: &Cpu, mode: u32, reg: usize, value: u32) -> u32 {
    match mode {
        mode::ABS => value,
        mode::IDX16 => indexed(cpu.r[reg], value as i32, true),
        mode::IDX20 => indexed(cpu.r[reg], value as i32, false),
        _ => cpu.r[reg],
    }
}

/// By how much `@Rn+` increments: SP stays even.
pub(super) fn increment(size: Size, reg: usize) -> u32 {
    match size {
        Size::B if reg == SP => 2,
        size => size.bytes(),
    }
}

/// A source operand in any mode, incremented where the mode says so ([`tell_step`] tells it, behind the
/// instruction's accesses).
#[allow(clippy::too_many_arguments)] // an operand, told whole
pub(super) fn fetch_source<B: Bus, O: Observer>(
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
            let value = access_sized(cpu, bus, obs, pc, (addr, size, at + operand_words), None)?;
            if mode == mode::INC {
                cpu.r[reg] = (addr + increment(size, reg)) & cpu.mask;
            }
            Ok(value)
        }
    }
}

// Double-operand instructions of any length, mode and destination, repeated or not.
handler!(general_double { EXTENDED: bool }, |cpu, bus, obs, op, pc| {
    cpu.flags_to_status();
    let next = run_double::<B, O, EXTENDED>(cpu, bus, obs, op, pc);
    cpu.flags_from_status();
    next
});

handler!(run_double { EXTENDED: bool }, |cpu, bus, obs, op, pc| {
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
                or_fault!(cpu, pc, access_sized(cpu, bus, obs, pc, (addr, size, at), None))
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
            or_fault!(cpu, pc, access_sized(cpu, bus, obs, pc, (addr, size, last), Some(result)));
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
            go(cpu, bus, obs, pc, (cycles, target, flow))
        }
        None => end::<B, O, true>(cpu, bus, obs, pc, (cycles, op.next(), Flow::Next)) | status,
    }
});

/// The result and status of a single-operand operation. SXT extends `sign_bit`, in a register to 20 bits.
#[inline(always)]
pub(super) fn single(
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

// Single-operand instructions of any length and mode, repeated or not, PUSH and CALL.
handler!(general_single { EXTENDED: bool }, |cpu, bus, obs, op, pc| {
    cpu.flags_to_status();
    let next = run_single::<B, O, EXTENDED>(cpu, bus, obs, op, pc);
    cpu.flags_from_status();
    next
});

// What puts words onto the stack: PUSH, PUSHX and CALL.
handler!(push_or_call { EXTENDED: bool }, inline(always), |cpu, bus, obs, op, pc| {
    let extra = Extra(op.extra());
    let (which, size) = (extra.op(), extra.size());
    let times = extra.times(&cpu.r);
    let cycles = op.cycles() + (times - 1) * repeat_cycles(which == single::PUSH, size);
    let start = cpu.cycles + Cycles::from(EXTENDED);
    let last = cpu.cycles + Cycles::from(cycles) - 1;
    let (mode, reg) = (op.dst_mode(), op.rd());
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
            or_fault!(cpu, pc, access_sized(cpu, bus, obs, pc, (stack, Size::W, last), Some(next)));
            next = value;
        } else {
            if mode == mode::REG && reg == SP && !cpu.timing.push_sp_stores_old {
                value = stack & size.mask();
            }
            or_fault!(cpu, pc, access_sized(cpu, bus, obs, pc, (stack, size, last), Some(value)));
        }
        tell_step(cpu, obs, mode, reg, increment(size, reg));
        if by_stack && mode == mode::INC {
            // `@SP+` steps behind the push (openMSP430's RTL, Ghidra's model of the FR5994).
            stack = (stack + increment(size, reg)) & cpu.mask;
        }
        cpu.r[SP] = stack;
    }
    if which == single::CALL {
        go(cpu, bus, obs, pc, (cycles, next, Flow::Call { target: next }))
    } else {
        end::<B, O, true>(cpu, bus, obs, pc, (cycles, next, Flow::Next))
    }
});

handler!(run_single { EXTENDED: bool }, |cpu, bus, obs, op, pc| {
    let extra = Extra(op.extra());
    let (which, size) = (extra.op(), extra.size());
    if which >= single::PUSH {
        return push_or_call::<B, O, EXTENDED>(cpu, bus, obs, op, pc);
    }
    let times = extra.times(&cpu.r);
    let cycles = op.cycles() + (times - 1) * repeat_cycles(false, size);
    let last = cpu.cycles + Cycles::from(cycles) - 1;
    let (mode, reg) = (op.dst_mode(), op.rd());
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
                let old =
                    or_fault!(cpu, pc, access_sized(cpu, bus, obs, pc, (addr, size, at), None));
                let (result, new) = single(which, size, old, carried, sign_bit, false);
                or_fault!(
                    cpu,
                    pc,
                    access_sized(cpu, bus, obs, pc, (addr, size, last), Some(result))
                );
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
        Some(target) => go(cpu, bus, obs, pc, (cycles, target, Flow::Jump)),
        None => end::<B, O, true>(cpu, bus, obs, pc, (cycles, op.next(), Flow::Next)) | status,
    }
});

handler!(reti, |cpu, bus, obs, op, pc| {
    let stack = cpu.r[SP];
    let at = cpu.cycles + 1;
    let status = or_fault!(cpu, pc, access(cpu, bus, obs, pc, (stack, Width::Word, at), None));
    let above = (stack + 2) & cpu.mask;
    let low = or_fault!(cpu, pc, access(cpu, bus, obs, pc, (above, Width::Word, at + 1), None));
    let target = (low | (status >> 12 & 0xF) << 16) & cpu.mask;
    // Observers hear of the stack pointer behind the instruction.
    cpu.r[SP] = (stack + 4) & cpu.mask;
    let next = go(cpu, bus, obs, pc, (op.cycles(), target, Flow::InterruptReturn));
    if next & FAULT != 0 {
        cpu.r[SP] = stack;
        return next;
    }
    let status = write_status(cpu, status, false);
    cpu.flags_from_status();
    next | status
});

handler!(calla, |cpu, bus, obs, op, pc| {
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
    or_fault!(cpu, pc, access(cpu, bus, obs, pc, (high, Width::Word, last - 1), Some(back >> 16)));
    or_fault!(cpu, pc, access(cpu, bus, obs, pc, (low, Width::Word, last), Some(back & 0xFFFF)));
    tell_step(cpu, obs, mode, reg, increment(Size::A, reg));
    cpu.r[SP] = low;
    go(cpu, bus, obs, pc, (op.cycles(), target, Flow::Call { target }))
});

handler!(mova, |cpu, bus, obs, op, pc| {
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
            pass::<B, O, true>(cpu, bus, obs, pc, op) | status
        }
        mode::CONST => {
            let ret = mode == mode::INC && reg == SP;
            let flow = if ret { Flow::Return } else { Flow::Jump };
            go(cpu, bus, obs, pc, (op.cycles(), value, flow))
        }
        dst_mode => {
            let addr = effective(cpu, dst_mode, op.rd(), op.b());
            let last = start + Cycles::from(op.cycles()) - 1;
            or_fault!(cpu, pc, access_sized(cpu, bus, obs, pc, (addr, Size::A, last), Some(value)));
            pass::<B, O, true>(cpu, bus, obs, pc, op)
        }
    }
});

// CMPA, ADDA and SUBA
handler!(address_alu { OP: u8 }, |cpu, bus, obs, op, pc| {
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
        return go(cpu, bus, obs, pc, (op.cycles(), result, Flow::Jump));
    }
    pass::<B, O, true>(cpu, bus, obs, pc, op) | status
});

// RRCM, RRAM, RLAM and RRUM by 1 to 4 bits
handler!(rotate_many, |cpu, bus, obs, op, pc| {
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
    pass::<B, O, true>(cpu, bus, obs, pc, op) | status
});

handler!(pushm, |cpu, bus, obs, op, pc| {
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
        or_fault!(cpu, pc, access_sized(cpu, bus, obs, pc, (stack, size, at), Some(value)));
        at += 1;
    }
    cpu.r[SP] = stack;
    pass::<B, O, true>(cpu, bus, obs, pc, op)
});

handler!(popm, |cpu, bus, obs, op, pc| {
    let size = if op.extra() != 0 { Size::A } else { Size::W };
    let lowest = op.rd() as u32 + 1 - op.a();
    let mut stack = cpu.r[SP];
    let mut at = cpu.cycles + 2;
    let mut status = 0;
    let before = cpu.r;
    for i in 0..op.a() {
        let value = or_fault!(cpu, pc, access_sized(cpu, bus, obs, pc, (stack, size, at), None));
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
    pass::<B, O, true>(cpu, bus, obs, pc, op) | status
});
