// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoded instructions in the sixteen bytes that the loop reads, and fast handlers for the common ones. What
//! they do is `Cpu::execute`'s; they know at compile time which instruction it is.

use super::alu::{self, alu, shift, shift_by_constant};
use super::bus::Bus;
use super::execute::{recent, width};
use super::insn::{
    Address, Alu, Condition, Extended, Insn, Kind, Moved, Mul, MulLong, Shift, Source,
};
use super::run::{general, it, leave, not_decoded};
use super::timing::Timing;
use super::{Cpu, LR, Place, SP};
use crate::threading::{dispatch, follow, handler};
use crate::{Access, Cycles, Flow, Observer, Width};

/// Second operands of the fast data-processing handlers.
mod src {
    numbers! { u8: IMM, REG, SHIFTED, BY_REG }
    pub const COUNT: u16 = 4;
}

/// Addresses of the fast loads and stores.
mod address {
    numbers! { u8: OFFSET, REGISTER, LITERAL, PRE, POST }
    pub const COUNT: u16 = 5;
}

/// Numbers of the handlers. Zero is "not decoded".
pub(super) mod kind {
    use super::{address, src};

    numbers! { u16, 1; GENERAL, IT, BRANCH_LINK, BRANCH_EXCHANGE }
    pub const COMPARE_BRANCH: u16 = 5; // + nonzero
    numbers! { u16, 7; MUL, MLA, MLS, UMULL, UMLAL, UMAAL, SMULL, SMLAL, MOVT }
    pub const BRANCH: u16 = 16; // + condition, 15
    pub const EXTEND: u16 = 32; // + signed 2, half 1
    // FIELD is UBFX.
    numbers! { u16, 36; FIELD, PUSH, LOAD_MANY_AND_GO, LOAD_MANY, STORE_MANY }
    /// No handler: what is likely behind an IT block. Behind [`IT`] stands what is likely in one.
    pub const IT_END: u16 = 41;
    pub const LOAD: u16 = 64;
    pub const STORE: u16 = LOAD + 5 * address::COUNT;
    pub const DATA: u16 = 128;
    pub const COUNT: u16 = DATA + 16 * src::COUNT * 2;

    pub const fn compare_branch(nonzero: bool) -> u16 {
        COMPARE_BRANCH + nonzero as u16
    }
    pub const fn extend(signed: bool, half: bool) -> u16 {
        EXTEND + 2 * signed as u16 + half as u16
    }
    pub const fn load_many(goes: bool) -> u16 {
        if goes { LOAD_MANY_AND_GO } else { LOAD_MANY }
    }
    pub const fn store_many(before: bool) -> u16 {
        if before { PUSH } else { STORE_MANY }
    }
    pub const fn data(op: u8, src: u8, set: bool) -> u16 {
        DATA + ((op as u16 * src::COUNT) + src as u16) * 2 + set as u16
    }
    pub const fn load(moved: u8, address: u8) -> u16 {
        LOAD + moved as u16 * address::COUNT + address as u16
    }
    pub const fn store(moved: u8, address: u8) -> u16 {
        STORE + moved as u16 * address::COUNT + address as u16
    }
}

pub(crate) type Handler<B, O> = fn(&mut Cpu, &mut B, &mut O, Op, u32) -> u32;

/// A power of two, so that an index needs a mask and no check.
pub(crate) const HANDLERS: usize = 512;
const _: () = assert!((kind::COUNT as usize) <= HANDLERS);

pub(crate) struct Table<B, O>(std::marker::PhantomData<(B, O)>);

impl<B: Bus, O: Observer> Table<B, O> {
    pub(crate) const HANDLERS: [Handler<B, O>; HANDLERS] = {
        let mut t: [Handler<B, O>; HANDLERS] = [not_decoded::<B, O>; HANDLERS];
        t[kind::GENERAL as usize] = general;
        t[kind::IT as usize] = it;
        t[kind::BRANCH_LINK as usize] = branch_link;
        t[kind::BRANCH_EXCHANGE as usize] = branch_exchange;
        t[kind::MUL as usize] = mul::<B, O, 0>;
        t[kind::MLA as usize] = mul::<B, O, 1>;
        t[kind::MLS as usize] = mul::<B, O, 2>;
        t[kind::UMULL as usize] = mul_long::<B, O, 0>;
        t[kind::UMLAL as usize] = mul_long::<B, O, 1>;
        t[kind::UMAAL as usize] = mul_long::<B, O, 2>;
        t[kind::SMULL as usize] = mul_long::<B, O, 3>;
        t[kind::SMLAL as usize] = mul_long::<B, O, 4>;
        t[kind::MOVT as usize] = movt;
        t[kind::FIELD as usize] = ubfx;
        t[kind::PUSH as usize] = store_many::<B, O, true>;
        t[kind::LOAD_MANY as usize] = load_many::<B, O, false>;
        t[kind::LOAD_MANY_AND_GO as usize] = load_many::<B, O, true>;
        t[kind::STORE_MANY as usize] = store_many::<B, O, false>;
        t[kind::compare_branch(false) as usize] = compare_branch::<B, O, false>;
        t[kind::compare_branch(true) as usize] = compare_branch::<B, O, true>;
        t[kind::extend(false, false) as usize] = extend::<B, O, false, false>;
        t[kind::extend(false, true) as usize] = extend::<B, O, false, true>;
        t[kind::extend(true, false) as usize] = extend::<B, O, true, false>;
        t[kind::extend(true, true) as usize] = extend::<B, O, true, true>;
        macro_rules! branches {
            ($($n:literal)*) => { $(t[kind::BRANCH as usize + $n] = branch::<B, O, $n>;)* };
        }
        branches!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
        macro_rules! memory {
            ($($moved:literal)*) => { $(
                memory!(@load $moved OFFSET REGISTER LITERAL PRE POST);
                memory!(@store $moved OFFSET REGISTER PRE POST);
            )* };
            (@load $moved:literal $($how:ident)*) => { $(
                t[kind::load($moved, address::$how) as usize] = load::<B, O, $moved, { address::$how }>;
            )* };
            (@store $moved:literal $($how:ident)*) => { $(
                t[kind::store($moved, address::$how) as usize] = store::<B, O, $moved, { address::$how }>;
            )* };
        }
        memory!(0 1 2 3 4);
        macro_rules! data {
            ($($op:literal)*) => { $(
                data!(@src $op IMM REG SHIFTED BY_REG);
            )* };
            (@src $op:literal $($src:ident)*) => { $(
                t[kind::data($op, src::$src, false) as usize] = data::<B, O, $op, { src::$src }, false>;
                t[kind::data($op, src::$src, true) as usize] = data::<B, O, $op, { src::$src }, true>;
            )* };
        }
        data!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        t
    };
}

/// A decoded instruction: two machine words, so that handlers take it in registers.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Op {
    /// rd 4 | rn 4 | rm 4 | ra 4 | single store | narrow, as in `recent` (bit 17) | unaligned wide | none | shift 3 from
    /// bit 20 | amount 6 from bit 24 | the constant's carry: known, value | kind from bit 54
    pub head: u64,
    /// A constant, an address, or where the decoded form is; in the high half the address of the next instruction.
    pub data: u64,
}

const UNALIGNED_WIDE: u64 = 1 << 18;
const SINGLE_STORE: u64 = 1 << 16;
const CARRY_KNOWN: u64 = 1 << 30;
const CARRY: u64 = 1 << 31;
const KIND_SHIFT: u32 = 54;

impl Op {
    #[inline(always)]
    pub fn kind(self) -> usize {
        (self.head >> KIND_SHIFT) as usize & (HANDLERS - 1)
    }
    /// [`recent::NARROW`] if it is.
    #[inline(always)]
    pub fn narrow(self) -> u32 {
        self.head as u32 & recent::NARROW
    }
    /// The same, and that it opens a row if the one before branched.
    #[inline(always)]
    pub fn behind(self, before: u32) -> u32 {
        (self.head as u32 | before << 1) & (recent::NARROW | recent::OPENS)
    }
    #[inline(always)]
    pub fn next(self) -> u32 {
        (self.data >> 32) as u32
    }
    #[inline(always)]
    pub fn bytes(self) -> u32 {
        4 - (self.narrow() >> 16)
    }
    #[inline(always)]
    pub fn unaligned_wide(self) -> bool {
        self.head & UNALIGNED_WIDE != 0
    }
    #[inline(always)]
    pub fn single_store(self) -> bool {
        self.head & SINGLE_STORE != 0
    }
    #[inline(always)]
    fn rd(self) -> usize {
        self.head as usize & 15
    }
    #[inline(always)]
    fn rn(self) -> usize {
        self.head as usize >> 4 & 15
    }
    #[inline(always)]
    fn rm(self) -> usize {
        self.head as usize >> 8 & 15
    }
    #[inline(always)]
    fn ra(self) -> usize {
        self.head as usize >> 12 & 15
    }
    #[inline(always)]
    fn shift(self) -> Shift {
        const ALL: [Shift; 8] = [
            Shift::Lsl,
            Shift::Lsr,
            Shift::Asr,
            Shift::Ror,
            Shift::Rrx,
            Shift::Rrx,
            Shift::Rrx,
            Shift::Rrx,
        ];
        ALL[self.head as usize >> 20 & 7]
    }
    #[inline(always)]
    fn amount(self) -> u32 {
        self.head as u32 >> 24 & 0x3F
    }
    #[inline(always)]
    fn imm(self) -> u32 {
        self.data as u32
    }
}

const ALUS: [Alu; 16] = [
    Alu::And,
    Alu::Bic,
    Alu::Orr,
    Alu::Orn,
    Alu::Eor,
    Alu::Add,
    Alu::Adc,
    Alu::Sbc,
    Alu::Sub,
    Alu::Rsb,
    Alu::Mov,
    Alu::Mvn,
    Alu::Tst,
    Alu::Teq,
    Alu::Cmp,
    Alu::Cmn,
];

const MOVED: [Moved; 5] =
    [Moved::Word, Moved::Half, Moved::Byte, Moved::SignedHalf, Moved::SignedByte];

/// Registers that a fast handler may write as a general one.
fn ordinary(register: u8) -> bool {
    usize::from(register) < SP || usize::from(register) == LR
}

/// The instruction at `pc` as the loop runs it; `keep` says where its decoded form was put.
pub(crate) fn lower(insn: &Insn, pc: u32, timing: &Timing, keep: impl FnOnce() -> u32) -> Op {
    let mut head = 0;
    if insn.bytes == 2 {
        head |= u64::from(recent::NARROW);
    } else if pc & 2 != 0 {
        head |= UNALIGNED_WIDE;
    }
    if matches!(insn.kind, Kind::Store { .. }) {
        head |= SINGLE_STORE;
    }
    let (kind, fields, data) = match fast(&insn.kind, timing) {
        Some(fast) => fast,
        None => (kind::GENERAL, 0, keep()),
    };
    let next = pc.wrapping_add(insn.bytes.into());
    Op {
        head: head | fields | u64::from(kind) << KIND_SHIFT,
        data: u64::from(data) | u64::from(next) << 32,
    }
}

fn registers(rd: u8, rn: u8, rm: u8, ra: u8) -> u64 {
    u64::from(rd) | u64::from(rn) << 4 | u64::from(rm) << 8 | u64::from(ra) << 12
}

/// The number of a fast handler, the fields of `head` and the data.
fn fast(kind: &Kind, timing: &Timing) -> Option<(u16, u64, u32)> {
    Some(match *kind {
        Kind::Alu { op, set, rd, rn, src } => {
            if !op.compares() && !ordinary(rd) || !op.moves() && rn == 15 {
                return None;
            }
            let set = set || op.compares();
            let number = |src| kind::data(op as u8, src, set);
            match src {
                Source::Imm { value, carry } => {
                    let carry = match carry {
                        None => 0,
                        Some(carry) => CARRY_KNOWN | (u64::from(carry) * CARRY),
                    };
                    (number(src::IMM), registers(rd, rn, 0, 0) | carry, value)
                }
                Source::Reg(15) => return None,
                Source::Reg(rm) => (number(src::REG), registers(rd, rn, rm, 0), 0),
                // RRX is rare.
                Source::Shifted(_, Shift::Rrx, _) => return None,
                Source::Shifted(rm, shift, n) => {
                    let how = (shift as u64) << 20 | u64::from(n) << 24;
                    (number(src::SHIFTED), registers(rd, rn, rm, 0) | how, 0)
                }
                Source::ByRegister(rm, shift, rs) => {
                    (number(src::BY_REG), registers(rd, rn, rm, rs) | (shift as u64) << 20, 0)
                }
            }
        }
        Kind::AddWide { subtract, rd, rn, imm } if ordinary(rd) && rn != 15 => {
            let op = if subtract { Alu::Sub } else { Alu::Add };
            (kind::data(op as u8, src::IMM, false), registers(rd, rn, 0, 0), imm)
        }
        Kind::Adr { rd, target } => {
            (kind::data(Alu::Mov as u8, src::IMM, false), registers(rd, 0, 0, 0), target)
        }
        Kind::Movw { rd, imm } => {
            (kind::data(Alu::Mov as u8, src::IMM, false), registers(rd, 0, 0, 0), imm.into())
        }
        Kind::Movt { rd, imm } => (kind::MOVT, registers(rd, 0, 0, 0), imm.into()),
        Kind::Mul { op, set: false, rd, rn, rm, ra } => {
            let number = match op {
                Mul::Mul => kind::MUL,
                Mul::Mla => kind::MLA,
                Mul::Mls => kind::MLS,
                _ => return None,
            };
            (number, registers(rd, rn, rm, ra), 0)
        }
        Kind::MulLong { op, lo, hi, rn, rm } => {
            let number = match op {
                MulLong::Umull => kind::UMULL,
                MulLong::Umlal => kind::UMLAL,
                MulLong::Umaal => kind::UMAAL,
                MulLong::Smull => kind::SMULL,
                MulLong::Smlal => kind::SMLAL,
                _ => return None,
            };
            (number, registers(lo, rn, rm, hi), 0)
        }
        Kind::Extend { signed, part, rd, rn: 15, rm, rotate } if part != Extended::TwoBytes => {
            let number = kind::extend(signed, part == Extended::Half);
            (number, registers(rd, 0, rm, 0) | u64::from(rotate) << 24, 0)
        }
        Kind::Field { op: super::insn::Field::Ubfx, rd, rn, lsb, width } => {
            let ones = u32::MAX >> (32 - width);
            (kind::FIELD, registers(rd, rn, 0, 0) | u64::from(lsb) << 24, ones)
        }
        Kind::Load { moved, rt, addr, user: _ } if ordinary(rt) => {
            let (how, fields, data) = place(addr, rt);
            (kind::load(moved_number(moved), how), fields, data)
        }
        Kind::Store { moved, rt, addr, user: _ } if ordinary(rt) => {
            let (how, fields, data) = place(addr, rt);
            (kind::store(moved_number(moved), how), fields, data)
        }
        Kind::LoadMany { rn, list, writeback, before: false } if list & 1 << SP == 0 => {
            let fields = registers(0, rn, 0, 0) | (u64::from(writeback) * CARRY);
            (kind::load_many(list >> 15 != 0), fields, list.into())
        }
        Kind::StoreMany { rn, list, writeback, before } => {
            let fields = registers(0, rn, 0, 0) | (u64::from(writeback) * CARRY);
            (kind::store_many(before), fields, list.into())
        }
        Kind::It { first, mask } => (kind::IT, 0, u32::from(first) << 4 | u32::from(mask)),
        Kind::Branch { condition, target } => {
            let cycles = u64::from(1 + timing.refill_direct);
            (kind::BRANCH + condition as u16, cycles << 24, target)
        }
        Kind::BranchLink { target } => {
            let cycles = u64::from(1 + timing.refill_direct);
            (kind::BRANCH_LINK, cycles << 24, target)
        }
        Kind::BranchExchange { rm } if rm != 15 => {
            (kind::BRANCH_EXCHANGE, registers(0, 0, rm, 0), 0)
        }
        Kind::CompareBranch { nonzero, rn, target } => {
            let cycles = u64::from(1 + timing.refill_direct);
            (kind::compare_branch(nonzero), registers(0, rn, 0, 0) | cycles << 24, target)
        }
        _ => return None,
    })
}

fn moved_number(moved: Moved) -> u8 {
    match moved {
        Moved::Word => 0,
        Moved::Half => 1,
        Moved::Byte => 2,
        Moved::SignedHalf => 3,
        Moved::SignedByte => 4,
    }
}

fn place(addr: Address, rt: u8) -> (u8, u64, u32) {
    match addr {
        Address::Offset(rn, offset) => (address::OFFSET, registers(rt, rn, 0, 0), offset as u32),
        Address::Register(rn, rm, n) => {
            (address::REGISTER, registers(rt, rn, rm, 0) | u64::from(n) << 24, 0)
        }
        Address::Literal(addr) => (address::LITERAL, registers(rt, 0, 0, 0), addr),
        Address::Pre(rn, offset) => (address::PRE, registers(rt, rn, 0, 0), offset as u32),
        Address::Post(rn, offset) => (address::POST, registers(rt, rn, 0, 0), offset as u32),
    }
}

/// A result in a register; cycles, and what the pipeline remembers beside the result.
#[inline(always)]
fn result<B: Bus, O: Observer, const ACCESSES: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
    (rd, value): (usize, u32),
    (cycles, after): (u32, u32),
) -> u32 {
    let old = std::mem::replace(&mut cpu.r[rd & 15], value);
    if O::RESULTS {
        obs.result(rd as u8, old, value);
    }
    let done = (op.next(), cycles, after | 1 << rd, Flow::Next);
    cpu.end::<B, O, ACCESSES>(bus, obs, op, pc, done)
}

handler!(
    data { OP: u8, SRC: u8, SET: bool },
    follow(kind::data(OP, SRC, SET)),
    |cpu, bus, obs, op, pc| {
        let which = const { ALUS[OP as usize] };
        let carry = cpu.flags.c;
        let (b, c) = match SRC {
            src::IMM => {
                let known = op.head & CARRY_KNOWN != 0;
                (op.imm(), if SET && known { op.head & CARRY != 0 } else { carry })
            }
            src::REG => (cpu.r[op.rm()], carry),
            src::SHIFTED => shift_by_constant(cpu.r[op.rm()], op.shift(), op.amount()),
            _ => shift(cpu.r[op.rm()], op.shift(), cpu.r[op.ra()] & 0xFF, carry),
        };
        let (value, flags) = alu(which, cpu.r[op.rn()], b, c, &cpu.flags);
        if SET {
            cpu.flags.nz = flags.nz;
            if !(which.logical() && SRC == src::REG) {
                cpu.flags.c = flags.c;
            }
            if !which.logical() {
                cpu.flags.v = flags.v;
            }
        }
        if which.compares() {
            cpu.end::<B, O, false>(bus, obs, op, pc, (op.next(), 1, 0, Flow::Next))
        } else {
            result::<B, O, false>(cpu, bus, obs, op, pc, (op.rd(), value), (1, 0))
        }
    }
);

handler!(movt, follow(kind::MOVT), |cpu, bus, obs, op, pc| {
    let value = cpu.r[op.rd()] & 0xFFFF | op.imm() << 16;
    result::<B, O, false>(cpu, bus, obs, op, pc, (op.rd(), value), (1, 0))
});

handler!(ubfx, follow(kind::FIELD), |cpu, bus, obs, op, pc| {
    let value = cpu.r[op.rn()] >> (op.amount() & 31) & op.imm();
    result::<B, O, false>(cpu, bus, obs, op, pc, (op.rd(), value), (1, 0))
});

handler!(
    extend { SIGNED: bool, HALF: bool },
    follow(kind::extend(SIGNED, HALF)),
    |cpu, bus, obs, op, pc| {
        let part = if HALF { Extended::Half } else { Extended::Byte };
        let value = alu::extend(SIGNED, part, 0, cpu.r[op.rm()], op.amount());
        result::<B, O, false>(cpu, bus, obs, op, pc, (op.rd(), value), (1, 0))
    }
);

handler!(mul { OP: u8 }, follow(kind::MUL + OP as u16), |cpu, bus, obs, op, pc| {
    let which = [Mul::Mul, Mul::Mla, Mul::Mls][OP as usize];
    let (value, _) = alu::mul(which, cpu.r[op.rn()], cpu.r[op.rm()], cpu.r[op.ra()]);
    result::<B, O, false>(cpu, bus, obs, op, pc, (op.rd(), value), (1, 0))
});

handler!(mul_long { OP: u8 }, follow(kind::UMULL + OP as u16), |cpu, bus, obs, op, pc| {
    let which = [MulLong::Umull, MulLong::Umlal, MulLong::Umaal, MulLong::Smull, MulLong::Smlal]
        [OP as usize];
    let (lo, hi) = (op.rd(), op.ra());
    let old = u64::from(cpu.r[hi]) << 32 | u64::from(cpu.r[lo]);
    let value = alu::mul_long(which, cpu.r[op.rn()], cpu.r[op.rm()], old);
    cpu.r[lo] = value as u32;
    if O::RESULTS {
        obs.result(lo as u8, old as u32, value as u32);
    }
    result::<B, O, false>(cpu, bus, obs, op, pc, (hi, (value >> 32) as u32), (1, 1 << lo))
});

/// One access, plain memory first: what is loaded or stored, and the cycles that it takes more where it is not aligned, as
/// a `WORD` of several must be. `None`: it failed, and `Cpu::stop` says why.
#[inline(always)]
fn access<B: Bus, O: Observer, const WORD: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    place: Place,
    stored: Option<u32>,
) -> Option<(u32, u32)> {
    let (addr, width, at) = place;
    if addr & (width.bytes() - 1) == 0 {
        let (kind, plain) = match stored {
            None => (Access::Read, bus.read_plain(addr, width, at)),
            Some(value) => {
                let written = bus.write_plain(addr, width, value, at);
                (Access::Write, written.then_some(value))
            }
        };
        if let Some(value) = plain {
            if O::ACCESSES {
                obs.access(pc, addr, kind, width, value, at);
            }
            return Some((value, 0));
        }
    }
    access_slow::<B, O, WORD>(cpu, bus, obs, pc, place, stored)
}

/// Not inlined: a handler that keeps a fault on its stack cannot jump to the next one.
#[inline(never)]
fn access_slow<B: Bus, O: Observer, const WORD: bool>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    pc: u32,
    place: Place,
    stored: Option<u32>,
) -> Option<(u32, u32)> {
    let done = if WORD {
        cpu.access_word(bus, obs, pc, (place.0, place.2), stored).map(|value| (value, 0))
    } else {
        cpu.access_any(bus, obs, pc, place, stored)
    };
    done.map_err(|exit| cpu.fail(exit, pc)).ok()
}

/// Where a load or store goes and the registers that say so.
#[inline(always)]
fn effective<const ADDRESS: u8>(cpu: &Cpu, op: Op) -> (u32, u32) {
    match ADDRESS {
        address::OFFSET | address::PRE => (cpu.r[op.rn()].wrapping_add(op.imm()), 1 << op.rn()),
        address::POST => (cpu.r[op.rn()], 1 << op.rn()),
        address::REGISTER => {
            let index = cpu.r[op.rm()] << (op.amount() & 3);
            (cpu.r[op.rn()].wrapping_add(index), 1 << op.rn() | 1 << op.rm())
        }
        _ => (op.imm(), 0),
    }
}

handler!(
    load { MOVE: u8, ADDRESS: u8 },
    follow_access(kind::load(MOVE, ADDRESS)),
    |cpu, bus, obs, op, pc| {
        let moved = const { MOVED[MOVE as usize] };
        let (addr, registers) = effective::<ADDRESS>(cpu, op);
        let literal = ADDRESS == address::LITERAL && cpu.timing.literal_contention;
        let updates = matches!(ADDRESS, address::PRE | address::POST);
        let pairs = !updates || cpu.timing.indexed_pairs;
        let cycles = cpu.load_cycles(2 + u32::from(literal), registers, pairs);
        let at = cpu.cycles + Cycles::from(cycles - 1);
        let place = (addr, width(moved), at);
        let Some((value, more)) = access::<B, O, false>(cpu, bus, obs, pc, place, None) else {
            return pc | 1;
        };
        let value = match moved {
            Moved::SignedByte => value as i8 as u32,
            Moved::SignedHalf => value as i16 as u32,
            _ => value,
        };
        if updates {
            let end = cpu.r[op.rn()].wrapping_add(op.imm());
            cpu.put(obs, op.rd() as u8, value);
            cpu.step_base(obs, op.rn() as u8, end);
            let loaded = if pairs { recent::LOADED | 1 << op.rn() } else { 0 };
            let done = (op.next(), cycles + more, loaded | 1 << op.rd(), Flow::Next);
            cpu.end::<B, O, true>(bus, obs, op, pc, done)
        } else {
            let done = (cycles + more, recent::LOADED);
            result::<B, O, true>(cpu, bus, obs, op, pc, (op.rd(), value), done)
        }
    }
);

handler!(
    store { MOVE: u8, ADDRESS: u8 },
    follow_access(kind::store(MOVE, ADDRESS)),
    |cpu, bus, obs, op, pc| {
        let width = width(const { MOVED[MOVE as usize] });
        let (addr, registers) = effective::<ADDRESS>(cpu, op);
        let by_register = ADDRESS == address::REGISTER;
        let cycles = cpu.single_store_cycles(registers, by_register);
        let at = cpu.store_cycle(cycles);
        let value = cpu.r[op.rd()] & (u32::MAX >> (32 - 8 * width.bytes()));
        let place = (addr, width, at);
        let Some((_, more)) = access::<B, O, false>(cpu, bus, obs, pc, place, Some(value)) else {
            return pc | 1;
        };
        let mut after = const { recent::stored(ADDRESS == address::REGISTER) };
        if matches!(ADDRESS, address::PRE | address::POST) {
            let end = cpu.r[op.rn()].wrapping_add(op.imm());
            cpu.step_base(obs, op.rn() as u8, end);
            after |= 1 << op.rn();
        }
        cpu.end::<B, O, true>(bus, obs, op, pc, (op.next(), cycles + more, after, Flow::Next))
    }
);

// STM and PUSH.
handler!(
    store_many { BEFORE: bool },
    follow_access(kind::store_many(BEFORE)),
    |cpu, bus, obs, op, pc| {
        let mut list = op.imm();
        let count = list.count_ones();
        let base = cpu.r[op.rn()];
        let first = if BEFORE { base.wrapping_sub(4 * count) } else { base };
        let end = if BEFORE { first } else { base.wrapping_add(4 * count) };
        let cycles = cpu.store_cycles(1 + count, 1 << op.rn());
        let mut at = cpu.cycles + Cycles::from(cycles - count);
        let mut addr = first;
        while list != 0 {
            let register = list.trailing_zeros() as usize & 15;
            let value = cpu.r[register];
            let place = (addr, Width::W32, at);
            if access::<B, O, true>(cpu, bus, obs, pc, place, Some(value)).is_none() {
                return pc | 1;
            }
            list &= list - 1;
            addr = addr.wrapping_add(4);
            at += 1;
        }
        if op.head & CARRY != 0 {
            cpu.step_base(obs, op.rn() as u8, end);
        }
        cpu.end::<B, O, true>(bus, obs, op, pc, (op.next(), cycles, recent::OPENS, Flow::Next))
    }
);

// LDM and POP; `GOES`: the program counter, too.
handler!(
    load_many { GOES: bool },
    follow_access(kind::load_many(GOES)),
    |cpu, bus, obs, op, pc| {
        let mut list = op.imm();
        let count = list.count_ones();
        let mut addr = cpu.r[op.rn()];
        let end = addr.wrapping_add(4 * count);
        let cycles = cpu.load_cycles(1 + count, 1 << op.rn(), false);
        let at = cpu.cycles + Cycles::from(cycles - count);
        let mut values = [0; 16];
        for (i, slot) in values.iter_mut().take(count as usize).enumerate() {
            let place = (addr, Width::W32, at + i as Cycles);
            let Some((value, _)) = access::<B, O, true>(cpu, bus, obs, pc, place, None) else {
                return pc | 1;
            };
            *slot = value;
            addr = addr.wrapping_add(4);
        }
        if op.head & CARRY != 0 {
            cpu.step_base(obs, op.rn() as u8, end);
        }
        if GOES {
            list &= 0x7FFF;
        }
        for value in values {
            if list == 0 {
                break;
            }
            let register = list.trailing_zeros() as usize & 15;
            let old = std::mem::replace(&mut cpu.r[register], value);
            if O::RESULTS {
                obs.result(register as u8, old, value);
            }
            list &= list - 1;
        }
        if GOES {
            let flow = if op.rn() == SP { Flow::Return } else { Flow::Jump };
            let cycles = cycles + u32::from(cpu.timing.refill_load);
            let done = cpu.exchange(values[(count as usize - 1) & 15], cycles, flow);
            leave(cpu, bus, obs, op, pc, done)
        } else {
            cpu.end::<B, O, true>(bus, obs, op, pc, (op.next(), cycles, recent::OPENS, Flow::Next))
        }
    }
);

handler!(
    branch { CONDITION: u8 },
    follow(kind::BRANCH + CONDITION as u16),
    |cpu, bus, obs, op, pc| {
        if cpu.flags.holds(Condition::of(CONDITION as u32)) {
            let done = (op.imm(), op.amount(), recent::BRANCHED, Flow::Jump);
            let next = cpu.end::<B, O, false>(bus, obs, op, pc, done);
            return follow!(next, kind::BRANCH + CONDITION as u16, cpu, bus, obs);
        }
        cpu.end::<B, O, false>(bus, obs, op, pc, (op.next(), 1, 0, Flow::Next))
    }
);

handler!(
    compare_branch { NONZERO: bool },
    follow(kind::compare_branch(NONZERO)),
    |cpu, bus, obs, op, pc| {
        if (cpu.r[op.rn()] != 0) == NONZERO {
            let done = (op.imm(), op.amount(), recent::BRANCHED, Flow::Jump);
            let next = cpu.end::<B, O, false>(bus, obs, op, pc, done);
            return follow!(next, kind::compare_branch(NONZERO), cpu, bus, obs);
        }
        cpu.end::<B, O, false>(bus, obs, op, pc, (op.next(), 1, 0, Flow::Next))
    }
);

handler!(branch_link, follow(kind::BRANCH_LINK), |cpu, bus, obs, op, pc| {
    cpu.put(obs, LR as u8, pc.wrapping_add(4) | 1);
    let target = op.imm();
    let done = (target, op.amount(), recent::BRANCHED, Flow::Call { target });
    cpu.end::<B, O, false>(bus, obs, op, pc, done)
});

handler!(branch_exchange, follow(kind::BRANCH_EXCHANGE), |cpu, bus, obs, op, pc| {
    let flow = if op.rm() == LR { Flow::Return } else { Flow::Jump };
    let cycles = 1 + u32::from(cpu.timing.refill_register);
    let done = cpu.exchange(cpu.r[op.rm()], cycles, flow);
    leave(cpu, bus, obs, op, pc, done)
});
