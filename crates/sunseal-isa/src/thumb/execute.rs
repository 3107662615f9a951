// SPDX-License-Identifier: MIT OR Apache-2.0
//! What each instruction does and costs, once for all forms. Common ones have faster handlers in
//! `fast`, which must do the same.

mod unit;

use super::alu::{self, alu, shift};
use super::bus::Bus;
use super::float;
use super::insn::{Address, Barrier, Field, Hint, Insn, Kind, Moved, Mul, Shift, Source};
use super::timing::{DIVIDE_LEAST, divide_cycles};
use super::{Cpu, Exit, LR, PC, Place, SP, Usage, ccr, control, psr};
use crate::{Access, Cycles, Fault, Flow, Observer, Width};

/// What the pipeline remembers of the instruction before, in `Cpu::recent`: registers that it wrote, in
/// the low 16 bits, and how.
pub(crate) mod recent {
    /// It was a single load: the next load or store may overlap. It takes more than one cycle, however many its pair left of
    /// them.
    pub const LOADED: u32 = PAIRS | OPENS;
    /// The bit of `LOADED` alone.
    pub const PAIRS: u32 = 1 << 25;
    /// It had 16 bits.
    pub const NARROW: u32 = 1 << 17;
    /// Bit of an outcome: the instruction branched.
    pub const BRANCHED: u32 = 1 << 18;
    /// It takes more than one cycle by its nature, or was the first behind a branch: a row of 32-bit instructions at
    /// addresses that are no multiple of four may pay here. One above `BRANCHED`; bit 16 is no flag, so that shifting by one
    /// brings nothing into `NARROW`.
    pub const OPENS: u32 = 1 << 19;
    /// In that row is one that is no single store.
    pub const NOT_STORE: u32 = 1 << 20;
    /// The lowest bit of `BRANCHED`, `OPENS`, `NOT_STORE` and `RUN`, which decide about such a row.
    pub const ROW_SHIFT: u32 = 18;
    /// The length of that row, up to 3.
    pub const RUN_SHIFT: u32 = 21;
    /// Field of an outcome that holds the run.
    pub const RUN: u32 = 3 << RUN_SHIFT;
    /// A row that has paid or does not: three long, without being three stores.
    pub const CLOSED: u32 = RUN | NOT_STORE;
    /// It was a single store that may still be in the write buffer.
    pub const STORED: u32 = 1 << 23;
    /// It was a single store with a register offset.
    pub const STORED_BY_REGISTER: u32 = 1 << 24;

    /// What a single store leaves.
    pub const fn stored(by_register: bool) -> u32 {
        if by_register { STORED_BY_REGISTER | OPENS } else { STORED }
    }
}

/// What an instruction has done.
pub(crate) struct Done {
    pub next: u32,
    pub cycles: u32,
    /// The next `Cpu::recent`, less what follows from the instruction's length and place.
    pub after: u32,
    pub flow: Flow,
    /// Why the loop ends behind it.
    pub stop: Option<Exit>,
}

impl Done {
    fn next(next: u32, cycles: u32, after: u32) -> Self {
        Self { next, cycles, after, flow: Flow::Next, stop: None }
    }

    fn jump(target: u32, cycles: u32, flow: Flow) -> Self {
        Self { next: target, cycles, after: recent::BRANCHED, flow, stop: None }
    }
}

type Outcome = Result<Done, Exit>;

fn usage<T>(cause: Usage, addr: u32) -> Result<T, Exit> {
    Err(Exit::Usage { cause, addr })
}

const fn mask(register: u8) -> u32 {
    1 << register
}

impl Cpu {
    /// Writes a general register other than the program counter.
    #[inline(always)]
    pub(crate) fn put<O: Observer>(&mut self, observer: &mut O, register: u8, value: u32) {
        let slot = &mut self.r[usize::from(register & 15)];
        let value = if usize::from(register) == SP { value & !3 } else { value };
        let old = std::mem::replace(slot, value);
        if O::RESULTS {
            observer.result(register, old, value);
        }
    }

    /// Steps a base register: of the stack pointer, that is no result.
    #[inline(always)]
    pub(crate) fn step_base<O: Observer>(&mut self, observer: &mut O, register: u8, value: u32) {
        if usize::from(register) == SP {
            self.r[SP] = value & !3;
        } else {
            self.put(observer, register, value);
        }
    }

    fn put_float<O: Observer>(&mut self, observer: &mut O, register: u8, value: u32) {
        let old = std::mem::replace(&mut self.s[usize::from(register & 31)], value);
        if O::RESULTS {
            observer.result(32 + register, old, value);
        }
    }

    /// Cycles of a load or store of `base` cycles whose address comes from the registers `address`: a single load in front
    /// of it leaves `gain` less of them.
    #[inline(always)]
    fn memory_cycles(&self, base: u32, address: u32, gain: u32, wait: u32) -> u32 {
        let depends = self.recent & address & 0xFFFF != 0;
        match (self.recent & recent::PAIRS != 0, depends) {
            (true, false) => base - gain,
            (false, true) => base + self.address_cost,
            (false, false) if self.recent & recent::STORED != 0 => base + wait,
            _ => base,
        }
    }

    /// The same of a load; what `pairs` are the single ones.
    #[inline(always)]
    pub(crate) fn load_cycles(&self, base: u32, address: u32, pairs: bool) -> u32 {
        let gain = if pairs { self.pair_gain } else { 0 };
        self.memory_cycles(base, address, gain, self.store_wait)
    }

    /// The same of a store of several registers.
    #[inline(always)]
    pub(crate) fn store_cycles(&self, base: u32, address: u32) -> u32 {
        self.memory_cycles(base, address, 0, 0)
    }

    /// The same of a single store.
    #[inline(always)]
    pub(crate) fn single_store_cycles(&self, address: u32, by_register: bool) -> u32 {
        let gain = if by_register { self.pair_gain } else { self.store_gain };
        self.memory_cycles(1 + u32::from(by_register), address, gain, 0)
    }

    /// When a single store that takes `cycles` writes. One that takes none goes with the load in front of it, whose cycles the
    /// machine may have heard of already: it is not dated back.
    #[inline(always)]
    pub(crate) fn store_cycle(&self, cycles: u32) -> Cycles {
        self.cycles + Cycles::from(cycles.saturating_sub(1))
    }

    /// Makes one aligned access and tells the observer of it.
    #[inline(always)]
    pub(crate) fn access<B: Bus, O: Observer>(
        &self,
        bus: &mut B,
        observer: &mut O,
        pc: u32,
        place: Place,
        store: Option<u32>,
    ) -> Result<u32, Exit> {
        let (addr, width, at) = place;
        let done = match store {
            None => bus.read(addr, width, at),
            Some(value) => bus.write(addr, width, value, at).map(|()| value),
        };
        let value = match done {
            Ok(value) => value,
            Err(fault) => return Err(Exit::Fault(fault.at_pc(pc))),
        };
        if O::ACCESSES {
            let kind = if store.is_some() { Access::Write } else { Access::Read };
            observer.access(pc, addr, kind, width, value, at);
        }
        Ok(value)
    }

    /// One access at any address, in as many parts as the core makes of it (TRM r0p1, load/store timings);
    /// what is loaded, and the cycles that the further parts take.
    #[inline(always)]
    pub(crate) fn access_any<B: Bus, O: Observer>(
        &self,
        bus: &mut B,
        observer: &mut O,
        pc: u32,
        place: Place,
        store: Option<u32>,
    ) -> Result<(u32, u32), Exit> {
        let (addr, width, _) = place;
        if addr & (width.bytes() - 1) == 0 {
            return Ok((self.access(bus, observer, pc, place, store)?, 0));
        }
        self.access_unaligned(bus, observer, pc, place, store)
    }

    #[cold]
    #[inline(never)]
    fn access_unaligned<B: Bus, O: Observer>(
        &self,
        bus: &mut B,
        observer: &mut O,
        pc: u32,
        place: Place,
        store: Option<u32>,
    ) -> Result<(u32, u32), Exit> {
        let (addr, width, at) = place;
        if bus.scb().ccr & ccr::UNALIGN_TRP != 0 {
            return usage(Usage::Unaligned, addr);
        }
        let parts: &[Width] = match (width, addr & 3) {
            (Width::W32, 2) => &[Width::W16, Width::W16],
            (Width::W32, _) => &[Width::W8, Width::W16, Width::W8],
            _ => &[Width::W8, Width::W8],
        };
        let (mut offset, mut value) = (0, 0);
        for (i, &part) in parts.iter().enumerate() {
            let bits = 8 * part.bytes();
            let stored = store.map(|value| value >> (8 * offset) & (u32::MAX >> (32 - bits)));
            let at = at + i as Cycles;
            let addr = addr.wrapping_add(offset);
            let loaded = self.access(bus, observer, pc, (addr, part, at), stored)?;
            value |= loaded << (8 * offset);
            offset += part.bytes();
        }
        Ok((value, parts.len() as u32 - 1))
    }

    /// The words of a transfer that must be aligned.
    pub(crate) fn access_word<B: Bus, O: Observer>(
        &self,
        bus: &mut B,
        observer: &mut O,
        pc: u32,
        (addr, at): (u32, Cycles),
        store: Option<u32>,
    ) -> Result<u32, Exit> {
        if addr & 3 != 0 {
            return usage(Usage::Unaligned, addr);
        }
        self.access(bus, observer, pc, (addr, Width::W32, at), store)
    }

    /// Where an address leads, and the registers it is made of.
    fn effective(&self, addr: Address) -> (u32, u32) {
        let r = |n: u8| self.r[usize::from(n)];
        match addr {
            Address::Offset(rn, offset) | Address::Pre(rn, offset) => {
                (r(rn).wrapping_add_signed(offset), mask(rn))
            }
            Address::Post(rn, _) => (r(rn), mask(rn)),
            Address::Register(rn, rm, n) => (r(rn).wrapping_add(r(rm) << n), mask(rn) | mask(rm)),
            Address::Literal(addr) => (addr, 0),
        }
    }

    fn write_back<O: Observer>(&mut self, observer: &mut O, addr: Address) -> u32 {
        if let Address::Pre(rn, offset) | Address::Post(rn, offset) = addr {
            let value = self.r[usize::from(rn)].wrapping_add_signed(offset);
            self.step_base(observer, rn, value);
            return mask(rn);
        }
        0
    }

    /// A branch to an address from a register or memory (BXWritePC): in Handler mode it may be an
    /// EXC_RETURN.
    pub(crate) fn exchange(&mut self, target: u32, cycles: u32, flow: Flow) -> Done {
        if target >> 28 == 0xF && self.exception() != 0 {
            let stop = Some(Exit::Return(target));
            return Done { next: target & !1, cycles, after: 0, flow: Flow::Jump, stop };
        }
        let mut done = Done::jump(target & !1, cycles, flow);
        if target & 1 == 0 {
            self.psr &= !psr::T;
            done.stop = Some(Exit::Usage { cause: Usage::InvalidState, addr: target });
        }
        done
    }

    fn second(&self, src: Source) -> (u32, bool) {
        let carry = self.flags.c;
        let r = |n: u8| self.r[usize::from(n)];
        match src {
            Source::Imm { value, carry: c } => (value, c.unwrap_or(carry)),
            Source::Reg(rm) => (r(rm), carry),
            Source::Shifted(rm, kind, n) => shift(r(rm), kind, n.into(), carry),
            Source::ByRegister(rm, kind, rs) => shift(r(rm), kind, r(rs) & 0xFF, carry),
        }
    }

    /// Runs one instruction. An error has changed no register and cost nothing, but memory may hold its first
    /// writes.
    pub(crate) fn execute<B: Bus, O: Observer>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        insn: &Insn,
        pc: u32,
    ) -> Outcome {
        self.r[PC] = pc.wrapping_add(4);
        let next = pc.wrapping_add(insn.bytes.into());
        let r = |n: u8, cpu: &Self| cpu.r[usize::from(n & 15)];
        let timing = self.timing;
        let start = self.cycles;
        match insn.kind {
            Kind::Alu { op, set, rd, rn, src } => {
                let (b, carry) = self.second(src);
                let (result, flags) = alu(op, r(rn, self), b, carry, &self.flags);
                if set {
                    self.flags = flags;
                }
                if op.compares() {
                    return Ok(Done::next(next, 1, 0));
                }
                if usize::from(rd) == PC {
                    let cycles = 1 + u32::from(timing.refill_register);
                    let flow = if src == Source::Reg(LR as u8) { Flow::Return } else { Flow::Jump };
                    return Ok(Done::jump(result & !1, cycles, flow));
                }
                self.put(observer, rd, result);
                Ok(Done::next(next, 1, mask(rd)))
            }
            Kind::AddWide { subtract, rd, rn, imm } => {
                let n = r(rn, self);
                let value = if subtract { n.wrapping_sub(imm) } else { n.wrapping_add(imm) };
                self.plain(observer, rd, value, next)
            }
            Kind::Adr { rd, target } => self.plain(observer, rd, target, next),
            Kind::Movw { rd, imm } => self.plain(observer, rd, imm.into(), next),
            Kind::Movt { rd, imm } => {
                let value = r(rd, self) & 0xFFFF | u32::from(imm) << 16;
                self.plain(observer, rd, value, next)
            }
            Kind::Mul { op, set, rd, rn, rm, ra } => {
                let (n, m) = (r(rn, self), r(rm, self));
                let divides = matches!(op, Mul::Sdiv | Mul::Udiv);
                if divides && m == 0 && bus.scb().ccr & ccr::DIV_0_TRP != 0 {
                    return usage(Usage::DivideByZero, pc);
                }
                let (value, q) = alu::mul(op, n, m, r(ra, self));
                self.flags.q |= q;
                if set {
                    self.flags.set_nz(value);
                }
                let cycles = if divides { divide_cycles(n, m, op == Mul::Sdiv) } else { 1 };
                self.put(observer, rd, value);
                Ok(Done::next(next, cycles, mask(rd)))
            }
            Kind::MulLong { op, lo, hi, rn, rm } => {
                let old = u64::from(r(hi, self)) << 32 | u64::from(r(lo, self));
                let value = alu::mul_long(op, r(rn, self), r(rm, self), old);
                self.put(observer, lo, value as u32);
                self.put(observer, hi, (value >> 32) as u32);
                Ok(Done::next(next, 1, mask(lo) | mask(hi)))
            }
            Kind::Parallel { op, lanes, rd, rn, rm } => {
                let (value, ge) = alu::parallel(op, lanes, r(rn, self), r(rm, self));
                self.flags.ge = ge.unwrap_or(self.flags.ge);
                self.plain(observer, rd, value, next)
            }
            Kind::Saturating { op, rd, rm, rn } => {
                let (value, q) = alu::saturating(op, r(rm, self), r(rn, self));
                self.flags.q |= q;
                self.plain(observer, rd, value, next)
            }
            Kind::Sat { signed, halves, rd, to, rn, shift: kind, amount } => {
                let n = r(rn, self);
                let width = u32::from(to);
                let (value, q) = if halves {
                    let (low, q0) = alu::saturate((n as i16).into(), width, signed);
                    let (high, q1) = alu::saturate(((n >> 16) as i16).into(), width, signed);
                    (low & 0xFFFF | high << 16, q0 || q1)
                } else {
                    let (n, _) = shift(n, kind, amount.into(), false);
                    alu::saturate((n as i32).into(), width, signed)
                };
                self.flags.q |= q;
                self.plain(observer, rd, value, next)
            }
            Kind::Extend { signed, part, rd, rn, rm, rotate } => {
                let n = if rn == 15 { 0 } else { r(rn, self) };
                let value = alu::extend(signed, part, n, r(rm, self), rotate.into());
                self.plain(observer, rd, value, next)
            }
            Kind::Unary { op, rd, rm } => {
                let value = alu::unary(op, r(rm, self));
                self.plain(observer, rd, value, next)
            }
            Kind::Sel { rd, rn, rm } => {
                let value = alu::select(self.flags.ge, r(rn, self), r(rm, self));
                self.plain(observer, rd, value, next)
            }
            Kind::Pkh { top, rd, rn, rm, amount } => {
                let kind = if top { Shift::Asr } else { Shift::Lsl };
                let (m, _) = shift(r(rm, self), kind, amount.into(), false);
                let n = r(rn, self);
                let (high, low) = if top { (n, m) } else { (m, n) };
                self.plain(observer, rd, high & 0xFFFF_0000 | low & 0xFFFF, next)
            }
            Kind::Field { op, rd, rn, lsb, width } => {
                let ones = u32::MAX >> (32 - width);
                let (d, n) = (r(rd, self), r(rn, self));
                let value = match op {
                    Field::Bfc => d & !(ones << lsb),
                    Field::Bfi => d & !(ones << lsb) | (n & ones) << lsb,
                    Field::Ubfx => n >> lsb & ones,
                    Field::Sbfx => {
                        let up = 32 - lsb - width;
                        ((n << up) as i32 >> (up + lsb)) as u32
                    }
                };
                self.plain(observer, rd, value, next)
            }
            Kind::Load { moved, rt, addr, user: _ } => {
                let (ea, registers) = self.effective(addr);
                let base = 2 + u32::from(timing.literal_contention && registers == 0);
                let updates = matches!(addr, Address::Pre(..) | Address::Post(..));
                let cycles = self.load_cycles(base, registers, !updates || timing.indexed_pairs);
                let width = width(moved);
                if usize::from(rt) == PC && ea & 3 != 0 {
                    return usage(Usage::Unaligned, ea);
                }
                let at = start + Cycles::from(cycles - 1);
                let (value, more) = self.access_any(bus, observer, pc, (ea, width, at), None)?;
                let value = match moved {
                    Moved::SignedByte => value as i8 as u32,
                    Moved::SignedHalf => value as i16 as u32,
                    _ => value,
                };
                if usize::from(rt) == PC {
                    self.write_back(observer, addr);
                    let pops = matches!(addr, Address::Post(13, 4));
                    let flow = if pops { Flow::Return } else { Flow::Jump };
                    let cycles = cycles + more + u32::from(timing.refill_load);
                    return Ok(self.exchange(value, cycles, flow));
                }
                self.put(observer, rt, value);
                let base = self.write_back(observer, addr);
                let after = match (updates, timing.indexed_pairs) {
                    (true, false) => mask(rt),
                    _ => mask(rt) | base | recent::LOADED,
                };
                Ok(Done::next(next, cycles + more, after))
            }
            Kind::Store { moved, rt, addr, user: _ } => {
                let (ea, registers) = self.effective(addr);
                let by_register = matches!(addr, Address::Register(..));
                let cycles = self.single_store_cycles(registers, by_register);
                let width = width(moved);
                let value = r(rt, self) & (u32::MAX >> (32 - 8 * width.bytes()));
                let at = self.store_cycle(cycles);
                let (_, more) = self.access_any(bus, observer, pc, (ea, width, at), Some(value))?;
                let stored = recent::stored(by_register);
                let after = self.write_back(observer, addr) | stored;
                Ok(Done::next(next, cycles + more, after))
            }
            Kind::LoadDual { rt, rt2, addr } => {
                let (ea, registers) = self.effective(addr);
                let cycles = self.load_cycles(3, registers, false);
                let at = start + Cycles::from(cycles - 2);
                let low = self.access_word(bus, observer, pc, (ea, at), None)?;
                let high = ea.wrapping_add(4);
                let high = self.access_word(bus, observer, pc, (high, at + 1), None)?;
                self.put(observer, rt, low);
                self.put(observer, rt2, high);
                self.write_back(observer, addr);
                Ok(Done::next(next, cycles, 0))
            }
            Kind::StoreDual { rt, rt2, addr } => {
                let (ea, registers) = self.effective(addr);
                let cycles = self.store_cycles(3, registers);
                let at = start + Cycles::from(cycles - 2);
                self.access_word(bus, observer, pc, (ea, at), Some(r(rt, self)))?;
                let high = ea.wrapping_add(4);
                self.access_word(bus, observer, pc, (high, at + 1), Some(r(rt2, self)))?;
                let after = self.write_back(observer, addr);
                Ok(Done::next(next, cycles, after))
            }
            Kind::LoadMany { rn, list, writeback, before } => {
                let count = list.count_ones();
                let base = r(rn, self);
                // Descending forms read from the lowest address too.
                let first = if before { base.wrapping_sub(4 * count) } else { base };
                let end = if before { first } else { base.wrapping_add(4 * count) };
                let mut cycles = self.load_cycles(1 + count, mask(rn), false);
                let at = start + Cycles::from(cycles - count);
                let mut loaded = [0; 16];
                let mut addr = first;
                for (i, slot) in loaded.iter_mut().take(count as usize).enumerate() {
                    let at = at + i as Cycles;
                    *slot = self.access_word(bus, observer, pc, (addr, at), None)?;
                    addr = addr.wrapping_add(4);
                }
                if writeback {
                    self.step_base(observer, rn, end);
                }
                let mut values = loaded.into_iter();
                for (register, value) in (0..15).filter(|&n| list & 1 << n != 0).zip(&mut values) {
                    self.put(observer, register, value);
                }
                if list & 1 << PC != 0 {
                    let target = values.next().unwrap_or_default();
                    let flow = if usize::from(rn) == SP { Flow::Return } else { Flow::Jump };
                    cycles += u32::from(timing.refill_load);
                    return Ok(self.exchange(target, cycles, flow));
                }
                Ok(Done::next(next, cycles, 0))
            }
            Kind::StoreMany { rn, list, writeback, before } => {
                let count = list.count_ones();
                let base = r(rn, self);
                let first = if before { base.wrapping_sub(4 * count) } else { base };
                let end = if before { first } else { base.wrapping_add(4 * count) };
                let cycles = self.store_cycles(1 + count, mask(rn));
                let at = start + Cycles::from(cycles - count);
                let mut addr = first;
                let stored = (0..15).filter(|&n| list & 1 << n != 0);
                for (i, register) in stored.enumerate() {
                    let at = at + i as Cycles;
                    let value = r(register, self);
                    self.access_word(bus, observer, pc, (addr, at), Some(value))?;
                    addr = addr.wrapping_add(4);
                }
                if writeback {
                    self.step_base(observer, rn, end);
                }
                Ok(Done::next(next, cycles, 0))
            }
            Kind::LoadExclusive { moved, rt, rn, offset } => {
                let ea = r(rn, self).wrapping_add(offset);
                let width = width(moved);
                if ea & (width.bytes() - 1) != 0 {
                    return usage(Usage::Unaligned, ea);
                }
                let cycles = self.load_cycles(2, mask(rn), true);
                let at = start + Cycles::from(cycles - 1);
                let value = self.access(bus, observer, pc, (ea, width, at), None)?;
                self.exclusive = true;
                self.put(observer, rt, value);
                Ok(Done::next(next, cycles, mask(rt) | recent::LOADED))
            }
            Kind::StoreExclusive { moved, rd, rt, rn, offset } => {
                let ea = r(rn, self).wrapping_add(offset);
                let width = width(moved);
                if ea & (width.bytes() - 1) != 0 {
                    return usage(Usage::Unaligned, ea);
                }
                let cycles = self.load_cycles(2, mask(rn), true);
                let failed = !self.exclusive;
                if !failed {
                    let value = r(rt, self) & (u32::MAX >> (32 - 8 * width.bytes()));
                    let at = start + Cycles::from(cycles - 1);
                    self.access(bus, observer, pc, (ea, width, at), Some(value))?;
                }
                self.exclusive = false;
                self.put(observer, rd, failed.into());
                Ok(Done::next(next, cycles, mask(rd) | recent::LOADED))
            }
            Kind::Clrex => {
                self.exclusive = false;
                Ok(Done::next(next, 1, 0))
            }
            Kind::Preload { .. } => Ok(Done::next(next, 1, 0)),
            Kind::Branch { condition, target } => {
                if !self.flags.holds(condition) {
                    return Ok(Done::next(next, 1, 0));
                }
                Ok(Done::jump(target, 1 + u32::from(timing.refill_direct), Flow::Jump))
            }
            Kind::BranchLink { target } => {
                self.put(observer, LR as u8, next | 1);
                let cycles = 1 + u32::from(timing.refill_direct);
                Ok(Done::jump(target, cycles, Flow::Call { target }))
            }
            Kind::BranchExchange { rm } => {
                let flow = if usize::from(rm) == LR { Flow::Return } else { Flow::Jump };
                let cycles = 1 + u32::from(timing.refill_register);
                Ok(self.exchange(r(rm, self), cycles, flow))
            }
            Kind::BranchLinkExchange { rm } => {
                let target = r(rm, self);
                self.put(observer, LR as u8, next | 1);
                let cycles = 1 + u32::from(timing.refill_register);
                let mut done = Done::jump(target & !1, cycles, Flow::Call { target: target & !1 });
                if target & 1 == 0 {
                    self.psr &= !psr::T;
                    done.stop = Some(Exit::Usage { cause: Usage::InvalidState, addr: target });
                }
                Ok(done)
            }
            Kind::CompareBranch { nonzero, rn, target } => {
                if (r(rn, self) != 0) != nonzero {
                    return Ok(Done::next(next, 1, 0));
                }
                Ok(Done::jump(target, 1 + u32::from(timing.refill_direct), Flow::Jump))
            }
            Kind::TableBranch { half, rn, rm } => {
                let index = r(rm, self) << u32::from(half);
                let ea = r(rn, self).wrapping_add(index);
                let width = if half { Width::W16 } else { Width::W8 };
                let registers = mask(rm) | mask(rn) & 0x7FFF;
                let load = self.load_cycles(2, registers, false);
                let at = start + Cycles::from(load - 1);
                let (value, more) = self.access_any(bus, observer, pc, (ea, width, at), None)?;
                let target = pc.wrapping_add(4).wrapping_add(2 * value);
                // "two cycles for the load, one for the add, three for the reload"
                let cycles = load + more + 1 + u32::from(timing.refill_load);
                Ok(Done::jump(target, cycles, Flow::Jump))
            }
            Kind::Svc { imm } => Ok(Done { stop: Some(Exit::Svc(imm)), ..Done::next(next, 1, 0) }),
            Kind::Bkpt { imm } => Err(Exit::Bkpt(imm)),
            Kind::Cps { disable, primask, faultmask } => {
                if self.privileged() {
                    let value = u32::from(disable);
                    if primask {
                        self.primask = value;
                    }
                    // Above priority -1 (in HardFault and NMI) FAULTMASK cannot be set.
                    if faultmask && (!disable || !matches!(self.exception(), 2 | 3)) {
                        self.faultmask = value;
                    }
                }
                let cycles = timing.special_register.into();
                Ok(Done { stop: Some(Exit::Status), ..Done::next(next, cycles, 0) })
            }
            Kind::Mrs { rd, special } => {
                let value = self.read_special(special);
                self.put(observer, rd, value);
                Ok(Done::next(next, timing.special_register.into(), mask(rd)))
            }
            Kind::Msr { rn, mask, special } => {
                let changes = self.write_special(special, mask, r(rn, self));
                let cycles = timing.special_register.into();
                let stop = changes.then_some(Exit::Status);
                Ok(Done { stop, ..Done::next(next, cycles, 0) })
            }
            Kind::Hint(hint) => {
                let stop = match hint {
                    Hint::Wfi => Some(Exit::Wfi),
                    Hint::Wfe => Some(Exit::Wfe),
                    Hint::Sev => Some(Exit::Sev),
                    Hint::Nop | Hint::Yield | Hint::Dbg(_) => None,
                };
                let behind = self.recent & (recent::PAIRS | recent::STORED_BY_REGISTER) != 0;
                let folds = hint == Hint::Nop && behind && timing.nop_folds;
                Ok(Done { stop, ..Done::next(next, u32::from(!folds), 0) })
            }
            Kind::Barrier(barrier, _) => {
                let refill = match barrier {
                    Barrier::Isb => u32::from(timing.refill_barrier),
                    Barrier::Dsb | Barrier::Dmb => 0,
                };
                Ok(Done::next(next, 1 + refill, 0))
            }
            // IT has its own handler.
            _ => self.execute_float(bus, observer, insn.kind, pc, next),
        }
    }

    /// A result in a register after one cycle.
    fn plain<O: Observer>(&mut self, observer: &mut O, rd: u8, value: u32, next: u32) -> Outcome {
        self.put(observer, rd, value);
        Ok(Done::next(next, 1, mask(rd)))
    }

    fn read_special(&self, special: u8) -> u32 {
        let privileged = self.privileged();
        match special {
            0..=3 | 5..=7 => {
                let apsr = if special & 4 == 0 { self.flags.apsr() } else { 0 };
                let ipsr = if special & 1 != 0 { self.exception() } else { 0 };
                apsr | ipsr
            }
            20 => self.control,
            _ if !privileged => 0,
            8 => self.msp(),
            9 => self.psp(),
            16 => self.primask,
            17 | 18 => self.basepri,
            _ => self.faultmask,
        }
    }

    /// Whether something changed that the machine must look at.
    fn write_special(&mut self, special: u8, mask: u8, value: u32) -> bool {
        if special < 4 {
            let bits = if mask & 2 != 0 { 0xF800_0000 } else { 0 }
                | if mask & 1 != 0 { psr::GE } else { 0 };
            self.flags = alu::Flags::of(self.flags.apsr() & !bits | value & bits);
            return false;
        }
        if !self.privileged() || special < 8 {
            return false;
        }
        let priority = value & 0xFF & self.basepri_mask;
        match special {
            8 => self.set_msp(value),
            9 => self.set_psp(value),
            16 => self.primask = value & 1,
            17 => self.basepri = priority,
            18 => {
                if priority != 0 && (self.basepri == 0 || priority < self.basepri) {
                    self.basepri = priority;
                }
            }
            19 => {
                if value & 1 == 0 || !matches!(self.exception(), 2 | 3) {
                    self.faultmask = value & 1;
                }
            }
            _ => {
                let thread = self.exception() == 0;
                self.switch(|cpu| {
                    let kept = if thread { 0 } else { control::SPSEL };
                    cpu.control = cpu.control & kept | value & 7 & !kept;
                });
            }
        }
        special >= 16
    }
}

const _: () = assert!(DIVIDE_LEAST == 2);

pub(crate) fn width(moved: Moved) -> Width {
    match moved {
        Moved::Word => Width::W32,
        Moved::Half | Moved::SignedHalf => Width::W16,
        Moved::Byte | Moved::SignedByte => Width::W8,
    }
}

/// The fault of a place where there is no instruction.
pub(crate) fn undecoded(reason: super::insn::Undecoded, pc: u32) -> Exit {
    use super::insn::Undecoded;
    match reason {
        Undecoded::Undefined => Exit::Usage { cause: Usage::Undefined, addr: pc },
        Undecoded::NoCoprocessor => Exit::Usage { cause: Usage::NoCoprocessor, addr: pc },
        Undecoded::Fault(fault) => Exit::Fault(Fault::at_pc(fault, pc)),
    }
}
