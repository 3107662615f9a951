// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loop, decoded instructions and IT blocks.
//!
//! A handler returns the address of the next instruction; bit 0 says that the loop ends, and
//! `Cpu::stop` why. Quick ones go on with the next instruction by themselves (`follow!`).

use std::ops::Range;

use super::bus::Bus;
use super::execute::{Done, recent, undecoded};
use super::fast::{Op, Table, kind, lower};
use super::insn::{self, Context, Insn, it_behind, it_state};
use super::{Cpu, Exit, PC, SP, Timing, Usage, alu, psr};
use crate::breakpoints::MARK;
use crate::processor::boxed;
use crate::threading::{dispatch, follow, handler};
use crate::{Cycles, Flow, Observer};

/// Decoded instructions are kept in regions of a megabyte, of which one is at hand.
const REGION: u32 = !((1 << 20) - 1);
const SLOTS: usize = 1 << 19;
/// Regions beside the one at hand: more than a microcontroller has code in.
const MOST_PARKED: usize = 7;
/// What must be equal for the next instruction to be in the region at hand; bit 0 ends the loop.
const SAME: u32 = REGION | 1;

/// [`Op`]s by half their address; zero is "not decoded". 8 MiB of address space, of which only touched
/// pages exist.
pub(crate) type Slots = Box<[[u64; 2]; SLOTS]>;

pub(crate) fn empty_slots() -> Slots {
    boxed([0; 2])
}

/// The instructions of an IT block, decoded.
#[derive(Clone, Copy, Default)]
pub(crate) struct Block {
    /// The address of its IT, and one.
    tag: u32,
    ops: [Op; BLOCK],
}

/// Instructions that an IT conditions at most.
const BLOCK: usize = 4;
/// Bytes of such a block, its IT included.
const BLOCK_BYTES: u32 = 2 + 4 * BLOCK as u32;

/// Direct-mapped by half the address of the IT.
pub(crate) type Blocks = Box<[Block; BLOCKS]>;
const BLOCKS: usize = 1 << 10;

pub(crate) fn empty_blocks() -> Blocks {
    Box::new([Block::default(); BLOCKS])
}

fn block_slot(it: u32) -> usize {
    (it >> 1) as usize & (BLOCKS - 1)
}

/// A slot with a breakpoint.
const MARKED: [u64; 2] = [0, MARK as u64];

/// Instruction with its handler, ready to run.
struct Translated {
    op: Op,
    keep: bool,
    cacheable: bool,
}

/// An index that says that the instruction is in `Cpu::passing`.
const PASSING: u32 = u32::MAX;
/// Instructions of general handlers that are kept before all are forgotten.
const MOST_INSNS: usize = 1 << 20;

impl Cpu {
    runs! {
        /// Runs until the deadline or another [`Exit`]. Sleep and pending exceptions are not looked at.
    }

    #[inline(always)]
    fn ends(&mut self, next: u32) -> bool {
        if next & SAME == self.region {
            return false;
        }
        if next & 1 == 0 {
            self.go_to_region(next);
        }
        next & 1 != 0
    }

    /// The instruction at `pc`, if it is to follow the last at once.
    #[inline(always)]
    pub(super) fn upcoming<B: Bus>(&self, bus: &B, pc: u32) -> Option<Op> {
        // Where fetches wait, they may draw the deadline near.
        let until = self.threaded_until;
        let until = if B::WAITS { until.min(bus.deadline()) } else { until };
        if self.cycles >= until || pc & SAME != self.region {
            return None;
        }
        let [head, data] = self.slots[(pc >> 1) as usize & (SLOTS - 1)];
        Some(Op { head, data })
    }

    #[inline(always)]
    fn dispatch<B: Bus, O: Observer>(&mut self, bus: &mut B, observer: &mut O, pc: u32) -> u32 {
        if self.it != 0 {
            self.threaded_until = 0;
            return in_block(self, bus, observer, pc);
        }
        let [head, data] = self.slots[(pc >> 1) as usize & (SLOTS - 1)];
        let handlers = &Table::<B, O>::HANDLERS;
        let op = Op { head, data };
        handlers[op.kind()](self, bus, observer, op, pc)
    }

    fn start(&mut self) -> Result<u32, Exit> {
        let pc = self.r[PC] & !1;
        if self.psr & psr::T == 0 {
            return Err(Exit::Usage { cause: Usage::InvalidState, addr: pc });
        }
        self.r[SP] &= !3;
        self.flags = alu::Flags::of(self.psr);
        self.it = (self.psr >> 25 & 3 | self.psr >> 8 & 0xFC) as u8;
        self.go_to_region(pc);
        Ok(pc)
    }

    fn rest(&mut self, pc: u32) -> Exit {
        self.r[PC] = pc;
        self.store_psr();
        Exit::Deadline
    }

    fn store_psr(&mut self) {
        let it = u32::from(self.it);
        self.psr = self.psr & !(psr::APSR | psr::IT)
            | self.flags.apsr()
            | (it & 3) << 25
            | (it & 0xFC) << 8;
    }

    #[cold]
    fn halt<B: Bus>(&mut self, bus: &mut B, next: u32) -> Exit {
        self.r[PC] = next & !1;
        self.store_psr();
        self.failed = false;
        match self.stop.take().expect("the handler that stopped left its reason") {
            Exit::Fault(fault) => {
                let context = self.context();
                let insn = insn::decode(self.r[PC], context, |addr| bus.fetch(addr));
                Exit::Fault(fault.in_decoded(insn))
            }
            exit => exit,
        }
    }

    /// How the instruction at the program counter is conditioned.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::of(it_state(self.psr))
    }

    /// Makes the region of `pc` the one at hand.
    #[cold]
    fn go_to_region(&mut self, pc: u32) {
        let region = pc & REGION;
        if region == self.region {
            return;
        }
        let slots = match self.parked.iter().position(|(parked, _)| *parked == region) {
            Some(i) => self.parked.swap_remove(i).1,
            None => self.marked_slots(region),
        };
        if self.parked.len() >= MOST_PARKED {
            self.parked.remove(0);
        }
        let old = std::mem::replace(&mut self.slots, slots);
        self.parked.push((self.region, old));
        self.region = region;
    }

    /// Forgets decoded instructions that touch `range`. Call it when code memory changed.
    pub fn invalidate(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        // An instruction may begin in the halfword before.
        let (first, end) = (range.start.saturating_sub(2) >> 1, range.end.div_ceil(2));
        let regions = std::iter::once((self.region, &mut self.slots))
            .chain(self.parked.iter_mut().map(|(region, slots)| (*region, slots)));
        for (region, slots) in regions {
            let base = region >> 1;
            let first = first.max(base);
            let end = end.min(base + SLOTS as u32);
            if first >= end {
                continue;
            }
            if (end - first) as usize > SLOTS / 4 {
                // Fresh pages cost less than clearing those never touched.
                *slots = empty_slots();
            } else {
                slots[(first - base) as usize..(end - base) as usize].fill([0; 2]);
            }
        }
        self.forget_blocks(range);
        self.mark(0..u32::MAX);
    }

    fn unmark(&mut self, addr: u32) {
        self.set_slot(addr, [0; 2]);
        self.forget_blocks(addr..addr.saturating_add(1));
    }

    /// Puts the marks of the breakpoints in `range` where instructions are kept; other regions get theirs with their slots.
    fn mark(&mut self, range: Range<u32>) {
        for addr in self.breakpoints.within(range).to_vec() {
            self.set_slot(addr, MARKED);
            self.forget_blocks(addr..addr.saturating_add(1));
        }
    }

    /// Forgets the IT blocks that touch `range`.
    fn forget_blocks(&mut self, range: Range<u32>) {
        let first = range.start.saturating_sub(BLOCK_BYTES) >> 1;
        let end = range.end.div_ceil(2);
        if (end - first) as usize >= BLOCKS {
            self.blocks.fill(Block::default());
        } else {
            for half in first..end {
                self.blocks[half as usize & (BLOCKS - 1)] = Block::default();
            }
        }
    }

    /// Changes the slot of `addr`, if its region has slots.
    fn set_slot(&mut self, addr: u32, slot: [u64; 2]) {
        if addr & 1 != 0 {
            return;
        }
        let i = (addr >> 1) as usize;
        let region = addr & REGION;
        if region == self.region {
            self.slots[i & (SLOTS - 1)] = slot;
        } else if let Some((_, slots)) = self.parked.iter_mut().find(|(r, _)| *r == region) {
            slots[i & (SLOTS - 1)] = slot;
        }
    }

    /// Slots of a region, with nothing but its breakpoints in them.
    fn marked_slots(&self, region: u32) -> Slots {
        let mut slots = empty_slots();
        for addr in self.breakpoints.within(region..region | !REGION) {
            slots[(addr >> 1) as usize & (SLOTS - 1)] = MARKED;
        }
        slots
    }

    fn forget_all(&mut self) {
        self.slots = self.marked_slots(self.region);
        self.parked.clear();
        self.blocks.fill(Block::default());
        self.insns.clear();
    }

    /// Decodes the block of the IT at `pc` and keeps it; false if it must not be kept: there is a breakpoint
    /// near, or it is not all code that stays.
    #[cold]
    #[inline(never)]
    fn keep_block<B: Bus>(&mut self, bus: &mut B, pc: u32, mut it: u8) -> bool {
        let end = pc.saturating_add(BLOCK_BYTES);
        let stays = (pc..end).step_by(2).all(|addr| bus.cacheable(addr));
        if !stays || !self.breakpoints.within(pc..end).is_empty() {
            return false;
        }
        if self.insns.len() > MOST_INSNS - BLOCK {
            self.forget_all();
        }
        let mut block = Block { tag: pc | 1, ..Block::default() };
        let mut at = pc.wrapping_add(2);
        for op in &mut block.ops {
            let Ok(Translated { op: translated, keep: true, .. }) =
                self.translate(bus, at, it, true)
            else {
                return false;
            };
            *op = translated;
            at = op.next();
            it = it_behind(it);
            if it == 0 {
                break;
            }
        }
        self.blocks[block_slot(pc)] = block;
        true
    }

    /// Decodes the instruction at `pc`; whether it may be kept, if it is `wanted`. None is kept where a breakpoint is.
    fn translate<B: Bus>(
        &mut self,
        bus: &mut B,
        pc: u32,
        it: u8,
        wanted: bool,
    ) -> Result<Translated, Exit> {
        let insn = insn::decode(pc, Context::of(it), |addr| bus.fetch(addr))
            .map_err(|reason| undecoded(reason, pc))?;
        let last = pc.wrapping_add(u32::from(insn.bytes) - 2);
        let cacheable = bus.cacheable(pc) && bus.cacheable(last);
        let keep = wanted && cacheable && !self.breakpoints.contains(pc);
        let timing = self.timing;
        let op = lower(&insn, pc, &timing, || {
            if !keep {
                self.passing = Some(insn);
                return PASSING;
            }
            if self.insns.len() >= MOST_INSNS {
                self.forget_all();
            }
            self.insns.push(insn);
            self.insns.len() as u32 - 1
        });
        Ok(Translated { op, keep, cacheable })
    }

    /// Ends the loop before the instruction at `pc`, which has not run.
    #[cold]
    #[inline(never)]
    pub(crate) fn fail(&mut self, exit: Exit, pc: u32) -> u32 {
        self.stop = Some(exit);
        self.failed = true;
        pc | 1
    }

    /// Ends the loop before the instruction at `pc`, which an IT conditions, because the deadline is reached.
    #[cold]
    #[inline(never)]
    fn stop_in_block(&mut self, pc: u32) -> u32 {
        self.stop = Some(Exit::Deadline);
        pc | 1
    }

    /// Ends the loop at a breakpoint.
    #[cold]
    #[inline(never)]
    fn halt_before(&mut self, pc: u32) -> u32 {
        self.stop = Some(Exit::Breakpoint);
        pc | 1
    }

    /// What every instruction ends with: time, and what the pipeline remembers; without `ACCESSES`, of one that surely
    /// made no data access.
    #[inline(always)]
    pub(crate) fn end<B: Bus, O: Observer, const ACCESSES: bool>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        op: Op,
        pc: u32,
        done: (u32, u32, u32, Flow),
    ) -> u32 {
        let (next, mut cycles, mut after, flow) = done;
        if op.unaligned_wide() {
            let row = (self.recent >> recent::ROW_SHIFT) as usize & (ROWS - 1);
            let rule = u32::from(self.rows[usize::from(op.single_store())][row]);
            cycles += rule >> 5;
            after = after & !recent::OPENS | (rule & 0x1F) << recent::ROW_SHIFT;
        } else {
            after |= op.behind(self.recent);
        }
        if B::WAITS {
            cycles += bus.fetched_at(pc, op.bytes(), self.cycles) as u32 + bus.stall() as u32;
        }
        self.recent = after;
        self.cycles += Cycles::from(cycles);
        if O::INSTRUCTIONS {
            let late = if ACCESSES {
                observer.instruction_soon(pc, self.r[SP], cycles, flow)
            } else {
                observer.instruction_inside(pc, self.r[SP], cycles, flow)
            };
            if late {
                self.threaded_until = 0;
            }
        }
        next
    }
}

/// What `recent` can say of branches and rows of unaligned 32-bit instructions.
pub(crate) const ROWS: usize = 32;

/// The rules about 32-bit instructions at addresses that are no multiple of four, for those that are no single store
/// and those that are: by what `recent` says, what it says next, and from bit 5 what the instruction pays.
pub(crate) fn rows(timing: &Timing) -> [[u8; ROWS]; 2] {
    std::array::from_fn(|single_store| {
        std::array::from_fn(|row| {
            let before = (row as u32) << recent::ROW_SHIFT;
            let (after, more) = unaligned_wide(timing, before, single_store != 0);
            (after >> recent::ROW_SHIFT | more << 5) as u8
        })
    })
}

fn unaligned_wide(timing: &Timing, before: u32, single_store: bool) -> (u32, u32) {
    let other = if single_store { 0 } else { recent::NOT_STORE };
    if before & recent::BRANCHED != 0 {
        return (1 << recent::RUN_SHIFT | other, timing.refill_unaligned_wide.into());
    }
    let length = ((before & recent::RUN) >> recent::RUN_SHIFT) + 1;
    let others = before & recent::NOT_STORE;
    let opens = before & recent::OPENS != 0 || timing.unaligned_wide_run_anywhere;
    let stores = others | other == 0 && timing.unaligned_wide_run_of_stores;
    let pays = match length {
        1 if !opens => return (recent::CLOSED, 0),
        3 if !stores => true,
        // Three stores have not paid.
        4 => others == 0,
        _ => return (length << recent::RUN_SHIFT | others | other, 0),
    };
    (recent::CLOSED, u32::from(pays && timing.unaligned_wide_run))
}

// Decodes, keeps what may be kept, and runs; or ends the loop at a breakpoint.
handler!(not_decoded, |cpu, bus, observer, found, pc| {
    if found.data == MARKED[1] && !cpu.single {
        return cpu.halt_before(pc);
    }
    let Translated { op, keep, cacheable } = match cpu.translate(bus, pc, 0, true) {
        Ok(done) => done,
        Err(exit) => return cpu.fail(exit, pc),
    };
    if keep {
        cpu.slots[(pc >> 1) as usize & (SLOTS - 1)] = [op.head, op.data];
    }
    let (before, uncached) = (cpu.cycles, cpu.cycles_uncached);
    // This one alone.
    cpu.threaded_until = 0;
    let handlers = &Table::<B, O>::HANDLERS;
    let next = handlers[op.kind()](cpu, bus, observer, op, pc);
    if !cacheable {
        // Those of an IT block that followed are counted there, too.
        cpu.cycles_uncached = uncached + (cpu.cycles - before);
    }
    next
});

// Any instruction, by its decoded form.
handler!(general, |cpu, bus, observer, op, pc| {
    let insn: Insn = match op.data as u32 {
        PASSING => cpu.passing.expect("translate left it there"),
        index => cpu.insns[index as usize],
    };
    let mut done = match cpu.execute(bus, observer, &insn, pc) {
        Ok(done) => done,
        Err(exit) => return cpu.fail(exit, pc),
    };
    if done.cycles > 1 {
        done.after |= recent::OPENS;
    }
    leave(cpu, bus, observer, op, pc, done)
});

/// The end of an instruction that may also end the loop.
#[inline(always)]
pub(super) fn leave<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    obs: &mut O,
    op: Op,
    pc: u32,
    done: Done,
) -> u32 {
    let Done { next, cycles, after, flow, stop } = done;
    let next = cpu.end::<B, O, true>(bus, obs, op, pc, (next, cycles, after, flow));
    if stop.is_some() {
        cpu.stop = stop;
        return next | 1;
    }
    next
}

// IT, and the instructions that it conditions.
handler!(it, follow_access(kind::IT_END), |cpu, bus, observer, op, pc| {
    let mut state = op.data as u8;
    cpu.it = state;
    // Those that it conditions come one by one.
    let until = std::mem::take(&mut cpu.threaded_until);
    let folds = cpu.timing.it_folds && cpu.recent & recent::NARROW != 0;
    let done = (op.next(), u32::from(!folds), cpu.recent & 0xFFFF, Flow::Next);
    let mut next = cpu.end::<B, O, false>(bus, observer, op, pc, done);
    if O::LATE {
        observer.catch_up();
    }
    if cpu.single {
        return next;
    }
    let slot = block_slot(pc);
    if cpu.blocks[slot].tag != pc | 1 && !cpu.keep_block(bus, pc, state) {
        if cpu.cycles >= bus.deadline() {
            return cpu.stop_in_block(next);
        }
        return in_block(cpu, bus, observer, next);
    }
    for i in 0..BLOCK {
        if cpu.cycles >= bus.deadline() || O::ENDS && observer.ends() {
            return cpu.stop_in_block(next);
        }
        let op = cpu.blocks[slot].ops[i];
        next = conditional(cpu, bus, observer, op, next, state);
        state = it_behind(state);
        if next & 1 != 0 {
            return next;
        }
        if state == 0 {
            break;
        }
    }
    if O::ENDS && observer.ends() {
        return next;
    }
    cpu.threaded_until = until;
    next
});

/// An instruction of an IT block, in which the state is `state`.
#[inline(always)]
fn conditional<B: Bus, O: Observer>(
    cpu: &mut Cpu,
    bus: &mut B,
    observer: &mut O,
    op: Op,
    pc: u32,
    state: u8,
) -> u32 {
    let holds = cpu.flags.holds_any(u32::from(state) >> 4);
    cpu.it = it_behind(state);
    if !holds {
        let done = (op.next(), 1, 0, Flow::Next);
        let next = cpu.end::<B, O, false>(bus, observer, op, pc, done);
        if O::LATE {
            observer.catch_up();
        }
        return next;
    }
    let next = dispatch!([] op.kind(), kind::IT, (cpu, bus, observer, op, pc));
    if O::LATE {
        observer.catch_up();
    }
    if next & 1 != 0 && cpu.failed {
        cpu.it = state;
    }
    next
}

/// The rest of an IT block, of which at least one instruction is left, where the block is not kept or was
/// entered in the middle. Inside, `Exit::Deadline` is a stop, too.
fn in_block<B: Bus, O: Observer>(cpu: &mut Cpu, bus: &mut B, observer: &mut O, mut pc: u32) -> u32 {
    loop {
        let state = cpu.it;
        if cpu.breakpoints.contains(pc) && !cpu.single {
            return cpu.halt_before(pc);
        }
        let Translated { op, cacheable, .. } = match cpu.translate(bus, pc, state, false) {
            Ok(done) => done,
            Err(exit) => return cpu.fail(exit, pc),
        };
        let before = cpu.cycles;
        let next = conditional(cpu, bus, observer, op, pc, state);
        if !cacheable {
            cpu.cycles_uncached += cpu.cycles - before;
        }
        if next & 1 != 0 || cpu.it == 0 || cpu.single {
            return next;
        }
        pc = next;
        if cpu.cycles >= bus.deadline() || O::ENDS && observer.ends() {
            return cpu.stop_in_block(pc);
        }
    }
}
