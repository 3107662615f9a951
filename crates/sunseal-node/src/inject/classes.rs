// SPDX-License-Identifier: MIT OR Apache-2.0
//! Classes of cuts: those that provably lead to the same run behind them, of which one is played.
//!
//! What a run behind a cut does is decided by what the cut left, as far as the run looks at it before it
//! writes it: its [`Footprint`]. Two cuts that left the same there, and the same registers and parts
//! ([`Machine::remains`]), have the same run and the same verdict. [`Survivors`] knows along a stretch when
//! what is left becomes another.

use std::collections::HashMap;

use sunseal_mcu::device::{Facts, RegionKind};
use sunseal_mcu::{Device, Machine, Snapshot, Stop, Until};
use sunseal_trace::{Access, Cycles, Flow, Observer, Picos, Width};

/// The address space of an MSP430.
const SPACE: u32 = 1 << 20;

/// So many times it is asked what registers a cut leaves; from then on each touch of them begins a class.
const ASKED_MOST: u32 = 20_000;

/// The longest instruction, so far behind its address code may have been fetched.
const FETCHED_BYTES: u32 = 8;

/// RES0 to RES3.
const WHOLE_RESULT: u8 = 0b1111;

/// A bit for each address.
struct Bits(Box<[u64]>);

impl Bits {
    fn new() -> Self {
        Self(vec![0; SPACE as usize / 64].into_boxed_slice())
    }

    #[inline]
    fn has(&self, addr: u32) -> bool {
        self.0[(addr % SPACE / 64) as usize] >> (addr % 64) & 1 != 0
    }

    #[inline]
    fn set(&mut self, addr: u32) {
        self.0[(addr % SPACE / 64) as usize] |= 1 << (addr % 64);
    }

    fn unset(&mut self, addr: u32) {
        self.0[(addr % SPACE / 64) as usize] &= !(1 << (addr % 64));
    }
}

/// The CRC module and the multiplier keep what they held: whether a run has set them before it uses them.
#[derive(Clone, Copy, Default)]
struct Sums {
    crc: bool,
    /// Halves of operand 1, whether it is 32 bits wide, and whether it adds to what was there.
    op1_low: bool,
    op1_high: bool,
    wide: bool,
    adds: bool,
    op2_low: bool,
    /// Words of the result, a bit each, and what an operation leaves beside it: sum extension and carry.
    result: u8,
    carry: bool,
}

impl Sums {
    /// A word access to the CRC module; true if it uses what was there before.
    fn crc(&mut self, off: u32, kind: Access, width: Width) -> bool {
        let whole = off == 4 && kind == Access::Write && width == Width::W16;
        self.crc |= whole;
        !self.crc
    }

    /// The same of the multiplier (SLAU208, MPY32 registers).
    fn multiplier(&mut self, off: u32, kind: Access, width: Width) -> bool {
        if width != Width::W16 {
            return true;
        }
        match (off, kind) {
            // MPY, MPYS, MAC, MACS; MPY32L to MACS32H, either half of which sets the mode.
            (0x00..=0x06 | 0x10..=0x1E, Access::Write) => {
                self.wide = off >= 0x10;
                self.adds = matches!(off, 0x04..=0x06 | 0x18..);
                if self.wide && off & 2 != 0 {
                    self.op1_high = true;
                } else {
                    self.op1_low = true;
                }
            }
            (0x20, Access::Write) => self.op2_low = true,
            // OP2, or OP2H behind OP2L, begins the operation.
            (0x08 | 0x22, Access::Write) => {
                let op1 = self.op1_low && (self.op1_high || !self.wide);
                let whole = op1 && (off == 0x08 || self.op2_low);
                self.op2_low = false;
                if !whole || (self.adds && self.result != WHOLE_RESULT) {
                    return true;
                }
                (self.result, self.carry) = (WHOLE_RESULT, true);
            }
            // RESLO and RESHI, RES0 to RES3: written, they take part in the next sum.
            (0x0A | 0x0C | 0x24..=0x2A, _) => {
                let word = 1 << (if off < 0x24 { off - 0x0A } else { off - 0x24 } / 2);
                if kind == Access::Read {
                    return self.result & word == 0;
                }
                self.result |= word;
            }
            // SUMEXT; MPY32CTL0 is defined by the reset, but for the mode that an operand sets, and the carry.
            (0x0E | 0x2C, Access::Read) => return !self.carry,
            (0x2C, Access::Write) => {}
            _ => return true,
        }
        false
    }
}

/// Why there are no classes on other chips.
pub const ELSEWHERE: Alone = "classes are made on MSP430F5xx and FR5xx only";

/// Whether accesses tell all that programs of this chip look at: the F1xx has a mirror of its RAM, other cores
/// have other ways.
fn follows(device: &Device) -> bool {
    matches!(device.facts, Facts::F5xx(_) | Facts::Fr5xx(_))
}

/// Why a cut is in no class.
pub type Alone = &'static str;

/// What a run behind a reboot looks at of what the cut left.
pub struct Footprint {
    memory: Bits,
    ram: Vec<(u32, u32)>,
    read: Bits,
    written: Bits,
    fetched: Bits,
    sums: Sums,
    multiplier: Option<u32>,
    crc16: Option<u32>,
    /// Writes from this cycle on do not happen: the supply goes.
    cut_at: Cycles,
    dma_moves: u64,
    alone: Option<Alone>,
}

impl Footprint {
    /// Of the run that begins where the machine stands, just powered on; none for other cores than MSP430s.
    #[must_use]
    pub fn of(machine: &Machine) -> Option<Self> {
        let device = machine.device();
        if !follows(device) {
            return None;
        }
        let mut memory = Bits::new();
        for region in device.memory.iter().filter(|r| r.kind != RegionKind::Peripheral) {
            (region.start..=region.end).for_each(|addr| memory.set(addr));
        }
        let mut me = Self {
            memory,
            ram: ranges(device, |kind| kind == RegionKind::Ram),
            read: Bits::new(),
            written: Bits::new(),
            fetched: Bits::new(),
            sums: Sums::default(),
            multiplier: device.multiplier(),
            crc16: device.crc16(),
            cut_at: Cycles::MAX,
            dma_moves: machine.dma_moves(),
            alone: None,
        };
        me.start();
        Some(me)
    }

    fn start(&mut self) {
        self.sums = Sums::default();
        self.looked(0xFFFE, 2);
    }

    /// These bytes were looked at, by the CPU or by who checks the run.
    pub fn looked(&mut self, addr: u32, bytes: u32) {
        for addr in addr..addr.saturating_add(bytes) {
            if self.memory.has(addr) && !self.written.has(addr) {
                self.read.set(addr);
            }
        }
    }

    /// These bytes were written.
    pub fn wrote(&mut self, addr: u32, bytes: u32) {
        (addr..addr.saturating_add(bytes)).for_each(|addr| self.written.set(addr));
    }

    /// The supply goes at this cycle.
    pub fn ends_at(&mut self, cycle: Cycles) {
        self.cut_at = cycle;
    }

    /// It has gone and comes back after `off`.
    pub fn rebooted(&mut self, machine: &Machine, off: Picos) {
        self.cut_at = Cycles::MAX;
        if off > machine.ram_holds() {
            for (start, end) in self.ram.clone() {
                (start..=end).for_each(|addr| self.written.unset(addr));
            }
        }
        self.fetched = Bits::new();
        self.start();
    }

    /// The run has come to its end: whether something moved memory that is not followed.
    pub fn ended(&mut self, machine: &Machine) {
        if machine.dma_moves() != self.dma_moves {
            self.alone = Some("a DMA controller moves data behind the reboot");
        }
    }

    fn register(&mut self, addr: u32, kind: Access, width: Width) {
        let within = |base: Option<u32>, bytes| {
            base.and_then(|b| addr.checked_sub(b)).filter(|off| *off < bytes)
        };
        if let Some(off) = within(self.multiplier, 0x30) {
            if self.sums.multiplier(off, kind, width) {
                self.alone = Some("the multiplier is used before it is set");
            }
        } else if let Some(off) = within(self.crc16, 8)
            && self.sums.crc(off, kind, width)
        {
            self.alone = Some("the CRC module is used before it is set");
        }
    }
}

impl Observer for Footprint {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, pc: u32, _: u32, _: u32, flow: Flow) {
        if let Flow::Interrupt { vector } = flow {
            self.looked(vector, 2);
        } else if !self.fetched.has(pc) {
            self.fetched.set(pc);
            self.looked(pc, FETCHED_BYTES);
        }
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, _: u32, at: Cycles) {
        if !self.memory.has(addr) {
            return self.register(addr, kind, width);
        }
        for addr in addr..addr + width.bytes() {
            if kind == Access::Read {
                if !self.written.has(addr) {
                    self.read.set(addr);
                }
            } else if at < self.cut_at {
                self.written.set(addr);
            }
        }
    }
}

/// The memories of some kinds.
fn ranges(device: &Device, which: impl Fn(RegionKind) -> bool) -> Vec<(u32, u32)> {
    device.memory.iter().filter(|r| which(r.kind)).map(|r| (r.start, r.end)).collect()
}

/// A byte that survives becomes another for cuts from `at` on.
struct Change {
    at: Cycles,
    addr: u32,
    value: u8,
}

/// What an instruction does that a cut may leave.
#[derive(Default)]
struct Step {
    ran: bool,
    touched: bool,
    interrupt: bool,
    stores: Vec<(u32, Width, u32, Cycles)>,
    sums: [(u32, u32); 2],
}

impl Observer for Step {
    const INSTRUCTIONS: bool = true;
    const ACCESSES: bool = true;

    fn instruction(&mut self, _: u32, _: u32, _: u32, flow: Flow) {
        self.ran = true;
        self.interrupt |= matches!(flow, Flow::Interrupt { .. } | Flow::InterruptReturn);
    }

    fn access(&mut self, _: u32, addr: u32, kind: Access, width: Width, value: u32, at: Cycles) {
        if addr >= 0x1000 {
            if kind == Access::Write {
                self.stores.push((addr, width, value, at));
            }
        } else if !self.sums.iter().any(|(start, end)| (*start..*end).contains(&addr)) {
            self.touched = true;
            if kind == Access::Write {
                self.stores.push((addr, width, value, at));
            }
        }
    }
}

/// What cuts along a stretch leave, and when it becomes another.
pub(super) struct Survivors {
    changes: Vec<Change>,
    /// First and last cut of stretches in which it is not known: a write or an erase under way, a DMA burst.
    loose: Vec<(Cycles, Cycles)>,
    /// From which cut on which registers are left.
    registers: Vec<(Cycles, u32)>,
    /// Memory at the beginning, and at the cut that was asked for last, behind so many changes.
    first: Vec<u8>,
    now: Vec<u8>,
    applied: usize,
    ram_held: bool,
    cycles: Cycles,
    why_not: Option<Alone>,
}

/// Follows memory and registers along a stretch.
struct Survey<'a> {
    machine: &'a mut Machine,
    kept: Vec<(u32, u32)>,
    image: Vec<u8>,
    found: HashMap<Vec<u8>, u32>,
    asked: u32,
    next: u32,
}

impl Survey<'_> {
    /// Which registers a cut here would leave, as a number.
    fn registers(&mut self) -> u32 {
        self.asked += 1;
        let left = if self.asked > ASKED_MOST { None } else { self.machine.remains() };
        let next = self.next;
        let number = left.map_or(next, |left| *self.found.entry(left).or_insert(next));
        self.next += u32::from(number == next);
        number
    }

    fn keeps(&self, addr: u32) -> bool {
        self.kept.iter().any(|(start, end)| (*start..=*end).contains(&addr))
    }

    /// Takes over what memory holds, whoever wrote it.
    fn look(&mut self, at: Cycles, changes: &mut Vec<Change>) -> bool {
        let before = changes.len();
        for (start, end) in &self.kept {
            let bytes = (end - start + 1) as usize;
            let held = self.machine.read_mem(*start, bytes).expect("a region of the device");
            let known = &mut self.image[*start as usize..=*end as usize];
            if held != known {
                for (addr, (new, old)) in (*start..).zip(held.iter().zip(known)) {
                    if new != old {
                        changes.push(Change { at, addr, value: *new });
                        *old = *new;
                    }
                }
            }
        }
        changes.len() != before
    }

    /// Takes stores over; false where memory did not take what was stored.
    fn store(&mut self, step: &mut Step, origin: Cycles, changes: &mut Vec<Change>) -> bool {
        let mut taken = true;
        for (addr, width, value, at) in step.stores.drain(..) {
            for (addr, byte) in (addr..addr + width.bytes()).zip(value.to_le_bytes()) {
                if !self.keeps(addr) {
                    continue;
                }
                let held = self.machine.read_mem(addr, 1).expect("it is memory")[0];
                taken &= held == byte;
                if self.image[addr as usize] != held {
                    self.image[addr as usize] = held;
                    changes.push(Change { at: at + 1 - origin, addr, value: held });
                }
            }
        }
        taken
    }
}

impl Survivors {
    /// Walks the stretch of `cycles` cycles that begins at `first` once more; cuts are to last for `off`.
    pub fn survey(machine: &mut Machine, first: &Snapshot, cycles: Cycles, off: Picos) -> Self {
        let mut me = Self {
            changes: Vec::new(),
            loose: Vec::new(),
            registers: Vec::new(),
            first: vec![0; SPACE as usize],
            now: Vec::new(),
            applied: 0,
            ram_held: off <= machine.ram_holds(),
            cycles,
            why_not: None,
        };
        if !follows(machine.device()) {
            me.why_not = Some(ELSEWHERE);
            return me;
        }
        machine.restore(first).expect("the stretch began there");
        let origin = machine.cycles();
        let held = me.ram_held;
        let kept = ranges(machine.device(), |kind| match kind {
            RegionKind::Fram | RegionKind::Flash | RegionKind::InfoFlash => true,
            RegionKind::Ram => held,
            _ => false,
        });
        let device = machine.device();
        let at = |base: Option<u32>, bytes| base.map_or((0, 0), |b| (b, b + bytes));
        let sums = [at(device.multiplier(), 0x30), at(device.crc16(), 8)];
        let mut step = Step { sums, ..Step::default() };
        let (image, found) = (me.first.clone(), HashMap::new());
        let mut survey = Survey { machine, kept, image, found, asked: 0, next: 0 };
        survey.look(0, &mut me.changes);
        me.changes.clear();
        me.first.clone_from(&survey.image);
        me.registers.push((0, survey.registers()));
        let mut writing = super::writers(survey.machine);
        let idle = |writing: &[String]| writing.iter().all(|state| state == "idle");
        let mut until = Until { state_change: true, ..Until::default() };
        let mut unclean = !idle(&writing);
        loop {
            let before = survey.machine.cycles() - origin;
            if unclean {
                survey.look(before, &mut me.changes);
            }
            (step.ran, step.touched, step.interrupt) = (false, false, false);
            let was_busy = !idle(&writing);
            let (due, moves) = (survey.machine.next_event(), survey.machine.dma_moves());
            let resets = survey.machine.resets();
            until.cycles = Some(origin + before + 1);
            let stop = survey.machine.run(&until, &mut step);
            let cycle = survey.machine.cycles() - origin;
            if stop == Stop::StateChange {
                writing = super::writers(survey.machine);
            }
            let taken = survey.store(&mut step, origin, &mut me.changes);
            let by_itself = due.is_some_and(|due| due <= survey.machine.time());
            let moved = moves != survey.machine.dma_moves();
            let busy = was_busy || !idle(&writing) || moved;
            unclean = busy || !taken || step.interrupt || !step.ran;
            if busy {
                // Its beginning and its end are no better known.
                me.note_loose((before, cycle));
            } else if unclean || by_itself {
                me.note_loose((before + 1, cycle.saturating_sub(1)));
            }
            if step.touched || step.interrupt || by_itself || resets != survey.machine.resets() {
                let now = survey.registers();
                if me.registers.last().is_none_or(|(_, last)| *last != now) {
                    me.registers.push((cycle, now));
                }
            }
            if stop == Stop::Halted || cycle >= cycles {
                break;
            }
        }
        if !unclean && survey.look(cycles, &mut me.changes) {
            me.why_not = Some("memory was changed by something that is not followed");
        }
        me.changes.sort_by_key(|c| c.at);
        me.now.clone_from(&me.first);
        me
    }

    fn note_loose(&mut self, (from, to): (Cycles, Cycles)) {
        if from > to {
            return;
        }
        match self.loose.last_mut() {
            Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
            _ => self.loose.push((from, to)),
        }
    }

    /// The last cut that has the same run behind it as the one at `at`, whose footprint is `run`.
    ///
    /// # Errors
    /// Why it is in no class.
    pub fn covers(&mut self, at: Cycles, run: &Footprint) -> Result<Cycles, Alone> {
        if let Some(why) = self.why_not.or(run.alone) {
            return Err(why);
        }
        let loose = self.loose.partition_point(|(_, to)| *to < at);
        let mut last = self.cycles;
        if let Some((from, _)) = self.loose.get(loose) {
            if *from <= at {
                return Err("a write, an erase, a DMA burst or an interrupt's entry is under way");
            }
            last = last.min(from - 1);
        }
        let mut ram = run.ram.iter().flat_map(|(start, end)| *start..=*end);
        if !self.ram_held && ram.any(|addr| run.read.has(addr)) {
            return Err("RAM is read that woke with noise");
        }
        if let Some((from, _)) = self.registers.iter().find(|(from, _)| *from > at) {
            last = last.min(from - 1);
        }
        if self.changes.get(self.applied.wrapping_sub(1)).is_some_and(|c| c.at > at) {
            self.now.clone_from(&self.first);
            self.applied = 0;
        }
        while let Some(change) = self.changes.get(self.applied).filter(|c| c.at <= at) {
            self.now[change.addr as usize] = change.value;
            self.applied += 1;
        }
        let seen = |c: &&Change| run.read.has(c.addr) && c.value != self.now[c.addr as usize];
        let ahead = self.changes[self.applied..].iter().take_while(|c| c.at <= last).find(seen);
        Ok(ahead.map_or(last, |c| c.at - 1))
    }
}
